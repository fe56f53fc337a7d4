"""The modules of the knowledge base, to look at."""

import statistics
from collections import defaultdict

from easeml.contract import resources
from easeml.modules import Module
from easeml.schema import Schema
from easeml.service import knowledge
from easeml.service.experience import finished_trials
from easeml.store import Store


def list_all(store: Store) -> list[resources.Module]:
    """Return every module by kind and rank, with numbers from the finished tasks of all tenants."""
    with store.read() as tx:
        trials = finished_trials(tx)
    costs = defaultdict(list)
    for trial in trials:
        costs[trial.candidate.model].append(trial.cost)
    registry = knowledge.registry()
    found = [module for kind in ("model", "transform", "objective") for module in registry.of_kind(kind)]
    return [_show(module, costs[module.name]) for module in found]


def _show(module: Module, costs: list[float]) -> resources.Module:
    return resources.Module(
        name=module.name,
        kind=module.kind,
        version=module.version,
        title=module.title,
        about=module.about,
        schema_in=_text(module.schema_in),
        schema_out=_text(module.schema_out),
        transforms=list(module.transforms),
        space=dict(module.space),
        trained=len(costs),
        median_cost=statistics.median(costs) if costs else None,
    )


def _text(schema: Schema | None) -> str:
    return "" if schema is None else schema.to_text()
