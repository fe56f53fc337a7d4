"""The interface of all optimizers."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from easeml.search.spaces import Config

_LOOKED_AT = 64  # configurations for each one wanted, before a space counts as used up


class Tried(NamedTuple):
    """A configuration that was or is being tried.

    ``quality`` is None while it runs, or if it failed.
    """

    config: Config
    quality: float | None


class Optimizer(Protocol):
    """Pure: the same space, past and seed give the same configurations."""

    @property
    def name(self) -> str:
        """The name that a provider chooses it by."""
        ...

    def propose(
        self, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[Config]:
        """Return at most ``n`` configurations of ``space`` that were not tried, the best first.

        All differ. Fewer than ``n`` where the space has no more. Raises ``InvalidInput`` where the
        space is not of the language.
        """
        ...


def fresh(candidates: Iterable[Config], tried: Sequence[Tried], n: int) -> list[Config]:
    """Return the first ``n`` different candidates that were not tried, of those worth a look."""
    known = [one.config for one in tried]
    looked_at = _LOOKED_AT * (n + len(known) + 1)

    found: list[Config] = []
    for config in islice(candidates, looked_at):
        if len(found) == n:
            break
        # Configurations are mappings, which cannot be put into sets.
        is_new = config not in known and config not in found
        if is_new:
            found.append(config)
    return found
