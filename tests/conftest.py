"""What all tests share: examples that are the same in every session."""

from hypothesis import settings

settings.register_profile("easeml", derandomize=True, deadline=None)
settings.load_profile("easeml")
