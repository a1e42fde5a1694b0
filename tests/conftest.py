"""Shapes and types of every annotated function are checked while tests run.

Hypothesis tries the same examples in every run, however long one takes: a test that fails fails for
everyone.
"""

from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("leadline", "beartype.beartype")

settings.register_profile("leadline", deadline=None, derandomize=True)
settings.load_profile("leadline")
