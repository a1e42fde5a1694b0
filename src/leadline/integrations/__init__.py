"""Plug-ins for other tools. Each is imported by its own name and needs its own extra."""
