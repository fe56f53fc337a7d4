"""The application that somebody means: by its id, or by a name that no other has."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import typer

from easeml.errors import InvalidInput, NotAllowed, NotFound

if TYPE_CHECKING:  # most commands that take an application are about files as well
    from easeml.client import Client
    from easeml.contract.applications import Application

_ID = re.compile(r"[a-z]+_[0-9a-z]{20}")
_MOST_TOLD = 10

Callback = Callable[[typer.Context, str | None], str | None]
"""What typer calls with the value of an argument or option, to put another in its place."""


def application_or(*kinds: str) -> Callback:
    """Return the callback of an argument that is an application, or the id of something else.

    ``kinds``: how ids of the other things begin. The command gets an id.
    """
    others = tuple(f"{kind}_" for kind in kinds)

    def resolve(context: typer.Context, said: str | None) -> str | None:
        if not said or context.resilient_parsing or said.startswith(others):
            return said
        return asked_for(said)

    return resolve


def asked_for(said: str) -> str:
    """Return the id of the application that is called so, as the service knows it."""
    from easeml.client import Client

    with Client() as client:
        return application_id(client, said)


def application_id(client: Client, said: str) -> str:
    """Return the id of the application that is called so. An id is not asked about.

    Raises ``NotFound`` where none is called so, ``InvalidInput`` where several are, and
    ``NotAllowed`` for a key that may not look.
    """
    if _ID.fullmatch(said):
        return said
    try:
        there = list(client.applications())
    except NotAllowed as error:  # a key that may only predict
        remedy = f"Say the id of the application: '{said}' is looked up by its name."
        raise NotAllowed(error.message, remedy=remedy, where=error.where) from error
    return id_among(there, said)


def id_among(there: Sequence[Application], said: str) -> str:
    """Return the id of the one among applications whose id or name this is. Raises as above."""
    meant = [one.id for one in there if said in (one.id, one.name)]
    if not meant:
        raise NotFound(f"There is no application '{said}'.", remedy=_known(there, said))
    if len(meant) > 1:
        raise InvalidInput(
            f"{len(meant)} applications are called '{said}'.",
            remedy=f"Say which by its id: {', '.join(meant)}.",
        )
    return meant[0]


def _known(there: Sequence[Application], said: str) -> str:
    """Return which applications could be meant, or, where none is like it, which there are."""
    close = get_close_matches(said, list(map(_name, there)))
    alike = list(filter(lambda one: one.name in close, there))
    if alike:
        return f"Did you mean {' or '.join(map(_title, alike))}?"
    titles = sorted(map(_title, there))[:_MOST_TOLD]
    if not titles:
        return "There is none yet. Make one: easeml app create FILE."
    return f"There are: {', '.join(titles)}. All: easeml app list."


def _name(one: Application) -> str:
    return one.name


def _title(one: Application) -> str:
    return f"{one.name} ({one.id})"
