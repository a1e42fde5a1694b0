"""Dynamical systems whose drift is a Gaussian process: simulation, and learning to control them."""

from leadline.dynamics._cart_pole import CartPole
from leadline.dynamics._encoding import Encoding
from leadline.dynamics._fitzhugh_nagumo import FitzHughNagumo
from leadline.dynamics._iterative import (
    simulate_iteratively,
    simulate_with_independent_residuals,
)
from leadline.dynamics._moment_matching import Moments, moment_matching, probit_moments
from leadline.dynamics._pilco import PILCO, Episode, Progress
from leadline.dynamics._policy import RBFPolicy
from leadline.dynamics._returns import (
    matched_return,
    matched_rollout,
    pathwise_returns,
    rollout,
)
from leadline.dynamics._reward import GaussianReward
from leadline.dynamics._simulate import simulate

__all__ = [
    "PILCO",
    "CartPole",
    "Encoding",
    "Episode",
    "FitzHughNagumo",
    "GaussianReward",
    "Moments",
    "Progress",
    "RBFPolicy",
    "matched_return",
    "matched_rollout",
    "moment_matching",
    "pathwise_returns",
    "probit_moments",
    "rollout",
    "simulate",
    "simulate_iteratively",
    "simulate_with_independent_residuals",
]
