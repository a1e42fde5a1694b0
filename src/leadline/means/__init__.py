"""Mean functions: what a function is expected to be before data arrive."""

from leadline.means._mean import Constant, Linear, Mean, Quadratic, Zero, as_mean

__all__ = ["Constant", "Linear", "Mean", "Quadratic", "Zero", "as_mean"]
