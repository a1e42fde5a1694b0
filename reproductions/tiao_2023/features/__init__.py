"""How well features stand for a kernel, as in Tiao (2023)."""
