"""Analyses that follow their data: a few changed rows are taken in, the rest stays as it was found.

What an analysis has computed stays in this process. When the same question is asked of a relation
that differs in few rows, the analysis takes these in. What such an answer may be off by, it says
itself (``updated``); it is never written to a cache, where others would take it for one from
scratch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from easeml.relation import Relation
from easeml.relation.updates import changed_rows

if TYPE_CHECKING:
    import numpy as np

_MOST = 6  # analyses that are kept; the one used least lately goes
_SHARE = 0.01  # of the rows that may change before an analysis begins anew


class Analysis(Protocol):
    """An answer, with what it takes to change it."""

    @property
    def relation(self) -> Relation:
        """What was asked about last."""
        ...

    @property
    def answer(self) -> dict[str, Any]:
        """The answer, as JSON values."""
        ...

    def follow(self, relation: Relation, rows: np.ndarray) -> bool:
        """Take in that the rows at some positions are others now.

        Tells whether it could; where not, nothing changed.
        """
        ...


class Following:
    """The analyses of this process, by what was asked."""

    def __init__(self, most: int = _MOST):
        self._most = most
        self._kept: list[tuple[str, int, Analysis]] = []  # question, rows changed, analysis

    def answer(
        self, question: str, begin: Callable[[Relation], Analysis], relation: Relation
    ) -> tuple[dict[str, Any], bool]:
        """Return the answer to a question about a relation, and whether nothing was updated for it.

        ``begin`` gives the analysis from scratch; ``question`` tells it from others. Rows that were
        made of others are not asked about.
        """
        relation = relation.observed()
        followed = self._followed(question, relation)
        if followed is not None:
            analysis, changed = followed
            return analysis.answer, changed == 0
        begun = begin(relation)
        self._keep(question, 0, begun)
        return begun.answer, True

    def _followed(self, question: str, relation: Relation) -> tuple[Analysis, int] | None:
        """Return an analysis that took in how a relation differs from its own.

        With it comes how many rows have changed since it began.
        """
        most = _SHARE * len(relation)
        same = [kept for kept in self._kept if kept[0] == question]
        for kept in reversed(same):
            _, before, analysis = kept
            rows = changed_rows(analysis.relation.content, relation.content)
            if rows is None or before + len(rows) > most:
                continue
            changed = before + len(rows)
            self._kept.remove(kept)  # nobody else may use it while it changes
            if analysis.follow(relation, rows):
                self._keep(question, changed, analysis)
                return analysis, changed
        return None

    def _keep(self, question: str, changed: int, analysis: Analysis) -> None:
        self._kept.append((question, changed, analysis))
        del self._kept[: -self._most]


FOLLOWING = Following()
"""The analyses of this process."""
