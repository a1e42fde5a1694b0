"""Where is a function lowest, or highest?"""

from leadline.questions.minimize import methods
from leadline.questions.minimize._minimize import METHODS, Maximize, Minimize, as_method
from leadline.questions.minimize._optimum import Optimum
from leadline.questions.minimize._trial import MinimizeTrial

__all__ = ["METHODS", "Maximize", "Minimize", "MinimizeTrial", "Optimum", "as_method", "methods"]
