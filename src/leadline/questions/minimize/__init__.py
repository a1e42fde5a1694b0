"""Where is a function lowest, or highest?"""

from leadline.questions.minimize import methods
from leadline.questions.minimize._minimize import METHODS, Maximize, Minimize
from leadline.questions.minimize._optimum import Optimum

__all__ = ["METHODS", "Maximize", "Minimize", "Optimum", "methods"]
