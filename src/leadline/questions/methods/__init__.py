"""Methods that choose the next point of a question."""

from leadline.questions.methods._gp import GP
from leadline.questions.methods._method import Method, Seen, Suggestion
from leadline.questions.methods._random import Random
from leadline.questions.methods._thompson import Thompson

__all__ = ["GP", "Method", "Random", "Seen", "Suggestion", "Thompson"]
