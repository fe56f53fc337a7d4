"""The objective that a declaration names: a module of the knowledge base, or one of a family."""

from collections.abc import Sequence

from easeml.contract.applications import Declaration, ObjectiveFamily, ObjectiveOption
from easeml.data import FEW_OF_CLASS, Columns, class_counts, commonest_share
from easeml.errors import InvalidInput
from easeml.modules import Module, Registry, labels_of, objective_for
from easeml.modules.calls import cost_arguments, read_call, written
from easeml.modules.families import example
from easeml.objective_names import meant
from easeml.schema import Schema
from easeml.service.knowledge import knowledge_base

_BALANCED = "balanced-accuracy"
_IMBALANCED = 0.8  # share of the commonest class from which accuracy tells little
_COST = "cost"


def fitting(registry: Registry, columns: Columns, *, weighted: bool = False) -> list[Module]:
    """The objectives, the default first: where one class has nearly all rows, balanced accuracy.

    Not where no other class has rows enough to measure it by. ``weighted``: those that count rows
    by their weights.
    """
    found = registry.objectives_for(columns.schema_out, weighted=weighted)
    answer = next(one for one in columns.columns if one.name == columns.target)
    counts = sorted(class_counts(answer).values())
    is_measured = max(counts[:-1], default=0) >= FEW_OF_CLASS
    if not is_measured or commonest_share(answer) < _IMBALANCED:
        return found
    return sorted(found, key=lambda one: one.name != _BALANCED)


def chosen(
    declaration: Declaration, objectives: Sequence[Module], registry: Registry, target: Schema
) -> Module:
    """Return the objective of a declaration, among ``objectives`` or of a family.

    Raises ``InvalidInput`` for one that is unknown, archived, or does not fit the target.
    """
    if not objectives:
        raise InvalidInput(
            f"No objective fits this target. {_why_none(registry, target)}",
            remedy="Choose another target or type.",
        )
    name = _named(declaration)
    if name is None:
        return objectives[0]
    name = meant(name)
    by_name = {objective.name: objective for objective in objectives}
    if name in by_name:
        return by_name[name]
    member = of_family(name, registry, target)
    if member is None:
        raise _unknown(name, objectives, registry)
    if declaration.weight and not member.weights:
        raise InvalidInput(
            f"{member.title} does not count rows by their weights.",
            where="objective",
            remedy="Name another, or declare the data without weights.",
        )
    if not member.sought:
        raise InvalidInput(
            f"More {member.title.lower()} is not better: no search can go by it.",
            where="objective",
            remedy="Measure the models by it: easeml app models ID --measure NAME.",
        )
    return member


def of_family(name: str, registry: Registry, target: Schema) -> Module | None:
    """Return the objective that a name such as ``recall(bad)`` means; None for other names.

    Raises ``InvalidInput`` for a family that does not fit, or arguments that are not the target's.
    """
    call = read_call(name)
    families = {one.name: one for one in registry.families_for(target)}
    family = families.get(call.family if call else name)
    if family is None:
        return None
    labels = labels_of(target.to_json()) or []
    if call is None:
        raise InvalidInput(
            f"{name} has to be told: {', '.join(family.takes)}.",
            where="objective",
            remedy=f"Write, say, {example(family, labels)}.",
        )
    found = registry.get(name)
    objective_for(found.name, labels)  # it raises where labels or costs do not fit
    return found


def options(objectives: Sequence[Module], objective: Module) -> list[ObjectiveOption]:
    """Return the objectives that fit, and the one that was chosen where it is of a family."""
    offered = {one.name: one for one in (*objectives, objective)}
    return [
        ObjectiveOption(
            name=one.name,
            title=one.title,
            about=one.about,
            default=one.name == objective.name,
            costs=_costs(one),
            cost_unit=str(one.parameters.get("unit", "")),
        )
        for one in offered.values()
    ]


def _costs(objective: Module) -> dict[str, dict[str, float]] | None:
    """Return what each confusion costs: true label -> said label -> cost; None for others."""
    if "costs" not in objective.parameters:
        return None
    costs: dict[str, dict[str, float]] = {}
    for true, said, cost in objective.parameters["costs"]:
        costs.setdefault(true, {})[said] = cost
    return costs


def families(registry: Registry, target: Schema) -> list[ObjectiveFamily]:
    """Return the families that fit a target, each with an example."""
    labels = labels_of(target.to_json()) or []
    return [
        ObjectiveFamily(
            name=one.name,
            title=one.title,
            about=one.about,
            takes=list(one.takes),
            example=example(one, labels),
        )
        for one in registry.families_for(target)
        if one.sought
    ]


def _named(declaration: Declaration) -> str | None:
    """Return the name of the objective; a table of costs is a part of it."""
    if declaration.costs is None:
        return declaration.objective
    if declaration.objective not in (None, _COST):
        raise InvalidInput(
            f"Costs are of the objective {_COST}, and the objective is {declaration.objective}.",
            where="costs",
            remedy="Leave one of them out.",
        )
    return written(_COST, cost_arguments(declaration.costs, declaration.cost_unit.strip()))


def _why_none(registry: Registry, target: Schema) -> str:
    schemas = [module.schema_in for module in registry.of_kind("objective")]
    reasons = {schema.why_not(target) for schema in schemas if schema is not None}
    return " ".join(sorted(reasons))


def _unknown(name: str, objectives: Sequence[Module], registry: Registry) -> InvalidInput:
    family = name.partition("(")[0].strip().lower()
    known = [module.name for module in registry.modules if module.kind == "objective"]
    names = [objective.name for objective in objectives]
    if family in known:
        is_archived = family in registry.archived
        why = "is archived" if is_archived else "does not fit this target"
        remedy = f"These fit: {', '.join(names)}."
        return InvalidInput(f"The objective {name} {why}.", where="objective", remedy=remedy)
    remedy = knowledge_base.likely(name, names)
    return InvalidInput(f"There is no objective {name!r}.", where="objective", remedy=remedy)
