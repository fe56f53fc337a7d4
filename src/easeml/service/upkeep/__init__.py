"""Looking after an installation from its machine, whether the service runs or not."""
