"""The scheduler, step by step: each decision about the tenant's searches, and what it was weighed against."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.resources import Application, Job
from easeml.web.visit import Visit, signed_in

_RECENT = 25


@signed_in
async def overview(visit: Visit) -> Response:
    """Show what runs, what waits, and the newest decisions."""
    running = await visit.client.newest_tasks(state="running", kind="train")
    waiting = await visit.client.newest_tasks(state="waiting", kind="train")
    decisions = await visit.client.newest_decisions(limit=_RECENT, after=visit.request.query_params.get("after"))
    applications = [one async for one in visit.client.applications()]
    searches: list[tuple[Application, Job]] = [(one, one.job) for one in applications if one.job]
    name = {one.job.id: one.name for one in applications if one.job}
    values = {"running": running.items, "waiting": waiting.items, "searches": searches, "names": name}
    return visit.render("scheduler.html", **values, decisions=decisions)


@signed_in
async def step(visit: Visit) -> Response:
    """Show one decision: the candidates it compared, with their scores; what came of it; and the steps beside it."""
    decision = await visit.client.decision(visit.path("decision"))
    task = await visit.client.task(decision.task_id)
    older = await visit.client.newest_decisions(job_id=decision.job_id, after=decision.id, limit=1)
    newer = await anext(visit.client.decisions(job_id=decision.job_id, after=decision.id), None)
    job = await visit.client.job(decision.job_id)
    application = await visit.client.application(job.application_id)
    values = {"older": older.items[0] if older.items else None, "newer": newer, "application": application}
    top = decision.explanation.get("top", [])
    return visit.render("decision.html", decision=decision, task=task, bars=_bars(top), **values)


def _bars(top: list[dict[str, Any]]) -> list[tuple[dict[str, Any], float]]:
    """Return candidates with the length of their score's bar, in percent of the highest."""
    scores = [max(0.0, one["score"]) for one in top]
    highest = max(scores, default=0.0) or 1.0
    return [(one, 100 * score / highest) for one, score in zip(top, scores, strict=True)]


routes = [Route("/scheduler", overview), Route("/scheduler/{decision}", step)]
