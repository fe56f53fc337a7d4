"""Candidates of a job: every model that fits, with its default configuration and some spread over its space."""

import json

from easeml.ids import new_id
from easeml.modules import Module, Registry
from easeml.search import costs, spaces
from easeml.service.declaring import allowed_models
from easeml.service.experience import Trial, size
from easeml.store.records import Application, Candidate, DatasetVersion, Job, Json

CONFIGURATIONS = 4  # of each model: the default and three more


def make_candidates(
    registry: Registry, application: Application, job: Job, version: DatasetVersion, trials: list[Trial]
) -> list[Candidate]:
    """Return the arms of ``job`` in a fixed order; ``trials`` (of any tenant) help to predict their costs."""
    matches = registry.models_for(version.schema_in, version.schema_out)
    rules = application.rules
    found: list[Candidate] = []
    for match in allowed_models(matches, rules.get("models"), rules.get("exclude") or []):
        model = match.module
        chain = registry.candidates(model, version.schema_in)
        transforms = [{"module": transform.name, "config": {}} for transform in chain]
        cost = _predict_cost(model, version, trials)
        for number, config in enumerate(_configurations(model), start=1):
            found.append(
                Candidate(
                    id=new_id("cand"),
                    tenant_id=job.tenant_id,
                    job_id=job.id,
                    arm=len(found),
                    name=model.name if number == 1 else f"{model.name}-{number}",
                    model=model.name,
                    pipeline={"transforms": transforms, "model": {"module": model.name, "config": config}},
                    predicted_cost=cost,
                )
            )
    return found


def _configurations(model: Module) -> list[Json]:
    """Return the distinct configurations to try, the default first; a constant space has but one."""
    suggested = spaces.suggest(model.space, CONFIGURATIONS, seed=0)
    distinct = {json.dumps(config, sort_keys=True): config for config in suggested}
    return list(distinct.values())


def _predict_cost(model: Module, version: DatasetVersion, trials: list[Trial]) -> float:
    rows, columns = size(version)
    history = [(t.rows, t.columns, t.cost) for t in trials if t.candidate.model == model.name]
    return costs.predict_cost(model.cost, rows, columns, history)
