"""How is measured: workers in processes of their own, turns, figures, and what is written down."""
