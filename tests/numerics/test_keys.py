"""Keys by compiled programs are the keys of `jax.random`."""

import jax
import numpy as np
import pytest

from leadline.numerics import generator, numbered_key, split_key


@pytest.mark.parametrize("make", [jax.random.key, jax.random.PRNGKey], ids=["typed", "raw"])
def test_they_are_those_of_jax(make):
    key = make(7)
    for number in (0, 1, 2**31, 2**32 - 1):
        found = numbered_key(key, number)
        np.testing.assert_array_equal(
            jax.random.uniform(found, 3), jax.random.uniform(jax.random.fold_in(key, number), 3)
        )
    for count in (2, 5):
        keys = split_key(key, count)
        assert len(keys) == count
        for ours, theirs in zip(keys, jax.random.split(key, count), strict=True):
            np.testing.assert_array_equal(
                jax.random.uniform(ours, 3), jax.random.uniform(theirs, 3)
            )


def test_a_generator_has_the_bits_of_its_key():
    bits = np.asarray(jax.random.key_data(jax.random.key(3))).tolist()
    assert generator(jax.random.key(3)).random() == np.random.default_rng(bits).random()
