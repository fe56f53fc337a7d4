"""A step of ``demo year``: a slice of mistakes leads to 30 repaired cells and a better model.

A small application of its own, without a gate: the counter of visitors in the harbour shop said 0
on all of its days; 30 of them are repaired.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.cli.asking import waited_report
from easeml.cli.year_data import TARGET, broken_counter, month_of_rows
from easeml.client import Client, made_request
from easeml.contract.applications import Declaration

if TYPE_CHECKING:
    import pandas as pd

    from easeml.contract.reports import Report

_MODEL = "hist-gradient-boosting-classifier"
_PATIENCE = 240.0
_CELLS = 30  # that are repaired
_FRESH = 1500  # rows on which both models are measured


@dataclass(frozen=True, slots=True)
class CleanedSlice:
    """What was found: the advice, the number of the remedy, and what was measured."""

    advice: str
    remedy: int
    numbers: dict[str, Any]


def cleaned_slice(client: Client, folder: Path, seed: int) -> CleanedSlice:
    """Let the model of a table err in one shop, and repair its broken cells."""
    seen, true = broken_counter(seed)
    path = folder / "october.csv"
    seen.to_csv(path, index=False)
    dataset = client.upload(path)
    client.wait_version_ready(dataset.version.id)
    wish = made_request(
        Declaration,
        dataset_id=dataset.id,
        name="shops with a broken counter",
        target=TARGET,
        models=[_MODEL],
        constrain={_MODEL: {"leaf_rows": 20}},
        max_tasks=1,
    )
    application_id = client.create_application(wish).id
    client.wait(application_id, until="converged", timeout=_PATIENCE)
    fresh = month_of_rows(11, _FRESH, seed + 1)
    before = _right(client, application_id, fresh)

    task = client.ask_tool(application_id, "debug")
    report = waited_report(client, application_id, task.id, _PATIENCE)
    number = _repair(report)
    followed = client.follow_remedy(application_id, report.id, number)
    client.wait_task(followed.task_id, timeout=_PATIENCE)
    repaired = _answer(client, application_id, true)
    client.wait(application_id, until="converged", timeout=_PATIENCE)
    after = _right(client, application_id, fresh)
    remedy = report.remedies[number - 1]
    numbers: dict[str, Any] = {
        "slice": remedy.about,
        "cells_repaired": repaired,
        "expected": remedy.corrected,
        "expected_interval": (remedy.low, remedy.high),
        "right_before": before[0],
        "right_after": after[0],
        "right_in_slice_before": before[1],
        "right_in_slice_after": after[1],
        "rows_measured": len(fresh),
    }
    return CleanedSlice(report.advice, number, numbers)


def _repair(report: Report) -> int:
    """Return the number of the remedy that asks for cells, from 1."""
    kinds = [one.kind for one in report.remedies]
    return kinds.index("repair-cells") + 1


def _answer(client: Client, application_id: str, true: pd.DataFrame) -> int:
    """Answer what is asked, as somebody would who has the shop's books; return how much."""
    answered = 0
    while answered < _CELLS:
        item = client.next_work(application_id).item
        if item is None or item.kind != "repair-cell":
            break
        client.answer_work(item.id, value=str(_in_the_books(item.values, true)), seconds=5.0)
        answered += 1
    if answered:
        _use(client, application_id)
    return answered


def _use(client: Client, application_id: str) -> None:
    """Make a version of the answers that none has yet: many answers make one by themselves."""
    turn = client.next_work(application_id)
    if turn.making is not None:
        client.wait_version_ready(turn.making.version_id)
    if client.next_work(application_id).answers:
        client.use_answers(application_id)


def _in_the_books(values: dict[str, str], true: pd.DataFrame) -> float:
    """Return the visitors of the day that has these other values."""
    is_day: Any = true["shop"] == values["shop"]
    for column in ("price", "adverts"):
        cells: Any = true[column]
        is_day &= (cells - float(values[column])).abs() < 1e-6
    visitors: list[float] = true["visitors"].to_numpy()[is_day.to_numpy()].tolist()
    return visitors[0]


def _right(client: Client, application_id: str, rows: pd.DataFrame) -> tuple[float, float]:
    """Return how often what serves is right about rows, and about those of the harbour shop."""
    inputs = rows.drop(columns=[TARGET]).to_dict("records")
    said = client.predict(application_id, inputs).predictions
    right = [str(one) == truth for one, truth in zip(said, rows[TARGET], strict=True)]
    frame = rows.assign(right=right)
    shops: Any = frame.groupby("shop")["right"].mean()
    return sum(right) / len(right), float(shops["harbour"])
