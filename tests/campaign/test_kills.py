"""Campaigns that are killed, and go on."""

import pytest
from bench.kills import survive


@pytest.mark.slow
def test_a_killed_campaign_ends_with_the_trials_of_one_that_was_left_alone(tmp_path):
    survival = survive(tmp_path, kills=25)
    assert survival.same
    assert survival.repeated == 0
    # A kill ends at most one call, which is then made again.
    assert survival.budget <= survival.calls <= survival.budget + survival.kills
