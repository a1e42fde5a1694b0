"""Beliefs about functions."""

from leadline.models._exact import GP, ExactPosterior
from leadline.models._normal import Normal
from leadline.models._posterior import Posterior

__all__ = ["GP", "ExactPosterior", "Normal", "Posterior"]
