"""A new application: bring a file, confirm what easeml saw, start."""

import hashlib
import math
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from easeml.client import made_request
from easeml.contract.applications import Declaration, Proposal
from easeml.contract.datasets import Column, Dataset, Version, most_telling, notes_beside
from easeml.contract.journey import asked_of_goal, is_judged
from easeml.contract.measures import called
from easeml.contract.sources import NewOrigin
from easeml.contract.states import VersionState
from easeml.contract.task_views import Task
from easeml.errors import EasemlError, InvalidInput
from easeml.goals import Goal, read_goal
from easeml.web.forms import positive_number, typed_number
from easeml.web.page_context import PageContext, back_to, signed_in, status_of
from easeml.web.report_parts import ShownReport, shown
from easeml.web.views.constraining import Setting, settings
from easeml.web.views.costing import cost_table, is_cost
from easeml.web.views.declaring import Wishes, has_times, splits
from easeml.web.views.suspects import suspects

_SAMPLES = Path(__file__).parents[1] / "samples"
_ABOUT = {
    "wine": "178 wines, 13 measurements: which of three cultivars?",
    "diabetes": "442 patients, 10 measurements: how far does the disease progress?",
}
_TYPES = ("number", "category", "text", "timestamp", "labels")
_MOST_COLUMNS = 200  # shown; others are declared as proposed, or by the command line
_UNFINISHED = 5
_SIDES = {"rmse": "<="}  # of goals of which less is better


@signed_in
async def bring(context: PageContext) -> Response:
    """Ask for a file, offer samples and uploads that nothing was made of yet."""
    unused = await context.client.unused_datasets(limit=_UNFINISHED)
    return context.render("new.html", samples=_ABOUT, unfinished=unused.items)


@signed_in
async def use_sample(context: PageContext) -> Response:
    """Upload one of the sample tables."""
    name = str((await context.form()).get("sample", ""))
    if name not in _ABOUT:
        raise InvalidInput(f"There is no sample {name!r}.", where="sample")
    dataset = await context.client.upload(_SAMPLES / f"{name}.csv")
    return back_to(f"/new/{dataset.id}")


@signed_in
async def fetch(context: PageContext) -> Response:
    """Have data fetched from elsewhere."""
    form = await context.form()
    wish = made_request(
        NewOrigin,
        address=str(form.get("address", "")),
        query=str(form.get("query", "")),
    )
    dataset = await context.client.add_origin(wish)
    return back_to(f"/new/{dataset.id}")


@signed_in
async def read_table(context: PageContext) -> Response:
    """Read another table of the file."""
    number = str((await context.form()).get("table", "")).strip()
    if not number.isdecimal():
        remedy = "It is in the note above: 2 is the second."
        raise InvalidInput("The table is told by its number.", where="table", remedy=remedy)
    dataset = await context.client.read_table(context.path("dataset"), table=int(number))
    return back_to(f"/new/{dataset.id}")


@signed_in
async def review(context: PageContext) -> Response:
    """Show what easeml saw, and what was changed of it, till it is right."""
    dataset = await context.client.dataset(context.path("dataset"))
    version = dataset.version
    if version.state != VersionState.READY:
        return context.render("new_reading.html", dataset=dataset)
    wishes = Wishes.read(context.request.query_params.multi_items(), version)
    if wishes.query() != context.request.url.query:  # a form was sent: one address for each state
        return RedirectResponse(_address(context.request, wishes), 303)
    return await _show(context, dataset, wishes)


@signed_in
async def review_again(context: PageContext) -> Response:
    """Show the page where the address of one of its forms is asked for: a page looks anew."""
    place = f"/new/{context.path('dataset')}"
    wishes = context.request.url.query
    return back_to(f"{place}?{wishes}")


@signed_in
async def start(context: PageContext) -> Response:
    """Declare the application."""
    form = await context.form()
    dataset = await context.client.dataset(context.path("dataset"))
    version = dataset.version
    wishes = Wishes.read(context.request.query_params.multi_items(), version)
    name = str(form.get("name", "")).strip() or dataset.name
    rest = {"max_seconds": _limit(str(form.get("minutes", "")))}
    made = []
    for one in wishes.declarations(version, name):
        named = one.name or name
        wish = made_request(Declaration, **{**one.model_dump(), **rest, "name": named})
        made.append(await _started(context, wish, wishes.goal, str(form.get("csrf"))))
    return back_to("/applications" if len(made) > 1 else f"/applications/{made[0]}")


