"""A limit on the work of one match, in steps and not in seconds: the answer is always the same."""

from __future__ import annotations

from easeml.errors import TooLarge

LIMIT = 300_000  # comparisons of values, of a few microseconds each


class Undecided(TooLarge):
    """Whether the schemas match was not decided within the limit of work."""


class Budget:
    """Counts steps down. ``spend`` raises ``Undecided`` when they are used up."""

    def __init__(self, limit: int):
        self.limit = self.left = limit

    def spend(self, steps: int = 1) -> None:
        """Use up ``steps``. Raises ``Undecided`` when none are left."""
        self.left -= steps
        if self.left < 0:
            raise Undecided(
                f"whether the schemas match was not decided within {self.limit:,} steps.",
                remedy="Raise the limit, or tell like nodes apart: share fewer variables and classes.",
            )
