"""Tasks: what they are told, what they printed, and what becomes of their results."""
