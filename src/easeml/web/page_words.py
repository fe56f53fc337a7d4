"""Advice of the service in words of pages, instead of commands, where a page can do the same.

The words lead to the place. Messages name commands, and are kept with tasks and versions for good:
so the table of places stands here, at the door that words them differently.
"""

import re
from dataclasses import dataclass

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

_ID = r"\w+"
_APPLICATION = re.compile(r"\bapp_\w+")


@dataclass(frozen=True, slots=True)
class Place:
    """What a command is called on the pages, and where that is.

    ``path``: of a page; a dot at its beginning stands for that of the application. Empty: the page
    that is open. ``field``: of the page, where it is open for some data.
    """

    command: str
    words: str
    path: str
    field: str = ""


PLACES = (
    # What follows a type in brackets, or stands in a sentence.
    Place(r"\(--set '?((?:(?! \(--)[^=])+)=(\w+)'?\)", r"(choose \2 as the type of \1)", ""),
    Place(r"\(--keep NAME\)", '(choose "use" in the table of columns)', ""),
    Place(r"\(--forecast STEPS\)", '(New application, "Forecast")', "/new", "#ahead"),
    Place(r"\(--series COLUMN\)", '(New application, "tells series apart")', "/new"),
    Place(r"\(--past-only COLUMN\)", '(New application, "not known ahead")', "/new"),
    Place(r"\(--split '\w+:[^']+'\)", '(New application, "Test rows")', "/new", "#split"),
    Place(
        r"fill_absent=true in the query",
        'tick "Allow absent columns" under "Many rows"',
        "./try#fill-absent",
    ),
    Place(
        r"fill_empty=true in the query",
        'tick "Allow empty cells"',
        "./try#fill-empty",
    ),
    Place(
        rf"easeml app feed {_ID} FILE --anyway",
        'tick "add them anyway" above "Choose a file", and choose it again',
        "./data#broken-rows",
    ),
    Place(
        rf"easeml app feed(?: {_ID} FILE)?(?: --role \w+)?",
        'the tab Data, "Add rows"',
        "./data#drop",
    ),
    Place(
        rf"easeml data doubts {_ID} --look",
        'the tab Data, "Look for doubtful cells"',
        "./data#doubts",
    ),
    Place(rf"easeml data versions {_ID}", 'the tab Data, "Versions"', "./data#versions"),
    Place(
        rf"easeml app gates {_ID}",
        'the tab Release and watch, "What has to be proven before a model serves"',
        "./history#gate",
    ),
    Place(rf"easeml app rollout {_ID} --stop", "the tab Release and watch", "./history#rollout"),
    Place(
        rf"easeml app rollback {_ID} --model \w+", "the tab Release and watch", "./history#history"
    ),
    Place(
        rf"easeml app models {_ID} --measure \S+[^.\s]",
        'the tab Models, "More measures"',
        "./models#measures",
    ),
    Place(rf"easeml app try {_ID} --model \w+", "the tab Models", "./models#models"),
    Place(rf"easeml app restore {_ID}", "the page of what was deleted", "/others"),
    Place(r"easeml job limit \w+ --max-tasks N", 'the tab Overview, "Limits"', ".#limits"),
    Place(
        rf"easeml app log {_ID} --share 1",
        'the tab Release and watch, "Recorded requests"',
        "./history#kept",
    ),
    Place(
        rf"easeml app feedback {_ID} FILE",
        'the tab Release and watch, "Recorded requests"',
        "./history#kept",
    ),
    Place(
        r"easeml data replace ID FILE", 'the tab Data, "Add rows, or replace all"', "./data#drop"
    ),
    Place(r"easeml predict ID FILE", 'the tab Try it, "Many rows"', "./try"),
    Place(r"easeml app delete", 'the tab Settings, "Delete"', "./settings#delete"),
    Place(r"easeml app (?:show|wait)(?: app_\w+)?", "the tab Overview", "."),
    Place(r"easeml key create NAME --scope SCOPE", "the page of your account", "/account"),
    Place(r"easeml user members", "the page People", "/people"),
    Place(r"easeml user tenants", "the page of your account", "/account"),
    Place(r"easeml user list", "the page Administration", "/admin"),
)
_KNOWN = [(re.compile(f"`?{place.command}`?"), place) for place in PLACES]


@pass_context
def in_page_words(context: Context, text: str) -> Markup:
    """Return advice with links to places instead of commands, where there are such places."""
    return worded(text, str(context.get("path", "")))


def worded(text: str, here: str = "") -> Markup:
    """Return advice in words of pages. ``here``: the path of the page that shows it."""
    first = _first(text)
    if first is None:
        return escape(text)
    command, place = first
    link = _link(command, place, here)
    return escape(text[: command.start()]) + link + worded(text[command.end() :], here)


def _first(text: str) -> tuple[re.Match[str], Place] | None:
    """Return the first command of a text, with its place."""
    found = [(pattern.search(text), place) for pattern, place in _KNOWN]
    named = [(command, place) for command, place in found if command]
    return min(named, key=lambda one: one[0].start(), default=None)


def _link(command: re.Match[str], place: Place, here: str) -> Markup:
    """Return the words of a place, as a link where it is known where that is."""
    words = escape(command.expand(place.words))
    address = _address(command, place, here)
    if not address:
        return words
    return Markup('<a href="{}">{}</a>').format(address, words)


def _address(command: re.Match[str], place: Place, here: str) -> str:
    """Return where a place is; empty where nobody knows the application, or it is here."""
    if not place.path.startswith("."):
        is_of_data_here = bool(place.field) and here.startswith(f"{place.path}/")
        return place.field if is_of_data_here else place.path
    application = _APPLICATION.search(f"{command[0]} {here}")
    if application is None:
        return ""
    return f"/applications/{application[0]}{place.path[1:]}"
