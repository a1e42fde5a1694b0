"""What a next call is worth, and where it is worth most."""

from leadline.acquisition._averaged import Averaged, LogAveraged, averaged
from leadline.acquisition._fantasies import Fantasies, base_samples
from leadline.acquisition._feasibility import Feasible, LogFeasible, LogProbabilityAllowed, feasible
from leadline.acquisition._gains import (
    ExpectedImprovement,
    ExpectedMaximum,
    Gain,
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
)
from leadline.acquisition._incumbents import Incumbent, best_expected, best_recent, best_seen
from leadline.acquisition._joint_entropy import JointEntropy
from leadline.acquisition._knowledge_gradient import (
    KnowledgeGradient,
    LogKnowledgeGradient,
    MonteCarloKnowledgeGradient,
)
from leadline.acquisition._log_odds import HostLogOdds, LogOdds, centered
from leadline.acquisition._max_value_entropy import MaxValueEntropy, sample_maxima
from leadline.acquisition._monte_carlo import LogMonteCarlo, MonteCarlo
from leadline.acquisition._nested_knowledge_gradient import (
    NestedKnowledgeGradient,
    OneShotKnowledgeGradient,
)
from leadline.acquisition._thompson import (
    DrawnFunction,
    location_scale_choice,
    promising,
    unified_draws,
)
from leadline.acquisition._two_step import TwoStepImprovement
from leadline.acquisition._utilities import (
    Confidence,
    Exceedance,
    Highest,
    Improvement,
    SmoothExceedance,
    Utility,
)
from leadline.decisions import (
    Decision,
    decide,
    elicit_probability,
    elicit_utility,
    expected_utility,
)
from leadline.search import (
    Acquisition,
    Maximum,
    Parzen,
    is_among,
    maximize,
    maximize_pool,
    parzen,
    proportional_starts,
)

__all__ = [
    "Acquisition",
    "Averaged",
    "Confidence",
    "Decision",
    "DrawnFunction",
    "Exceedance",
    "ExpectedImprovement",
    "ExpectedMaximum",
    "Fantasies",
    "Feasible",
    "Gain",
    "Highest",
    "HostLogOdds",
    "Improvement",
    "Incumbent",
    "JointEntropy",
    "KnowledgeGradient",
    "LogAveraged",
    "LogExpectedImprovement",
    "LogFeasible",
    "LogKnowledgeGradient",
    "LogMonteCarlo",
    "LogOdds",
    "LogProbabilityAllowed",
    "LogProbabilityOfImprovement",
    "MaxValueEntropy",
    "Maximum",
    "MonteCarlo",
    "MonteCarloKnowledgeGradient",
    "NestedKnowledgeGradient",
    "OneShotKnowledgeGradient",
    "Parzen",
    "ProbabilityOfImprovement",
    "SmoothExceedance",
    "TwoStepImprovement",
    "UpperConfidenceBound",
    "Utility",
    "averaged",
    "base_samples",
    "best_expected",
    "best_recent",
    "best_seen",
    "centered",
    "decide",
    "elicit_probability",
    "elicit_utility",
    "expected_utility",
    "feasible",
    "is_among",
    "location_scale_choice",
    "maximize",
    "maximize_pool",
    "parzen",
    "promising",
    "proportional_starts",
    "sample_maxima",
    "unified_draws",
]
