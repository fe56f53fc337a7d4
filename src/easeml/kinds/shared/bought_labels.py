"""The test of a model on rows without labels, of which some were bought."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.errors import Conflict
from easeml.kinds.shared.row_weights import that_are_ignored

if TYPE_CHECKING:
    import pandas as pd

    from easeml.data import Declared


@dataclass(frozen=True, slots=True)
class ReserveTest:
    """The test of a model on the rows of a reserve, as a gate's task is told it.

    ``rows``: ids, in the order of the ledger; ``labels``: those bought, by id, of a ``budget``;
    ``unknown``: rows whose label people do not know, which count against the model; ``has_old``: it
    is tested against a model that serves.
    """

    ledger: dict[str, Any]
    rows: list[int]
    labels: dict[str, str]
    unknown: frozenset[int]
    budget: int
    has_old: bool

    def value(self, inputs: Path) -> dict[str, Any]:
        """Return the value of the task, as ``kinds.gate.decide`` describes it.

        Raises ``Conflict`` where rows of the reserve have become train rows, or are gone.
        """
        from easeml import data
        from easeml.lifecycle import gates
        from easeml.lifecycle.ci import Ledger

        version = data.read_declared(inputs / "version")
        rows = _reserve(version, self.rows)
        models = self._said(inputs, rows, "pool")
        others = version.frames["validation"].sort_values("_row")
        elsewhere = (*self._said(inputs, others, "validation"), others[version.target].tolist())
        answers = self._bought(is_number=rows.dtypes[version.target].kind == "f")
        ledger = Ledger.from_json(self.ledger)
        new, old = models
        for place, row in enumerate(self.rows):
            if row in self.unknown:
                said = None if old is None else old[place]
                answers[place] = gates.worst_answer(
                    new[place],
                    said,
                    others=elsewhere[2],
                    ledger=ledger,
                )
        verdict, after, outlook = gates.examine_reserve(ledger, models, answers, elsewhere)
        left = self.budget - len(self.labels)
        if verdict.labels_wanted and left > 0:
            reason = gates.waits(verdict.condition, outlook, left)
        else:
            reason = gates.explained_by_labels(verdict, after, len(self.labels))
        if self.unknown:
            reason += f" Rows that people do not know count against it: {len(self.unknown):,}."
        wanted = rows.iloc[list(verdict.labels_wanted)].drop(columns=version.target)
        return {
            "answer": verdict.answer,
            "reason": " ".join([reason, *that_are_ignored(version)]),
            "ledger": after.to_json(),
            "asked": _asked(wanted),
            "about": outlook.about,
            "most": outlook.most,
        }

    def _said(
        self, inputs: Path, rows: pd.DataFrame, role: str
    ) -> tuple[list[Any], list[Any] | None]:
        """Return what both models say of rows."""
        from easeml.kinds.shared.tested_rows import predicted

        old = predicted(inputs, "old", rows, role) if self.has_old else None
        return predicted(inputs, "new", rows, role), old

    def _bought(self, *, is_number: bool) -> list[Any]:
        """Return the answers of the reserve's rows: those that people gave, None for others."""
        found: list[Any] = []
        for row in self.rows:
            told = self.labels.get(str(row))
            found.append(float(told) if is_number and told is not None else told)
        return found


def _reserve(version: Declared, ids: list[int]) -> pd.DataFrame:
    pool = version.frames.get("pool")
    if pool is None or not set(ids) <= set(pool["_row"].tolist()):
        raise Conflict(
            "Rows that are kept for tests are not without labels any more.",
            remedy="Set the gate again.",
        )
    return pool.set_index("_row", drop=False).loc[ids].reset_index(drop=True)


def _asked(rows: pd.DataFrame) -> list[dict[str, Any]]:
    from easeml.kinds.shared.work_items import cells_of

    cells = rows.drop(columns="_row")
    asked = []
    for place, id in enumerate(rows["_row"].tolist()):
        asked.append({"row": id, "values": cells_of(cells.iloc[place], [])})
    return asked
