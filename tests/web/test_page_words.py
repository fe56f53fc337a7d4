"""Every command that a message names exists; every place that pages name instead opens."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from starlette.applications import Starlette
from starlette.routing import Match

import easeml
from easeml.cli.main import app
from easeml.web import create_pages
from easeml.web.page_words import PLACES, Place, worded
from easeml.web.rendering import environment

SOURCE = Path(easeml.__file__).parent
HERE = "/applications/app_1/settings"
TEMPLATES = {
    "/new": "new.html",
    "/others": "others.html",
    "/account": "account.html",
    "/people": "people.html",
}
TEMPLATES |= {"/admin": "admin.html", "/applications/app_1": "application.html"}


def messages() -> Iterator[str]:
    """All texts in the source but docstrings; what is put in stands as ``app_1``."""
    for file in sorted(SOURCE.rglob("*.py")):
        if file.name == "page_words.py":
            continue
        parts = set[int]()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):  # a whole before its parts
            parts |= {id(part) for part in _parts(node)}
            if isinstance(node, ast.JoinedStr):
                yield "".join(map(_text, node.values))
            elif isinstance(node, ast.Constant) and id(node) not in parts:
                yield str(node.value)


def _parts(node: ast.AST) -> list[ast.expr]:
    """What is no message of its own: pieces of one, and docstrings."""
    if isinstance(node, ast.JoinedStr):
        return node.values
    if isinstance(node, ast.Expr):
        return [node.value]
    return []


def _text(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "app_1"


@pytest.fixture(scope="module")
def told() -> list[str]:
    """Messages that may name a command, read once, and only where these tests run."""
    return sorted({one for one in messages() if "easeml " in one or "--" in one or "query" in one})


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words begin with, and the words that follow; None: they are prose."""
    command: Any = typer.main.get_command(app)
    if not words or words[0] not in command.commands:
        return None, words
    while words and hasattr(command, "commands"):
        if words[0] not in command.commands:
            return f"easeml {command.name} has no command {words[0]}", words
        command, words = command.commands[words[0]], words[1:]
    return command, words


def test_every_command_that_a_message_names_exists_with_its_flags(told: list[str]) -> None:
    named = {found for one in told for found in re.findall(r"easeml ([a-z][^.,;:()`'\n]*)", one)}
    wrong = []
    checked = 0
    for name in sorted(named):
        command, rest = command_of(name.split())
        if isinstance(command, str):
            wrong.append(command)
        elif command is not None:
            checked += 1
            flags = {flag for one in command.params for flag in [*one.opts, *one.secondary_opts]}
            asked = {word for word in rest if word.startswith("--")}
            wrong += [f"easeml {name}: {flag}" for flag in asked - flags]
    assert wrong == []
    assert checked > 60


@pytest.fixture(scope="module")
def pages() -> Starlette:
    nothing: Any = None
    return create_pages(nothing)


@pytest.mark.parametrize("place", PLACES, ids=[place.words for place in PLACES])
def test_every_place_is_told_somewhere_and_can_be_opened(
    pages: Starlette, told: list[str], place: Place
) -> None:
    naming = [one for one in told if re.search(place.command, one)]
    assert naming, "no message names this command any more"
    for message in naming:
        shown = worded(message, HERE)
        assert not re.search(place.command, shown), shown
        links = re.findall(r'<a href="([^"]+)">', shown)
        assert links or not place.path, shown
        for link in links:
            _check(pages, link)


def _check(pages: Starlette, link: str) -> None:
    """Check that a page has this address, and a part of it the name behind the sharp."""
    path, _, part = link.partition("#")
    scope = {"type": "http", "method": "GET", "path": path, "root_path": ""}
    assert any(one.matches(scope)[0] == Match.FULL for one in pages.routes), link
    template = TEMPLATES.get(path) or f"application_{path.rpartition('/')[2]}.html"
    source, *_ = environment().loader.get_source(environment(), template)  # type: ignore[union-attr]
    assert not part or f'id="{part}"' in source, link


@pytest.mark.parametrize(
    ("text", "here", "shown"),
    [
        (
            "Wait: easeml app wait app_2",
            "",
            'Wait: <a href="/applications/app_2">the tab Overview</a>',
        ),
        (
            "Look: `easeml data versions app_2`.",
            "/tasks",
            'Look: <a href="/applications/app_2/data#versions">the tab Data, &#34;Versions&#34;</a>.',
        ),
        (
            "easeml job limit ID --max-tasks N",
            "/applications/app_1/next",
            '<a href="/applications/app_1#limits">the tab Overview, &#34;Limits&#34;</a>',
        ),
        (
            "<b> & easeml user list",
            "",
            '&lt;b&gt; &amp; <a href="/admin">the page Administration</a>',
        ),
        (
            "Correct it (see below), or (--set 'Length (mm)=text').",
            "",
            "Correct it (see below), or (choose text as the type of Length (mm)).",
        ),
        (
            "Test on others (--split 'group:Country').",
            "/new/data_1",
            'Test on others <a href="#split">(New application, &#34;Test rows&#34;)</a>.',
        ),
        (
            "Test on others (--split 'group:Country').",
            HERE,
            'Test on others <a href="/new">(New application, &#34;Test rows&#34;)</a>.',
        ),
        ("Nothing to do.", HERE, "Nothing to do."),
    ],
)
def test_words_lead_where_it_is_known_where_that_is(text: str, here: str, shown: str) -> None:
    assert worded(text, here) == shown
