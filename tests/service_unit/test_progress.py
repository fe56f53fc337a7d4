"""The progress of a job: thinned, but with everything that changed something."""

import random

import pytest

from easeml.errors import NotFound
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.search import progress
from easeml.store import Store
from easeml.store.records import Candidate, Job, Task
from easeml.store.shapes import CandidatePipeline, ModuleConfig


def search(store: Store, tenant_id: str, qualities: list[float]) -> str:
    """Write a job whose tasks ended in this order, each after a device second; return its id."""
    owner = {"tenant_id": tenant_id}
    with store.write() as tx:
        tables = tx.scoped(tenant_id)
        job = tables.jobs.add(
            Job(new_id("job"), application_id="app_1", version_id="ver_1", **owner)
        )
        made = {
            "job_id": job.id,
            "arm": 0,
            "name": "tree",
            "model": "tree",
            "pipeline": CandidatePipeline([], ModuleConfig("tree")),
            "predicted_cost": 1.0,
        }
        candidate = tables.candidates.add(Candidate(new_id("cand"), **made, **owner))
        for number, quality in enumerate(qualities):
            what = {
                "kind": "train",
                "lane": "search",
                "payload": {},
                "state": "done",
                "job_id": job.id,
            }
            ended = {"quality": quality, "cost": 1.0, "finished": float(number)}
            tables.tasks.add(
                Task(new_id("task"), candidate_id=candidate.id, **what, **ended, **owner)
            )
    return job.id


def test_a_long_search_is_thinned_but_keeps_what_matters(store: Store, ann: Caller) -> None:
    noise = random.Random(0)
    qualities = [noise.random() for _ in range(500)]
    found = progress.get(store, ann, search(store, ann.tenant_id, qualities), points=50)
    assert found.tasks == 500
    assert found.cost == pytest.approx(500.0)
    assert len(found.points) < 80
    best = max(found.points, key=lambda point: point.quality)
    assert best.quality == max(qualities)
    assert best.better
    better = [point.quality for point in found.points if point.better]
    assert better == sorted({q for n, q in enumerate(qualities) if q >= max(qualities[: n + 1])})
    assert best.spent == pytest.approx(qualities.index(best.quality) + 1)


def test_a_search_without_results_has_no_points(store: Store, ann: Caller) -> None:
    found = progress.get(store, ann, search(store, ann.tenant_id, []), points=50)
    assert (found.points, found.tasks, found.cost) == ([], 0, 0.0)


def test_other_tenants_have_no_progress_to_see(store: Store, ann: Caller, bob: Caller) -> None:
    job_id = search(store, ann.tenant_id, [0.5])
    with pytest.raises(NotFound):
        progress.get(store, bob, job_id, points=50)
