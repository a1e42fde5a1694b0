"""Questions about functions: ask, tell, answer."""

from leadline.questions._events import Asked, Event, Failed, Given, Told
from leadline.questions._question import Exhausted, Question
from leadline.questions._settings import question_from_settings
from leadline.questions._trial import Trial
from leadline.questions.minimize import METHODS, Maximize, Minimize, Optimum, methods

__all__ = [
    "METHODS",
    "Asked",
    "Event",
    "Exhausted",
    "Failed",
    "Given",
    "Maximize",
    "Minimize",
    "Optimum",
    "Question",
    "Told",
    "Trial",
    "methods",
    "question_from_settings",
]
