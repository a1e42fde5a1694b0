"""Tables and figures of Tiao (2023)."""