async def _started(context: PageContext, wish: Declaration, goal: str, csrf: str) -> str:
    """Start an application with its goal, if there is one; return its id."""
    once = hashlib.sha256(f"{csrf} {wish.model_dump_json()}".encode()).hexdigest()
    application = await context.client.create_application(wish, idempotency_key=once)
    if goal:
        text = await _goal_text(context, wish, goal)
        await context.client.set_goal(application.id, text)
    return application.id


async def _goal_text(context: PageContext, declaration: Declaration, value: str) -> str:
    """Return the goal that was asked about before the start, with its objective."""
    if math.isnan(_bare(value)):
        return value
    return _written(await _judged_objective(context, declaration), value)


def _written(objective: str, value: str) -> str:
    """Return a goal as it is written: on the side of an objective that is wanted."""
    return f"{objective} {_SIDES.get(objective, '>=')} {value}"


async def _judged_objective(context: PageContext, declaration: Declaration) -> str:
    return _judged(await context.client.propose(declaration))


def _judged(proposal: Proposal) -> str:
    """Return the objective that a goal is of: the chosen one, where feasibility can judge it.

    Else it is the accuracy of classes, or the R2 of numbers; none of rows with several labels.
    """
    chosen = next((one.name for one in proposal.objectives if one.default), "")
    if is_judged(chosen):
        return chosen
    names = list(map(attrgetter("name"), proposal.objectives))
    usual = [one for one in ("accuracy", "r2") if one in names]
    return next(iter(usual), "")


@signed_in
async def ask(context: PageContext) -> Response:
    """Ask whether a goal can be reached, before anything is started."""
    form = await context.form()
    version = (await context.client.dataset(context.path("dataset"))).version
    wishes = Wishes.read(context.request.query_params.multi_items(), version)
    text = str(form.get("goal", "")).strip()
    declaration = wishes.declaration(version)
    proposal = await context.client.propose(declaration)
    try:
        goal = _goal(proposal, text)
    except InvalidInput as wrong:
        dataset = await context.client.dataset(context.path("dataset"))
        return await _show(context, dataset, wishes, text, wrong)
    parameters = asked_of_goal(goal.objective, goal.value)
    task = await context.client.ask_tool_before_start(declaration, "feasibility", **parameters)
    asked = replace(wishes, goal=text, asked=task.id)
    return back_to(f"/new/{context.path('dataset')}?{asked.query()}#realistic")


async def _show(
    context: PageContext,
    dataset: Dataset,
    wishes: Wishes,
    typed_goal: str = "",
    wrong_goal: InvalidInput | None = None,
) -> Response:
    """Show the page; ``typed_goal`` stays in its field, and ``wrong_goal`` says what is wrong."""
    version = dataset.version
    proposal, problem = await _proposed(context, version, wishes)
    columns = _columns(version, proposal)
    question, answer = await _asked(context, version, wishes)
    values = {
        "dataset": dataset,
        "goal": typed_goal or wishes.goal,
        "wrong_goal": wrong_goal,
        "notes": notes_beside(version, wishes.target) + (proposal.notes if proposal else []),
        "proposal": proposal,
        "problem": problem,
        "wishes": wishes,
        "target": _target(wishes, version),
        "targets": wishes.targets(version),
        "changes": wishes.changes(version),
        "query": wishes.query(),
        "suspects": suspects(version, proposal, wishes),
        "columns": columns,
        "hidden": max(0, len(version.columns) - _MOST_COLUMNS),
        "types": _TYPES,
        "splits": splits(version),
        "has_times": has_times(version),
        "settings": _settings(proposal),
        "asked": dict(wishes.constrain),
        "kept": set(wishes.constrain),
        "followed": _followed(columns, proposal),
        "cost_table": cost_table(proposal),
        "is_cost": is_cost,
        "judged": called(_judged(proposal)) if proposal else "",
        "question": question,
        "answer": answer,
    }
    return context.render("new_review.html", status_of(wrong_goal), **values)


