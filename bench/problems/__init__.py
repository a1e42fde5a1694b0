"""What is measured on: the same data and functions in every environment, from NumPy alone."""
