"""Is a deployed model still right, though nobody labels what it sees?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from easeml.errors import InvalidInput
from easeml.lifecycle.held_out import DrawnRows, LateRows, Predicted, Unseen
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer
from easeml.lifecycle.tool_answer import yes_or_no
from easeml.optional import if_known

if TYPE_CHECKING:
    from easeml.lifecycle.monitoring import (
        Batch,
        Drawn,
        Labelled,
        Late,
        Monitor,
        MonitorReport,
    )

_REFERENCE = (
    "The reference rows helped to choose the model: quality on them is a little optimistic."
)
_AT_RANDOM = "The newer rows that have an answer were drawn at random from all of them."
_AS_THEY_COME = (
    "The estimate takes it that whether and when the answer of a row comes does not depend on it, "
    "given the inputs and the prediction. Alarms do not: there, rows without answer count as right."
)
_CLAIMED = (
    "Rows that were said to be drawn at random from all rows of their looks were: estimates, and "
    "half of the error that alarms may make, rest on that."
)
_CLAIMS = "Rows that were said to be drawn at random"
_QUALITY_OF = ("Quality on the newer rows", "Quality on earlier rows whose answer came")
_SAMPLED = "Rows with an answer were drawn at random. If not, answers may come for mistakes first."
_DROP = "A fall of quality that is worth an alert: 0.05 is five of a hundred rows."
_TOLERANCE = "Error up to which a number counts as right; by default found from the answers."


@dataclass(frozen=True)
class MonitorConfig:
    """When to raise an alert."""

    drop: Annotated[float, Field(gt=0, lt=1, description=_DROP)] = 0.05
    floor: Annotated[
        float | None, Field(ge=0, le=1, description="Quality below which there is an alert.")
    ] = None
    alpha: Annotated[
        float, Field(gt=0, lt=1, description="Chance of ever raising a false alarm of drift.")
    ] = 0.05
    tolerance: Annotated[float | None, Field(gt=0, description=_TOLERANCE)] = None
    at_random: Annotated[bool, Field(description=_SAMPLED)] = True
    seed: Annotated[int, Field(description="Seed of the random numbers.")] = 0


@dataclass(frozen=True)
class Watch:
    """What is known after some files of newer rows; None: nothing yet."""

    config: MonitorConfig
    monitor: Monitor | None = None


def _ask(state: Watch, facts: Mapping[Fact, Any]) -> tuple[ToolAnswer, Watch]:
    """Judge the newer rows. What labels among them tell is remembered for the next ones."""
    from easeml.lifecycle.monitoring import Batch, ask

    newer: Predicted = facts["newer"]
    late: LateRows | None = facts.get("late")
    said = newer.by["model"]
    monitor = state.monitor or _fitted(state.config, facts)
    batch = Batch(
        newer.inputs,
        said.values,
        said.chances,
        _labelled(newer),
        late=if_known(late, _late),
        at_random=state.config.at_random,
        drawn=_drawn_rows(facts),
    )
    report, after = ask(monitor, batch)
    return _answer(report, after, batch), replace(state, monitor=after)


def _fitted(config: MonitorConfig, facts: Mapping[Fact, Any]) -> Monitor:
    from easeml.lifecycle.monitoring import AlertRules, fit

    said: Unseen = facts["predictions"]
    answers = facts["answers"]
    rules = AlertRules(drop=config.drop, floor=config.floor, alpha=config.alpha)
    return fit(
        facts["inputs"],
        said.values,
        answers.to_numpy(),
        said.chances,
        task="regression" if answers.dtype.kind == "f" else "classification",
        tolerance=config.tolerance,
        rules=rules,
        seed=config.seed,
        progress=facts.get("progress"),
    )


def _labelled(newer: Predicted) -> Labelled | None:
    from easeml.lifecycle.monitoring import Labelled, at_random

    rows = np.flatnonzero(newer.known)
    if not len(rows):
        return None
    return Labelled(at_random(rows, len(newer.answers)), newer.answers.iloc[rows].to_numpy())


def _late(late: LateRows) -> Late:
    from easeml.lifecycle.monitoring import Late

    said = late.rows.by["model"]
    answers = late.rows.answers.to_numpy()
    return Late(late.rows.inputs, said.values, answers, said.chances, late.looks, late.roles)


def _drawn_rows(facts: Mapping[Fact, Any]) -> tuple[Drawn, ...]:
    """Return the rows of which somebody says that they were drawn at random."""
    from easeml.lifecycle.monitoring import Drawn

    claims: Sequence[DrawnRows] = facts.get("drawn", ())
    return tuple(Drawn(one.by, one.newer, one.late) for one in claims)


def _answer(report: MonitorReport, after: Monitor, batch: Batch) -> ToolAnswer:
    return ToolAnswer(
        advice=report.advice,
        numbers=_numbers(report, after.tolerance, batch),
        assumes=_assumed(report, after, batch),
        verdict=report.status,
        figures=(report.figure(),),
        tables=(_drift(report), _moved(after, report), *_claims(report)),
    )


def _numbers(report: MonitorReport, tolerance: float | None, batch: Batch) -> tuple[Number, ...]:
    rows, late = len(batch.inputs), 0
    if batch.late is not None:
        late = int((batch.late.roles == "truth").sum())
    title = _QUALITY_OF[rows == 0]
    numbers = [
        Number("quality", title, report.score, report.low, report.high),
        Number("reference", "Quality on the reference rows", report.reference),
    ]
    if tolerance is not None:
        numbers.append(Number("tolerance", "Error up to which a number is right", tolerance))
    if report.labelled is not None:
        numbers.append(Number("labelled", "Quality by the labels alone", report.labelled))
    numbers += [
        Number("rows", "Newer rows", rows),
        Number("late", "Earlier rows whose answer came", late),
        Number("batch", "Files of newer rows so far", report.batch),
        Number("needed", f"Labels that show a fall of {report.shown:g}", report.needed),
    ]
    return tuple(numbers)


def _assumed(report: MonitorReport, after: Monitor, batch: Batch) -> tuple[str, ...]:
    assumed = [_REFERENCE]
    if report.assumes is not None:
        assumed.append(f"{report.assumes[0].upper()}{report.assumes[1:]}.")
    if batch.labelled is not None or batch.late is not None:
        assumed.append(_AT_RANDOM if batch.at_random else _AS_THEY_COME)
    if after.drawn.claims:
        assumed.append(_CLAIMED)
    return tuple(assumed)


def _drift(report: MonitorReport) -> Table:
    rows = []
    for test in report.drift:
        rows.append((test.kind, test.p_value, test.level, yes_or_no(test.alarm), test.where))
    columns = ("Drift", "p-value", "Level", "Alarm", "Where most")
    return Table("Tests of drift", columns, tuple(rows))


def _claims(report: MonitorReport) -> list[Table]:
    """Return what became of claims that rows were drawn at random; no table where there is none."""
    if not report.claims:
        return []
    rows = []
    for one in report.claims:
        counts = yes_or_no(one.is_credible)
        rows.append((one.by, one.rows, one.p_value, one.level, one.where, counts))
    columns = ("By", "Rows", "p-value", "Level", "Where they differ most", "Counts")
    note = "Where rows differ from the others of their looks, their truths count as they come."
    return [Table(_CLAIMS, columns, tuple(rows), note)]


def _moved(monitor: Monitor, report: MonitorReport) -> Table:
    """Return how much each input column has moved, what moved most first."""
    rows = []
    for test in report.drift:
        for column, p_value in monitor.moved(test).items():
            rows.append((column, p_value, test.level, yes_or_no(p_value <= test.level)))
    rows.sort(key=lambda row: row[1])
    note = "p-values are corrected for the number of columns."
    return Table("Drift by column", ("Column", "p-value", "Level", "Alarm"), tuple(rows), note)


def _save(state: Watch) -> bytes:
    from easeml.lifecycle.monitoring import save

    assert state.monitor is not None  # it was asked
    return save(state.monitor)


def _load(config: MonitorConfig, kept: bytes) -> Watch:
    """Go on with new rules for alerts, where they changed; the reference stays as it was fitted."""
    from easeml.lifecycle.monitoring import AlertRules, load

    monitor = load(kept)
    if config.tolerance not in (None, monitor.tolerance):
        remedy = f"Leave it out, or say {monitor.tolerance:g}."
        raise InvalidInput(
            "Another tolerance was monitored before.", where="parameters.tolerance", remedy=remedy
        )
    rules = AlertRules(drop=config.drop, floor=config.floor, alpha=config.alpha)
    return Watch(config, replace(monitor, rules=rules))


TOOLS = (
    Tool(
        name="monitor",
        title="Is it still right?",
        about="Estimates a model's quality on newer rows, with few labels or none, and finds drift.",
        needs=("inputs", "answers", "predictions", "newer"),
        may=("late", "drawn", "progress"),
        config=MonitorConfig,
        open=Watch,
        ask=_ask,
        rows="validation",
        models="one",
        save=_save,
        load=_load,
    ),
)
