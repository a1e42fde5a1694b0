"""scikit-learn's workers; they import only what their own environment has."""
