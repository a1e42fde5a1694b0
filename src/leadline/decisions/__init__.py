"""From draws to an action, and from answers to tastes and beliefs."""

from leadline.decisions._decide import Decision, decide
from leadline.decisions._elicit import elicit_probability, elicit_utility, expected_utility

__all__ = ["Decision", "decide", "elicit_probability", "elicit_utility", "expected_utility"]
