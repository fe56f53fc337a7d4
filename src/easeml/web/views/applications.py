"""All applications of the tenant, a card each."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from easeml.contract.applications import Application
from easeml.contract.jobs import Improvement, Job
from easeml.contract.states import ApplicationState
from easeml.figures import Figure
from easeml.web import charts
from easeml.web.forms import one_of
from easeml.web.page_context import PageContext, listed, signed_in
from easeml.web.permissions import at_home

_SORTS = {
    "newest": "newest first",
    "name": "by name",
    "quality": "best quality first",
    "cost": "most expensive first",
}


@dataclass(frozen=True, slots=True)
class Card:
    """An application as the list shows it."""

    application: Application
    spark: Figure | None

    @property
    def job(self) -> Job | None:
        return self.application.job

    @property
    def quality(self) -> float | None:
        if self.job is None:
            return None
        return self.job.best_quality

    @property
    def cost(self) -> float:
        if self.job is None:
            return 0.0
        return self.job.cost

    @property
    def improvements(self) -> Sequence[Improvement]:
        if self.job is None:
            return ()
        return self.job.improvements

    @property
    def move(self) -> float | None:
        """The last gain of best quality."""
        if len(self.improvements) < 2:
            return None
        before, last = self.improvements[-2:]
        return last.quality - before.quality

    @property
    def moved(self) -> float | None:
        """When best quality was last raised."""
        if not self.improvements:
            return None
        return self.improvements[-1].finished


@signed_in
async def show(context: PageContext) -> Response:
    """Show the cards that the filter lets through, in the wanted order."""
    asked = context.request.query_params
    word = asked.get("word", "").strip()
    state = asked.get("state", "")
    sort = one_of(_SORTS, asked.get("sort", ""), "newest")
    found = await _of_tenant(context)
    # Who has some of their own finds the others by a link; one call is enough then.
    shared = [] if found else (await context.client.shared()).items
    matching = [one for one in found if _matches(one, word.lower(), state)]
    cards = list(map(_card, matching))
    values = {
        "cards": _ordered(cards, sort),
        "count": len(found),
        "shared": shared,
        "word": word,
        "state": state,
        "sort": sort,
    }
    return context.render("applications.html", **values, states=ApplicationState, sorts=_SORTS)


@signed_in
async def first_page(context: PageContext) -> Response:
    """Go to the applications, or to the work of people who only label."""
    first = "/applications" if context.user.looks else "/work"
    return RedirectResponse(first, 303)


async def _of_tenant(context: PageContext) -> list[Application]:
    """Return the applications of the visitor's tenant; none to who looks only at what is shared.

    Raises ``NotAllowed`` for who may look at nothing.
    """
    only_shared = context.user.looks and not at_home(context.user).look
    if only_shared:
        return []
    return await listed(context.client.applications())


def _card(application: Application) -> Card:
    job = application.job
    if job is None:
        return Card(application, None)
    return Card(application, charts.spark_figure(job.improvements, job.cost))


def _matches(application: Application, word: str, state: str) -> bool:
    if state not in ("", application.state):
        return False
    texts = (application.name, application.target, application.objective)
    return any(word in text.lower() for text in texts)


def _ordered(cards: list[Card], sort: str) -> list[Card]:
    if sort == "newest":
        return cards[::-1]
    return sorted(cards, key=_KEYS[sort], reverse=sort != "name")


def _name(card: Card) -> str:
    return card.application.name.lower()


def _quality(card: Card) -> float:
    """Return what sorts cards by quality: those without any come last."""
    if card.quality is None:
        return -1.0
    return card.quality


_KEYS = {"name": _name, "quality": _quality, "cost": attrgetter("cost")}


routes = [Route("/", first_page), Route("/applications", show)]
