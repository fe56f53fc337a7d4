"""The test of a model on rows without labels, of which some were bought."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.errors import Conflict
from easeml.kinds.shared.row_weights import that_are_ignored

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from easeml.data import Declared
    from easeml.lifecycle.ci import Ledger

    Said = tuple[list[Any], list[Any] | None]  # what the new and the old model say of rows


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
        truth = others[version.target].tolist()
        elsewhere = gates.Tested(*self._said(inputs, others, "validation"), truth, others)
        answers = self._bought(is_number=rows.dtypes[version.target].kind == "f")
        ledger = Ledger.from_json(self.ledger)
        self._count_unknown(answers, models, truth, ledger)
        tested = gates.Tested(*models, answers, rows)
        left = max(0, self.budget - len(self.labels))
        verdict, after, outlook = gates.examine_reserve(ledger, tested, elsewhere, left)
        found = {"answer": verdict.answer, "ledger": after.to_json(), "asked": []}
        if outlook is None or left == 0 or not verdict.labels_wanted:
            rows_left = gates.rows_to_ask(ledger, tested)
            bought = len(self.labels)
            decided = gates.explained_by_labels(verdict, after, bought, left, rows_left)
            return {**found, "reason": self._reason(decided, version)}
        wanted = rows.iloc[list(verdict.labels_wanted)].drop(columns=version.target)
        reason = self._reason(gates.waits(verdict.condition, outlook, left), version)
        return {**found, "reason": reason, "asked": _asked(wanted), "outlook": asdict(outlook)}

    def _count_unknown(
        self, answers: list[Any], models: Said, others: Sequence[Any], ledger: Ledger
    ) -> None:
        """Put the answer that says least for the new model where people know none."""
        from easeml.lifecycle import gates

        new, old = models
        for place, row in enumerate(self.rows):
            if row in self.unknown:
                said = None if old is None else old[place]
                answers[place] = gates.worst_answer(new[place], said, others=others, ledger=ledger)

    def _reason(self, decided: str, version: Declared) -> str:
        """Return what was decided, what else counted against the model, and what did not count."""
        said = [decided]
        if self.unknown:
            said.append(f"Rows that people do not know count against it: {len(self.unknown):,}.")
        return " ".join([*said, *that_are_ignored(version)])

    def _said(self, inputs: Path, rows: pd.DataFrame, role: str) -> Said:
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
