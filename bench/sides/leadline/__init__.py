"""Leadline's workers."""
