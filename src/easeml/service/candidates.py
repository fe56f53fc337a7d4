"""Candidates of a job: every model that fits, with its default configuration and some spread over its space."""

from collections.abc import Sequence
from dataclasses import replace

from easeml.ids import new_id
from easeml.modules import Registry
from easeml.search import spaces
from easeml.service.declaring import allowed_models
from easeml.service.experience import Trial, predict_costs, size, work_of
from easeml.store import Rooms
from easeml.store.records import Application, Candidate, DatasetVersion, Job, Json

_TRIED_AGAIN = 3  # candidates of the search on the version before
CONFIGURATIONS = 4  # of each model: the default and three more


def make_candidates(
    registry: Registry,
    application: Application,
    job: Job,
    version: DatasetVersion,
    trials: list[Trial],
    before: Sequence[Candidate] = (),
) -> list[Candidate]:
    """Return the arms of ``job`` in a fixed order; ``trials`` (of any tenant) help to predict their costs.

    ``before``: what did best on the version before; it is tried again.
    """
    matches = registry.models_for(version.schema_in, version.schema_out)
    rules = application.rules
    found: list[Candidate] = []
    for match in allowed_models(matches, rules.get("models"), rules.get("exclude") or []):
        model = match.module
        transforms = [{"module": one.name, "config": {}} for one in registry.candidates(model, version.schema_in)]
        for number, config in enumerate(spaces.suggest(model.space, CONFIGURATIONS, seed=0), start=1):
            found.append(make_candidate(job, len(found), model.name, number, transforms, config))
    for one in before:
        same = [other for other in found if other.model == one.model]
        if same and all(other.pipeline != one.pipeline for other in same):
            pipeline = one.pipeline
            config, transforms = pipeline["model"]["config"], pipeline["transforms"]
            found.append(make_candidate(job, len(found), one.model, len(same) + 1, transforms, config))
    return with_costs(registry, found, version, trials)


def best_before(rooms: Rooms, job: Job) -> list[Candidate]:
    """Return the best candidates of the application's search before ``job``, the best first."""
    earlier = rooms.jobs.list(application_id=job.application_id, newest_first=True, after=job.id, limit=1)
    if not earlier:
        return []
    done = rooms.tasks.list(job_id=earlier[0].id, kind="train", state="done", limit=None)
    best = sorted(done, key=lambda task: (-(task.quality or 0.0), task.id))[:_TRIED_AGAIN]
    found = {one.id: one for one in rooms.candidates.list(id=[task.candidate_id for task in best], limit=None)}
    return [found[task.candidate_id] for task in best]


def make_candidate(job: Job, arm: int, model: str, number: int, transforms: Sequence[Json], config: Json) -> Candidate:
    """Return a candidate whose cost is not predicted yet: the ``number``-th configuration of its model, from 1."""
    return Candidate(
        id=new_id("cand"),
        tenant_id=job.tenant_id,
        job_id=job.id,
        arm=arm,
        name=model if number == 1 else f"{model}-{number}",
        model=model,
        pipeline={"transforms": list(transforms), "model": {"module": model, "config": config}},
        predicted_cost=0.0,
    )


def with_costs(
    registry: Registry, candidates: list[Candidate], version: DatasetVersion, trials: list[Trial]
) -> list[Candidate]:
    """Return candidates of one job with the costs that finished tasks of all tenants let expect."""
    rows, columns = size(version)
    predicted = predict_costs(registry, [work_of(registry, one, rows, columns) for one in candidates], trials)
    return [replace(candidate, predicted_cost=cost) for candidate, cost in zip(candidates, predicted, strict=True)]
