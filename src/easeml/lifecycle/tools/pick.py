"""Which of the trained models is best on rows that came later, with few of their labels?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from easeml.errors import InvalidInput
from easeml.lifecycle.held_out import Predicted
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer

if TYPE_CHECKING:
    from easeml.lifecycle.picking import Picking, State
    from easeml.lifecycle.picking.result import Standing

_STANDING = ("Model", "Accuracy", "From", "To", "Labels right")
_BATCH = "Labels that are asked for at a time; keep it, as those told so far were asked for so."
_TOLERANCE = "Loss of accuracy that does not matter: 0.01 is one of a hundred rows."
_ASSUMES = (
    "The labels are right, and the rows stand in the same order each time.",
    "The newer rows are like those that will come.",
)
_ROW = ("Row",)


@dataclass(frozen=True)
class PickConfig:
    """How sure the choice has to be."""

    batch: Annotated[
        int, Field(ge=1, le=1000, description=_BATCH, json_schema_extra={"unit": "rows"})
    ] = 10
    tolerance: Annotated[float, Field(ge=0, lt=1, description=_TOLERANCE)] = 0.0
    confidence: Annotated[
        float, Field(gt=0, lt=1, description="Of the intervals and of the choice.")
    ] = 0.95
    seed: Annotated[int, Field(ge=0, description="Seed of the random numbers.")] = 0


@dataclass(frozen=True)
class Choice:
    """The models that are compared, by their names; none before the first question.

    The labels told so far stand in the rows themselves, and the draws depend on the seed and their
    number alone: so the picking is made anew from them, and asks for what it asked for before.
    """

    config: PickConfig
    models: tuple[str, ...] = ()


def _ask(state: Choice, facts: Mapping[Fact, Any]) -> tuple[ToolAnswer, Choice]:
    """Tell the picking the labels that it asked for, as far as they are there."""
    newer: Predicted = facts["newer"]
    notes = []
    models = state.models or tuple(newer.by)
    gone = [name for name in models if name not in newer.by]
    if gone:
        notes.append(f"{gone[0]} cannot be compared any more: the picking begins anew.")
        models = tuple(newer.by)
    picking, wanted = _told(_opened(newer, models, state.config), newer, state.config.batch)
    unused = int(newer.known.sum()) - picking.labels
    if unused:
        notes.append(f"{unused} labels were not asked for (yet), and are not used.")
    return _answer(picking, wanted, tuple(notes)), replace(state, models=models)


def _opened(newer: Predicted, models: tuple[str, ...], config: PickConfig) -> State:
    import pandas as pd

    from easeml.lifecycle.picking import Config, open_picking

    if any(newer.by[name].classes is None for name in models):
        raise InvalidInput(
            "Picking compares predicted classes, and these models predict numbers.",
            where="target",
            remedy="Ask which is better: Is it better on newer rows?",
        )
    frame = pd.DataFrame({name: newer.by[name].values for name in models})
    settings = Config(seed=config.seed, tolerance=config.tolerance, confidence=config.confidence)
    return open_picking(frame, settings)


def _told(picking: State, newer: Predicted, batch: int) -> tuple[State, list[int]]:
    """Return the picking with all labels that it asked for, and the rows that it waits for."""
    from easeml.lifecycle.picking import ask, tell

    known = newer.known
    while not picking.certified:
        rows, asked = ask(picking, batch)
        if not rows:
            break
        lacking = [row for row in rows if not known[row]]
        if lacking:
            return picking, lacking
        picking = tell(asked, {row: newer.answers.iloc[row] for row in rows})
    return picking, []


def _answer(picking: State, wanted: list[int], notes: tuple[str, ...]) -> ToolAnswer:
    from easeml.lifecycle.picking import result_of

    stopped = "certified" if picking.certified else "settled"
    found = result_of(picking, "paused" if wanted else stopped)
    if found.needed_none:
        counted = (Number("labels", "Labels used", 0), Number("rows", "Rows", found.examples))
        alike = Table("Models", _STANDING, tuple(map(_unknown, found.models)))
        return ToolAnswer(
            found.advice, counted, _ASSUMES, verdict="chosen", tables=(alike,), notes=notes
        )
    tables = [_standings(found)]
    advice = found.advice
    if wanted:
        tables.insert(0, _wanted(wanted))
        advice = f"{advice} Label the {len(wanted)} rows listed, and ask again with the same file."
    return ToolAnswer(
        advice=advice,
        numbers=(
            Number("accuracy", f"Accuracy of {found.model}", found.accuracy, found.low, found.high),
            Number("labels", "Labels used", found.labels),
            Number("rows", "Rows", found.examples),
        ),
        assumes=_ASSUMES,
        verdict="label more" if wanted else "chosen",
        figures=(found.figure(),),
        tables=tuple(tables),
        notes=notes,
    )


def _wanted(rows: list[int]) -> Table:
    note = "1 is the first row below the heading."
    return Table(
        "Rows to label next", _ROW, tuple((row + 1,) for row in sorted(rows)), note, data=_ROW
    )


def _standings(found: Picking) -> Table:
    order = sorted(found.models, key=lambda one: (one.model != found.model, -one.accuracy))
    rows = map(attrgetter("model", "accuracy", "low", "high", "right"), order)
    return Table("Models", _STANDING, tuple(rows))


def _unknown(one: Standing) -> tuple[str, None, None, None, int]:
    """Return the row of a model of which no label tells anything."""
    return one.model, None, None, None, 0


def _save(state: Choice) -> bytes:
    return json.dumps(list(state.models)).encode()


def _load(config: PickConfig, kept: bytes) -> Choice:
    return Choice(config, tuple(json.loads(kept)))


TOOLS = (
    Tool(
        name="pick",
        title="Which model is best on newer rows?",
        about="Chooses the best of the trained models on newer rows, and asks for few labels of them.",
        needs=("newer",),
        config=PickConfig,
        open=Choice,
        ask=_ask,
        models="all",
        of_classes=True,
        save=_save,
        load=_load,
        yes="chosen",
    ),
)