async def _proposed(
    context: PageContext, version: Version, wishes: Wishes
) -> tuple[Proposal | None, EasemlError | None]:
    """Return what easeml proposes for a target, or why it cannot; neither without a target."""
    if not _target(wishes, version):
        return None, None
    try:
        proposal = await context.client.propose(wishes.declaration(version))
        for one in wishes.declarations(version, "data")[1:]:
            await context.client.propose(one)
        return proposal, None
    except EasemlError as error:
        return None, error


async def _asked(
    context: PageContext, version: Version, wishes: Wishes
) -> tuple[Task | None, ShownReport | None]:
    """Return the task that was asked whether the goal can be reached, and its answer, if any."""
    if not wishes.asked:
        return None, None
    task = await context.client.task(wishes.asked)
    async for report in context.client.version_reports(version.id):
        if report.task_id == task.id:
            return task, shown(context.site.titles, report)
    return task, None


def _columns(version: Version, proposal: Proposal | None) -> list[Column]:
    """Return the columns as they would be declared; as uploaded while they cannot be."""
    uploaded = most_telling(version.columns, _MOST_COLUMNS)
    if proposal is None:
        return uploaded
    declared = {column.name: column for column in proposal.columns}
    return [declared.get(column.name, column) for column in uploaded]


def _followed(columns: list[Column], proposal: Proposal | None) -> list[tuple[int, Column]]:
    """Return the columns that a prediction can follow, with their positions: inputs of numbers.

    None where the target is neither a number nor one of two classes.
    """
    if proposal is None or len(proposal.labels) not in (0, 2):
        return []
    found = []
    for position, column in enumerate(columns):
        if (column.role, column.type) == ("input", "number"):
            found.append((position, column))
    return found


def _settings(proposal: Proposal | None) -> dict[str, list[Setting]]:
    """Return what can be constrained of each model that fits."""
    if proposal is None:
        return {}
    return {one.name: settings(one.space) for one in proposal.models if one.fits}


def _target(wishes: Wishes, version: Version) -> str:
    return wishes.target or version.summary.get("target") or ""


def _limit(minutes: str) -> float | None:
    """Return seconds. Raises InvalidInput for what is no positive number of minutes."""
    problem = InvalidInput("The limit must be a positive number of minutes.", where="minutes")
    return positive_number(minutes, problem, unit=60)


def _bare(text: str) -> float:
    """Return the number that a goal is; NaN of one that says more."""
    return typed_number(text.removesuffix("%"))


def _goal(proposal: Proposal, text: str) -> Goal:
    """Return a goal. Raises InvalidInput for what is none, or does not fit the target."""
    objective = _judged(proposal)
    number = _bare(text)
    if math.isnan(number):
        goal = read_goal(text).of(objective)
        _check_fits(goal, proposal)
        return goal
    goal = number / 100 if text.endswith("%") else number
    if goal > 1 and objective not in _SIDES:
        remedy = "The best is 1: write 0.9 or 90 %."
        raise InvalidInput(f"{text!r} is beyond the best there is.", where="goal", remedy=remedy)
    return Goal(objective, goal, text)


def _check_fits(goal: Goal, proposal: Proposal) -> None:
    """Raise InvalidInput for a goal of an objective that does not fit the target."""
    names = list(map(attrgetter("name"), proposal.objectives))
    if goal.objective not in names:
        raise InvalidInput(
            f"{goal.objective!r} does not fit the target.",
            where="goal",
            remedy=f"These do: {', '.join(names)}.",
        )


def _address(request: Request, wishes: Wishes) -> str:
    """Return the address of the page with the wishes of its visitor."""
    query = wishes.query()
    if not query:
        return request.url.path
    return f"{request.url.path}?{query}"


routes = [
    Route("/new", bring),
    Route("/new/sample", use_sample, methods=["POST"]),
    Route("/new/origin", fetch, methods=["POST"]),
    Route("/new/{dataset}", review),
    Route("/new/{dataset}", start, methods=["POST"]),
    Route("/new/{dataset}/question", review_again),
    Route("/new/{dataset}/question", ask, methods=["POST"]),
    Route("/new/{dataset}/table", review_again),
    Route("/new/{dataset}/table", read_table, methods=["POST"]),
]
