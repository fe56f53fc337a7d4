"""Advise: may a model serve? Its predictions of test rows are put to the application's gate."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.row_weights import that_are_ignored
from easeml.kinds.shared.tested_rows import chances, predicted, row_scores
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class GateSpec(Spec):
    """Advise: test the model ``new_id`` against ``old_id`` (empty: none serves) by a ledger.

    ``ledger``: of ``easeml.lifecycle.gates``, about the test rows from ``first_id`` to ``last_id``,
    of which some may be erased by now; -1: from the ``first`` on, by their place.
    ``new_refitted``, ``old_refitted``: whether the model serves as fitted on all other rows.
    ``version_id``: the version with these rows.

    ``reserve``: ids of rows of the pool that the ledger is about instead, in this order; of some of
    them ``labels`` were bought, by id, of ``budget`` that may be, and some are ``unknown`` to people.
    """

    kind: Literal["gate"] = "gate"
    gate_id: str
    version_id: str
    ledger: dict[str, Any]
    first: int
    first_id: int = -1
    last_id: int = -1
    new_id: str
    old_id: str
    reserve: list[int] = Field(default_factory=list)
    labels: dict[str, str] = Field(default_factory=dict)
    unknown: list[int] = Field(default_factory=list)
    budget: int = 0


def decide(spec: GateSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{answer, reason, ledger}``: what the ledger says, why, and the ledger after it.

    On a reserve also ``asked``, the rows (``row``, and ``values``, their cells as text) whose labels
    the test wants next, and how many it will want: ``about``, at ``most``. Writes no output.
    """
    if spec.reserve:
        from easeml.kinds.shared.bought_labels import ReserveTest

        test = ReserveTest(
            spec.ledger,
            spec.reserve,
            spec.labels,
            frozenset(spec.unknown),
            spec.budget,
            bool(spec.old_id),
        )
        return TaskResult(ok=True, value=test.value(inputs))
    from easeml.data import read_version
    from easeml.lifecycle import gates
    from easeml.lifecycle.ci import Ledger, Metric

    version = read_version(inputs / "version")
    ledger = Ledger.from_json(spec.ledger)
    rows = _tested_on(spec, version.test.sort_values("_row"), ledger.examples)
    ledger = gates.narrowed(ledger, len(rows))
    answers = rows[version.target].tolist()
    told: Callable[..., list[Any]] = predicted
    if ledger.config.metric is Metric.BRIER:
        told = partial(chances, positive=ledger.config.positive)
    if ledger.config.metric is Metric.SCORE:
        told = partial(row_scores, answers=answers)
        answers = [1] * len(rows)  # all are known
    tested = gates.Tested(
        new=told(inputs, "new", rows),
        old=told(inputs, "old", rows) if spec.old_id else None,
        answers=answers,
        rows=rows,
    )
    verdict, after = gates.examine(ledger, tested)
    needed = gates.rows_that_always_tell(ledger)
    reason = gates.explained(verdict, after, needed)
    value = {
        "answer": verdict.answer,
        "reason": " ".join([reason, *that_are_ignored(version)]),
        "ledger": after.to_json(),
    }
    return TaskResult(ok=True, value=value)


def _tested_on(spec: GateSpec, test: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the rows of a gate, of which there were ``most``, among all test rows."""
    if spec.last_id < 0:
        return test.iloc[spec.first : spec.first + most]
    return test[test["_row"].between(spec.first_id, spec.last_id)].iloc[:most]


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version, and what both models kept of its test rows; themselves for rows that are newer."""
    spec = GateSpec.model_validate(task.payload)
    found = {"version": tables.versions.get(spec.version_id).artefact}
    for which, model_id in (("new", spec.new_id), ("old", spec.old_id)):
        if not model_id:
            continue
        model = tables.models.get(model_id)
        found[f"{which}-model"] = model.served
        found[f"{which}-predictions"] = model.refitted_predictions or model.predictions
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the ledger, and let the model serve that passed."""
    from easeml.service.models import gate_answers

    gate_answers.record(tx, task, result)


def failed(tx: Transaction, task: Task) -> None:
    """Keep that the model could not be tested: no step was spent."""
    from easeml.service.models import gate_answers

    gate_answers.could_not_test(tx, task)


KIND = Kind(
    name="gate",
    title="Test before it serves",
    about="Tests on test rows what has to hold before a model may serve an application.",
    group="advise",
    spec=GateSpec,
    body=decide,
    inputs=inputs,
    record=record,
    failed=failed,
    values=("answer", "reason", "ledger"),
)
