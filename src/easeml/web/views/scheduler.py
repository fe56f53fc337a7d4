"""The scheduler: what it does now, every decision of it, and what other policies would have done."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.scheduling import Replay, Step
from easeml.errors import NotReady
from easeml.web import decision_charts, forward, scheduler_charts
from easeml.web.forms import one_of
from easeml.web.page_context import PageContext, signed_in

_SPANS = {"120": "2 minutes", "600": "10 minutes", "3600": "1 hour", "86400": "1 day"}
_LATEST = 8
_SIZES = {"1": "one tenant", "10": "10 tenants"}


@signed_in
async def show(context: PageContext) -> Response:
    """Show devices, queue, tenants, losses and the latest decisions."""
    span = one_of(_SPANS, context.request.query_params.get("span", ""), "600")
    view = await context.client.scheduler(span=float(span))
    latest = await context.client.scheduler_decisions(
        after=max(0, view.decisions - _LATEST), limit=_LATEST
    )
    tones = scheduler_charts.tones(view)
    across = scheduler_charts.time_ticks(float(span))
    return context.render(
        "scheduler.html",
        view=view,
        span=span,
        spans=_SPANS,
        tones=tones,
        lanes=scheduler_charts.lanes(view, tones),
        across=across,
        chart=scheduler_charts.recent_losses(view.losses, view.now),
        latest=latest.items[::-1],
    )


@signed_in
async def show_step(context: PageContext) -> Response:
    """Show one decision with what was believed then; without a number the latest.

    ``alone``: of which search candidates are shown, "" for all.
    """
    asked = context.request.query_params
    count = (await context.client.scheduler(span=10)).decisions
    if not count:
        return context.render("scheduler_step.html", step=None, count=0)
    number = min(max(_number(asked.get("number", ""), count), 1), count)
    view = await context.client.scheduler_decision(number)
    searches = list(map(decision_charts.name_of, view.searches))
    alone = one_of(searches, asked.get("alone", ""))
    rows = decision_charts.rows_of(view, alone, context.site.titles.of)
    return context.render(
        "scheduler_step.html",
        step=view.step,
        count=count,
        searches=searches,
        alone=alone,
        beliefs=decision_charts.beliefs(rows),
        offers=decision_charts.offers(rows),
        lines=decision_charts.device_lines(view),
        moment=decision_charts.moment_of(view),
        others=view.others,
        processes=(await context.client.status()).processes,
        **_pictured(view.step),
    )


@signed_in
async def show_replay(context: PageContext) -> Response:
    """Show what another policy would have done with the tasks that were run."""
    policy = context.request.query_params.get("policy", "default")
    try:
        replay = await context.client.replay(policy=policy)
    except NotReady:
        return context.render("scheduler_replay.html", replay=None)
    return context.render("scheduler_replay.html", **_replayed(context, replay))


@signed_in
async def show_simulator(context: PageContext) -> Response:
    """Let two policies search invented work, of one tenant or of many."""
    asked = context.request.query_params
    size = one_of(_SIZES, asked.get("tenants", ""), "10")
    seed, devices = (
        _number(asked.get("seed", ""), 0),
        min(20, max(1, _number(asked.get("devices", ""), 1))),
    )
    policy = asked.get("policy", "default")
    against = asked.get("against", "random")
    named = {"tenants": int(size), "devices": devices, "seed": seed}
    replay = await context.client.simulate(policy=policy, against=against, **named)
    values = {"sizes": _SIZES, "size": size, "seed": seed, "against": replay.curves[1].name}
    return context.render("scheduler_simulator.html", **values, **_replayed(context, replay))


def _replayed(context: PageContext, replay: Replay) -> dict[str, Any]:
    """Return what the pages of a replay show: the losses, and the step that was asked for."""
    place = _number(context.request.query_params.get("step", ""), 1)
    step = replay.steps[min(max(place, 1), len(replay.steps)) - 1]
    chart = scheduler_charts.spent_losses(replay.curves)
    return {
        "replay": replay,
        "chart": chart,
        "step": step,
        "count": len(replay.steps),
        **_pictured(step),
    }


def _pictured(step: Step | None) -> dict[str, Any]:
    return {"intervals": scheduler_charts.intervals(step) if step else []}


def _number(text: str, otherwise: int) -> int:
    if text.isdecimal() and len(text) < 10:
        return int(text)
    return otherwise


routes = [
    Route("/scheduler", show),
    Route("/scheduler/live", forward.scheduler),
    Route("/scheduler/steps", show_step),
    Route("/scheduler/replay", show_replay),
    Route("/scheduler/simulator", show_simulator),
]
