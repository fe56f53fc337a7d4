"""What an optimizer that is a folder of programs suggested is taken in.

Whatever it does wrong, easeml's own optimizer proposes in its place, and the providers are told.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from easeml.contract.states import JobState
from easeml.errors import InvalidInput
from easeml.modules import Registry
from easeml.search import spaces
from easeml.search.optimizers import Tried, fresh, optimizer_named
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.rules import space_of
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.modules import faults
from easeml.service.search.candidates import extend
from easeml.service.search.suggesting import EACH, Wanted
from easeml.service.search.variants import model_of
from easeml.store import Transaction
from easeml.store.records import DatasetVersion, Json, Task
from easeml.store.shapes import Rules

_NOTHING_NEW = "suggest printed no configuration that was not tried, though the space has more."


def take_in(
    tx: Transaction,
    task: Task,
    optimizer: str,
    wanted: Sequence[Wanted],
    proposed: Mapping[str, list[Any]],
    fault: str,
) -> None:
    """Add what was proposed for each model, or else what easeml's own optimizer proposes.

    ``fault``: what the optimizer did wrong, in a sentence; empty: nothing. Nothing is added to a
    job that runs no more.
    """
    registry = knowledge_base.current(tx)
    tables = tx.scoped(task.tenant_id)
    job = tables.jobs.get(task.job_id)
    rules = tables.applications.get(job.application_id).rules
    version = tables.versions.get(job.version_id)
    found: dict[str, list[Json]] = {}
    for one in wanted:
        space = _space_now(registry, one.model, rules, version)
        configs = _of_space(space, proposed.get(one.model, []), one.tried)
        if configs:
            found[one.model] = configs
            continue
        found[one.model] = optimizer_named().propose(space, one.tried, EACH, seed=0)
        if found[one.model] and not fault:
            fault = _NOTHING_NEW
    if fault:
        faults.tell(tx, optimizer, f"{fault} Searches go on with easeml's own optimizer.")
    if job.state == JobState.RUNNING:
        extend(tx, registry, job, found, cost_belief(registry, finished_trials(tx)))


def _space_now(registry: Registry, model: str, rules: Rules, version: DatasetVersion) -> Json:
    """Return the space as the rules have it by now; a model that has none left gets no more."""
    return space_of(registry.get(model_of(model)), rules, version) or {}


def _of_space(space: Json, configs: Sequence[Any], tried: Sequence[Tried]) -> list[Json]:
    """Return the configurations that are of the space, whole and new."""
    whole = []
    for config in configs:
        try:
            whole.append(spaces.complete(space, config))
        except InvalidInput:
            continue  # the rules have changed since it was asked
    return fresh(whole, tried, EACH)
