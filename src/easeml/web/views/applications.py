"""All applications of the tenant, a card each."""

from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from easeml.contract.resources import Application, Job
from easeml.contract.states import ApplicationState
from easeml.figures import Figure
from easeml.web import charts
from easeml.web.page_context import PageContext, signed_in

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
        return self.job.best_quality if self.job else None

    @property
    def move(self) -> float | None:
        """The last gain of best quality."""
        found = self.job.improvements if self.job else []
        return found[-1].quality - found[-2].quality if len(found) > 1 else None

    @property
    def moved(self) -> float | None:
        """When best quality was last raised."""
        return self.job.improvements[-1].finished if self.job and self.job.improvements else None


@signed_in
async def show(context: PageContext) -> Response:
    """Show the cards that the filter lets through, in the wanted order."""
    asked = context.request.query_params
    word, state = asked.get("word", "").strip(), asked.get("state", "")
    sort = asked.get("sort", "") if asked.get("sort") in _SORTS else "newest"
    found = [application async for application in context.client.applications()]
    cards = [_card(one) for one in found if _matches(one, word.lower(), state)]
    values = {
        "cards": _ordered(cards, sort),
        "count": len(found),
        "word": word,
        "state": state,
        "sort": sort,
    }
    return context.render("applications.html", **values, states=ApplicationState, sorts=_SORTS)


@signed_in
async def first_page(context: PageContext) -> Response:
    """Go to the applications."""
    return RedirectResponse("/applications", 303)


def _card(application: Application) -> Card:
    job = application.job
    return Card(application, charts.spark_figure(job.improvements, job.cost) if job else None)


def _matches(application: Application, word: str, state: str) -> bool:
    texts = (application.name, application.target, application.objective)
    return (not state or application.state == state) and any(word in text.lower() for text in texts)


def _ordered(cards: list[Card], sort: str) -> list[Card]:
    if sort == "name":
        return sorted(cards, key=lambda card: card.application.name.lower())
    if sort == "quality":
        return sorted(
            cards, key=lambda card: -1.0 if card.quality is None else card.quality, reverse=True
        )
    if sort == "cost":
        return sorted(cards, key=lambda card: card.job.cost if card.job else 0.0, reverse=True)
    return cards[::-1]


routes = [Route("/", first_page), Route("/applications", show)]
