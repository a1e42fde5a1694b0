"""Options of a campaign: what they may be, and errors that help."""

import concurrent.futures

import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.campaign import CampaignOptions


@pytest.mark.parametrize("budget", [0, -1, 2.5, True, "ten", None])
def test_a_budget_is_a_positive_whole_number(budget):
    with pytest.raises(InvalidData, match="budget must be a positive whole number, got"):
        CampaignOptions.of(budget, {})


@pytest.mark.parametrize("name", ["workers", "batch", "max_failures"])
@pytest.mark.parametrize("value", [0, -3, 1.5, True])
def test_counts_are_positive_whole_numbers(name, value):
    with pytest.raises(InvalidData, match=f"{name} must be a positive whole number, got {value}"):
        CampaignOptions.of(5, {name: value})


@pytest.mark.parametrize("name", ["timeout", "seconds", "lease"])
@pytest.mark.parametrize("value", [0.0, -1, float("nan"), float("inf"), "5"])
def test_durations_are_positive_numbers(name, value):
    with pytest.raises(InvalidData, match=f"{name} must be a positive number of seconds"):
        CampaignOptions.of(5, {name: value})


def test_an_unknown_executor_is_named_with_the_nearest():
    with pytest.raises(InvalidData, match="Did you mean 'threads'"):
        CampaignOptions.of(5, {"executor": "thread"})
    with pytest.raises(InvalidData, match=r"a concurrent\.futures\.Executor, got 4"):
        CampaignOptions.of(5, {"executor": 4})


def test_a_callback_is_a_function():
    with pytest.raises(InvalidData, match="callback must be a function, got 3"):
        CampaignOptions.of(5, {"callback": 3})


def test_an_unknown_option_is_named_with_the_nearest():
    with pytest.raises(TypeError, match=r"no option 'worker'\. Did you mean 'workers'\?"):
        CampaignOptions.of(5, {"worker": 2})
    with pytest.raises(TypeError, match=r"no option 'xyz'\. Options are executor, workers"):
        CampaignOptions.of(5, {"xyz": 2})


def test_numpy_numbers_and_any_executor_will_do():
    options = {"workers": np.int64(2), "timeout": np.float32(2.0), "seconds": 3}
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        options = CampaignOptions.of(np.int32(5), {**options, "executor": executor})
    assert (options.budget, options.workers, options.seconds) == (5, 2, 3)
