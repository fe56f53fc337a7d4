"""The command line: commands over the client; ``up`` starts the engine."""

from easeml.cli.main import app, main

__all__ = ["app", "main"]
