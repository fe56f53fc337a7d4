"""Users, their passwords and their keys."""
