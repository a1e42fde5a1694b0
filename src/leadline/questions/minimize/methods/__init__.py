"""Methods that choose the next point of a question."""

from leadline.questions.minimize.methods._bore import BORE
from leadline.questions.minimize.methods._gp import GP
from leadline.questions.minimize.methods._lfbo import LFBO
from leadline.questions.minimize.methods._method import Method, Recommendation, Seen, Suggestion
from leadline.questions.minimize.methods._random import Random
from leadline.questions.minimize.methods._thompson import Thompson
from leadline.questions.minimize.methods._tpe import TPE

__all__ = [
    "BORE",
    "GP",
    "LFBO",
    "TPE",
    "Method",
    "Random",
    "Recommendation",
    "Seen",
    "Suggestion",
    "Thompson",
]
