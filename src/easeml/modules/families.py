"""Families of objectives: one module, and an objective for each of what it is told.

A module that ``takes`` something is a family: ``recall`` takes a class, and ``recall(bad)`` is an
objective. Its class gets what it takes as parameters, and the labels of a target by ``for_classes``.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from easeml.errors import InvalidInput

from .calls import Call, cost_arguments, number, quoted, read_costs, unquoted, written
from .module import Module

_EXAMPLES = {"class": "LABEL", "beta": "2", "costs": "TRUE as SAID=COST"}


def example(family: Module, labels: Sequence[str] = ()) -> str:
    """Return how an objective of a family is written, for people."""
    arguments = []
    for one in family.takes:
        if one == "class" and labels:
            arguments.append(quoted(labels[-1]))
        elif one == "costs" and len(labels) > 1:
            arguments += [f"{quoted(labels[0])} as {quoted(labels[1])}=1"]
            arguments += [f"{quoted(labels[1])} as {quoted(labels[0])}=5"]
        else:
            arguments.append(_EXAMPLES[one])
    return written(family.name, arguments)


def member(family: Module, call: Call) -> Module:
    """Return the objective that a call names, under the one name that says the same.

    Raises ``InvalidInput`` for arguments that the family does not take.
    """
    if not family.takes:
        raise InvalidInput(
            f"{family.name} takes nothing.",
            where="objective",
            remedy=f"Write {family.name}.",
        )
    if family.takes == ("costs",):
        parameters = read_costs(call.arguments)
        told = _canonical_costs(parameters)
    else:
        parameters, told = _plain(family, call)
    return replace(
        family,
        name=written(family.name, told),
        title=_title(family, parameters),
        parameters={**family.parameters, **parameters},
        takes=(),
    )


def _plain(family: Module, call: Call) -> tuple[dict[str, Any], list[str]]:
    if len(call.arguments) != len(family.takes):
        raise InvalidInput(
            f"{family.name} takes {len(family.takes)}: {', '.join(family.takes)}.",
            where="objective",
            remedy=f"Write {example(family)}.",
        )
    parameters: dict[str, Any] = {}
    told = []
    for name, argument in zip(family.takes, call.arguments, strict=True):
        if name == "class":
            parameters["label"] = unquoted(argument)
            told.append(quoted(parameters["label"]))
        else:
            parameters[name] = number(argument)
            told.append(f"{parameters[name]:.15g}")
    return parameters, told


def _canonical_costs(parameters: dict[str, Any]) -> list[str]:
    costs: dict[str, dict[str, float]] = {}
    for true, said, cost in parameters["costs"]:
        costs.setdefault(true, {})[said] = cost
    return cost_arguments(costs, parameters["unit"])


def _title(family: Module, parameters: dict[str, Any]) -> str:
    if "label" not in parameters:
        return family.title
    beta = f" (beta {parameters['beta']:g})" if "beta" in parameters else ""
    return f"{family.title}{beta} of {parameters['label']}"
