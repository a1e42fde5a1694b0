"""Shapes and types of every annotated function are checked while tests run."""

from jaxtyping import install_import_hook

install_import_hook("leadline", "beartype.beartype")
