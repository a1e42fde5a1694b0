"""Questions about functions: ask, tell, answer."""

from leadline.journal import Asked, Event, Failed, Given, Told
from leadline.questions._domain import Domain, rows_of_data
from leadline.questions._frames import is_frame, read_frame
from leadline.questions._question import Exhausted, Question
from leadline.questions._registry import question_from_settings
from leadline.questions._table import frame_of
from leadline.questions._trial import Trial
from leadline.questions._unwritten import with_unwritten
from leadline.questions.integrate import Integral, Integrate
from leadline.questions.minimize import METHODS, Maximize, Minimize, Optimum, as_method, methods

__all__ = [
    "METHODS",
    "Asked",
    "Domain",
    "Event",
    "Exhausted",
    "Failed",
    "Given",
    "Integral",
    "Integrate",
    "Maximize",
    "Minimize",
    "Optimum",
    "Question",
    "Told",
    "Trial",
    "as_method",
    "frame_of",
    "is_frame",
    "methods",
    "question_from_settings",
    "read_frame",
    "rows_of_data",
    "with_unwritten",
]
