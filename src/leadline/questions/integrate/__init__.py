"""What is the integral of a function?"""

from leadline.questions.integrate._integral import Integral
from leadline.questions.integrate._integrate import Integrate

__all__ = ["Integral", "Integrate"]
