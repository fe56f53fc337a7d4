"""What each confusion costs, as a table of the wizard: the name of the objective says it all.

A cell is the field ``cost.["TRUE", "SAID"]``; the unit is ``cost-unit``. The address keeps the name
alone, such as ``cost(bad as good=5)`` (decision 0047).
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from easeml.contract.applications import ObjectiveOption, Proposal
from easeml.errors import InvalidInput

_FAMILY = "cost"
_FIELD = "cost."
_UNIT = "cost-unit"
_MOST_LABELS = 12  # of a table that is shown; larger ones come by the command line


@dataclass(frozen=True, slots=True)
class Cell:
    """A field of the table: its name, what it is about, and what it costs."""

    field: str
    true: str
    said: str
    cost: float


@dataclass(frozen=True, slots=True)
class CostTable:
    """A row for what is true, a cell for what is said; ``unit`` of the costs."""

    labels: list[str]
    rows: list[list[Cell]]
    unit: str


def is_cost(objective: str) -> bool:
    """Whether an objective is a table of costs."""
    return objective.startswith(f"{_FAMILY}(")


def with_costs(objective: str, given: Iterable[tuple[str, str]]) -> str:
    """Return the objective that the cells of a form name; as it is where there are none.

    What is no number is left as it was written, for the service to refuse.
    """
    fields = list(given)
    arguments = _cell_arguments(fields)
    if not arguments or not is_cost(objective):
        return objective
    unit = dict(fields).get(_UNIT, "").strip()
    if unit:
        arguments.append(f"unit={_quoted(unit)}")
    return f"{_FAMILY}({', '.join(arguments)})"


def _cell_arguments(fields: Iterable[tuple[str, str]]) -> list[str]:
    """Return the cells that cost something, as the name of an objective has them."""
    arguments = []
    for field, value in fields:
        pair = _pair(field)
        cost = value.strip()
        if pair is not None and not _is_nothing(cost):
            true, said = map(_quoted, pair)
            arguments.append(f"{true} as {said}={cost}")
    return arguments


def cost_table(proposal: Proposal | None) -> CostTable | None:
    """Return the table of the chosen objective, None where it is another, or has many classes."""
    if proposal is None or len(proposal.labels) > _MOST_LABELS:
        return None
    chosen = _chosen(proposal)
    if chosen is None or chosen.costs is None:
        return None
    labels = proposal.labels
    rows = []
    for true in labels:
        costs = chosen.costs.get(true, {})
        rows.append([_cell(true, said, costs.get(said, 0.0)) for said in labels])
    return CostTable(labels, rows, chosen.cost_unit)


def _chosen(proposal: Proposal) -> ObjectiveOption | None:
    """Return the objective that the wizard shows as chosen."""
    return next((objective for objective in proposal.objectives if objective.default), None)


def _cell(true: str, said: str, cost: float) -> Cell:
    field = _FIELD + json.dumps([true, said], ensure_ascii=False)
    return Cell(field, true, said, cost)


def _pair(field: str) -> tuple[str, str] | None:
    """Return what is true and what is said of a field of the table; None for other fields."""
    if not field.startswith(_FIELD):
        return None
    with suppress(ValueError):
        match json.loads(field.removeprefix(_FIELD)):
            case [str(true), str(said)]:
                return true, said
    raise InvalidInput("This is not a cell of a table of costs.", where=field[:80])


def _quoted(label: str) -> str:
    """Return a label as it may stand in the name of an objective, whatever it holds."""
    return json.dumps(label, ensure_ascii=False)


def _is_nothing(cost: str) -> bool:
    with suppress(ValueError):
        return float(cost) == 0
    return not cost
