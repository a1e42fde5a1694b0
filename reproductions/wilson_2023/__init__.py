"""Tables and figures of Wilson (2023)."""
