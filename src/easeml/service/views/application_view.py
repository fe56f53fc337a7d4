"""All that the pages of an application show."""

from contextlib import suppress

from easeml.contract.application_views import (
    ApplicationView,
    JourneyView,
    Leaderboard,
    ServingHistory,
)
from easeml.contract.states import Permission
from easeml.errors import InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.advice import tools
from easeml.service.applications import (
    application_views,
    applications,
    further_measures,
    pareto,
)
from easeml.service.applications.pareto import MaybeAxes
from easeml.service.journey import next_steps, suggested
from easeml.service.knowledge import rules
from easeml.service.models import adapting, gates, label_budgets, pickings, rollouts, watching
from easeml.service.production import request_log
from easeml.service.search import ending, model_limits, progress, summaries
from easeml.store import Store

_BEST_MODELS = 5
_SUGGESTIONS = 20


def get(store: Store, caller: Caller, application_id: str) -> ApplicationView:
    """Return what the first page of an application shows; raises ``NotFound``.

    It is the application, the progress of its newest search and when that is expected to end, its
    best models, the newest answer of each lifecycle tool about it, and its journey.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        shown = application_views.show(tx, caller, application)
        job = shown.job
        searched = None
        ends = None
        if job is not None:
            tasks = summaries.training_tasks(tables, [job.id])
            searched = progress.of_tasks(tables, tasks, application.id)
            ends = ending.of_job(tx, tables, job, tasks)
        models = applications.best_models(tables, application, _BEST_MODELS)
        reports = tools.newest_of_each_tool(tables, application.id)
        answers = tools.show_all(store, reports)
        journey = next_steps.of(store, tables, application, shown, answers)
    return ApplicationView(
        application=shown,
        progress=searched,
        ending=ends,
        models=models,
        reports=answers,
        journey=journey,
    )


def next_view(store: Store, caller: Caller, application_id: str) -> JourneyView:
    """Return an application and its journey: where it stands, and what to do next.

    Raises ``NotFound``.
    """
    shown, journey = next_steps.told(store, caller, application_id)
    earlier = suggested.list_page(store, caller, application_id, limit=_SUGGESTIONS)
    return JourneyView(application=shown, journey=journey, suggested=earlier.items)


def leaderboard(
    store: Store, caller: Caller, application_id: str, axis: MaybeAxes = None
) -> Leaderboard:
    """Return an application and all its trained models, the best first.

    ``axis``: by what they are compared at once; by default the objective and the latency. Raises
    ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        shown = application_views.show(tx, caller, application)
        models = applications.best_models(tables, application)
        breaks = pareto.breaking(tables, application, models)
        compared = None
        with suppress(InvalidInput):  # no model has such a measure yet
            axes = axis or [application.objective, model_limits.LATENCY]
            compared = pareto.of(tx, application, models, axes, breaks)
        measures = further_measures.show(tx, tables, application)
        others = rules.left_out(tx, application)
    shown = shown.model_copy(update={"left_out": others})
    return Leaderboard(
        application=shown, models=models, measures=measures, breaks=breaks, pareto=compared
    )


def history(store: Store, caller: Caller, application_id: str) -> ServingHistory:
    """Return an application and the changes of what it serves, newest first.

    The models that they name come with them. Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        shown = application_views.show(tx, caller, application)
        promotions = applications.newest_promotions(tables, application)
        served = list({promotion.model_id for promotion in promotions})
        models = applications.best_models(tables, application, only=served)
        proven = gates.show(tables, application)
        watch = watching.report_on(store, tables, application)
        looks = watching.looks(store, tables, application)
        debugged = tools.newest(store, tables, application.id, "debug")
        rolled_out = rollouts.show(tables, application)
        picking = pickings.show(tables, application)
        labels = label_budgets.show(tx, application)
        adaptation = adapting.show(tables, application)
        kept = None
        if Permission.CHANGE in caller.may:
            kept = request_log.show(tables, application)
    return ServingHistory(
        application=shown,
        kept=kept,
        gates=proven,
        promotions=promotions,
        models=models,
        watch=watch,
        looks=looks,
        debugged=debugged,
        rollouts=rolled_out,
        picking=picking,
        labels=labels,
        adaptation=adaptation,
    )
