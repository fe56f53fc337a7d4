"""Tenants that starve, each told of once a wait."""

from easeml.search import Policy, SearchState
from easeml.search.starvation import Wait, starving, waits


class StarvingTenants:
    """Remembers how long tenants wait, and of whom was told."""

    def __init__(self) -> None:
        self._waits: dict[str, Wait] = {}
        self._told: list[tuple[str, Wait]] = []

    def news(self, state: SearchState, policy: Policy) -> list[tuple[str, Wait]]:
        """Return who waits longer than the policy promises and was not told of, and since when."""
        self._waits = waits(self._waits, state)
        found = [(tenant, self._waits[tenant]) for tenant in starving(self._waits, state, policy)]
        new = [one for one in found if one not in self._told]
        self._told = found
        return new
