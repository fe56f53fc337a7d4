"""``python -m easeml.cli``."""

from easeml.cli import main

main()
