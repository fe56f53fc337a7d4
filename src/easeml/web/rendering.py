"""Templates: Jinja with everything escaped, and filters that say numbers and times as people do."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request

from easeml import figures
from easeml.contract import notification_texts
from easeml.contract.accounts import User
from easeml.contract.states import MemberRole, Role
from easeml.web import charts, formatting
from easeml.web.forms import one_of
from easeml.web.permissions import at_home, entry

STATIC = Path(__file__).parent / "static"
MENU = (
    ("Applications", "/applications"),
    ("Tasks", "/tasks"),
    ("Scheduler", "/scheduler"),
    ("Knowledge base", "/knowledge"),
)
PROVIDER_MENU = (*MENU, ("Administration", "/admin"))
VIEWER_MENU = tuple(entry for entry in MENU if entry[1] != "/scheduler")
WORK_MENU = (("Work", "/work"),)
LOOKING_MENU = (MENU[0], *WORK_MENU)  # of those whom others let look at an application
_SMALLER_MENUS = {  # by member and whether they look: of people who would be refused the rest
    (MemberRole.LABELLER, False): WORK_MENU,
    (MemberRole.LABELLER, True): LOOKING_MENU,
    (MemberRole.GUEST, False): WORK_MENU,
    (MemberRole.GUEST, True): LOOKING_MENU,
    (MemberRole.VIEWER, True): VIEWER_MENU,
}
_THEMES = ("light", "dark")


@cache
def static_path() -> str:
    """Return the path of the static files.

    It holds their digest, so that browsers may keep them for ever.
    """
    digest = hashlib.sha256()
    for folder in (STATIC, figures.STATIC):
        for file in sorted(folder.rglob("*.*")):
            digest.update(file.read_bytes())
    return f"/static/{digest.hexdigest()[:12]}"


@cache
def environment() -> Environment:
    """Return the templates with their filters."""
    environment = Environment(
        loader=PackageLoader("easeml.web"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(formatting.FILTERS)
    environment.filters.update(entry=entry, figure=_figure, graph=_graph)
    environment.filters.update(small=_small, histogram=_histogram)
    environment.globals.update(static=static_path(), figure_style=_figure_style)
    return environment


def render(request: Request, template: str, **values: Any) -> str:
    """Return the HTML of a template; ``request`` tells the theme and the current entry of the menu.

    ``user``, where there is one, tells which menu they get, and what they may do in their tenant:
    ``home``. Templates call candidates by
    ``called(name)``.
    """
    user = values.get("user")
    shared = {
        "menu": _menu(request, user),
        "home": at_home(user),
        "theme": one_of(_THEMES, request.cookies.get("theme", "")),
        "path": request.url.path,
        "user": None,
        "csrf": "",
        **_calling(request),
    }
    return environment().get_template(template).render({**shared, **values})


def _calling(request: Request) -> dict[str, Callable[..., str]]:
    """Return what calls modules by their titles, as far as the site knows them."""
    site = getattr(request.app.state, "site", None)
    if site is None:
        return {"called": str, "told": partial(_told, str), "sentence": _as_it_is}
    titles = site.titles
    return {
        "called": titles.of,
        "told": partial(_told, titles.of),
        "sentence": titles.in_sentence,
    }


def _told(called: Callable[[str], str], kind: str, data: dict[str, Any]) -> str:
    """Return what a notification says, with models by their titles."""
    return notification_texts.sentence(kind, data, called)


def _as_it_is(sentence: str, *names: str) -> str:
    return sentence


def _menu(request: Request, user: User | None) -> tuple[tuple[str, str], ...]:
    """Return the entries of the menu: titles with addresses."""
    if user is None:
        return ()
    smaller = _SMALLER_MENUS.get((user.member, user.looks))
    if smaller is not None:
        return smaller
    menu = PROVIDER_MENU if user.role == Role.PROVIDER else MENU
    return (*menu, *getattr(request.app.state, "menu", ()))


def _figure(figure: figures.Figure, id: str) -> Markup:
    """Return the element of a figure; ``id`` keeps its place when the page changes."""
    return Markup(figures.element(figure, id))  # noqa: S704


def _graph(boxes: Mapping[str, figures.Box], title: str) -> Markup:
    """Return the picture of a graph."""
    return Markup(figures.graph_element(boxes, title))  # noqa: S704


def _figure_style() -> Markup:
    """Return the style of figures, for a page that is kept as a file."""
    return Markup(figures.style())  # noqa: S704


def _small(figure: figures.Figure, label: str, css: str) -> Markup:
    """Return the marks of a figure as a small picture."""
    return Markup(figures.small_plot(figure, label, css))  # noqa: S704


def _histogram(found: dict[str, Any]) -> Markup:
    """Return the small histogram of a column's numbers."""
    label = (
        f"Histogram from {formatting.number(found['low'])} to {formatting.number(found['high'])}"
    )
    figure = charts.histogram_figure(found["low"], found["high"], found["counts"])
    return _small(figure, label, "histogram")
