"""What users did before: networks by citations, or by date, tenants in turn.

Li et al., Ease.ml (PVLDB 2018), section 5. Dates are the years of the first publications. The order
by citations is that of the prototype of the paper where it is known (AlexNet, then VGG; the newest
first: SqueezeNet, then the normalised AlexNet, then ResNet-50), completed by what was commonly
reported at the end of 2017: the numbers are ranks of popularity, not counts.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import Scored, TakingTurns
from easeml.search.state import SearchState

YEARS: Mapping[str, float] = MappingProxyType(
    {
        "NIN": 2013.9,
        "GoogLeNet": 2014.7,
        "ResNet-50": 2015.9,
        "AlexNet": 2012.9,
        "BN-AlexNet": 2015.95,
        "ResNet-18": 2015.9,
        "VGG-16": 2014.6,
        "VGG-19": 2014.6,
        "SqueezeNet": 2016.1,
    }
)
CITATION_RANKS: Mapping[str, float] = MappingProxyType(
    {
        "AlexNet": 9,
        "VGG-16": 8,
        "VGG-19": 7,
        "GoogLeNet": 6,
        "ResNet-50": 5,
        "ResNet-18": 4,
        "BN-AlexNet": 3,
        "NIN": 2,
        "SqueezeNet": 1,
    }
)


class _ByTable(TakingTurns):
    rule: str

    def __init__(self, table: Mapping[str, float]):
        """``table``: model -> number; the highest is tried first.

        Unknown models come last, in the order given.
        """
        self._table = table

    def score(self, state: SearchState, jobs: Sequence[SearchJob]) -> list[Scored]:
        """See ``TakingTurns``."""
        return list(map(self._scored, jobs))

    def _scored(self, job: SearchJob) -> Scored:
        least = min(self._table.values()) - 1
        known = [self._table.get(job.arms[arm].model, least - arm) for arm in job.startable]
        return Scored(job, job.startable, np.array(known, dtype=float), self.rule)


class MostCited(_ByTable):
    """Tenants in turn, each with its most cited model that was not tried yet.

    This is MOSTCITED of the paper.
    """

    name = "most-cited"
    rule = "most cited model first"

    def __init__(self, table: Mapping[str, float] = CITATION_RANKS):
        """``table``: model -> citations, or any number that grows with them."""
        super().__init__(table)


class MostRecent(_ByTable):
    """Tenants in turn, each with its newest model that was not tried yet (MOSTRECENT of the paper)."""

    name = "most-recent"
    rule = "newest model first"

    def __init__(self, table: Mapping[str, float] = YEARS):
        """``table``: model -> year of its publication."""
        super().__init__(table)


POLICIES = (MostCited(), MostRecent())
