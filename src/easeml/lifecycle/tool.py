"""The contract of a lifecycle tool: described once, used by commands, tasks, pages and notebooks.

A tool is pure: it is opened with a configuration, asked with facts, and answers with values and the
state to ask it with again. It reads no file and knows no clock; whoever uses it brings the facts.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter, ValidationError

from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from easeml.figures import Figure

Fact = Literal["inputs", "answers", "predict", "quality"]
"""What a tool may need.

``inputs``: a frame of typed columns, a row a sample. ``answers``: the column to predict, of
categories or numbers, in the same order. ``predict``: the model in question, a function of a frame
like ``inputs``. ``quality``: a function of answers and of what ``predict`` returned for them; 1 is
best.
"""

Rows = Literal["known", "validation"]
"""The rows of an application that a tool sees: those that models learn from and are chosen by, or
the latter alone. Test rows are for the ledger.
"""

PACKAGE = "easeml.lifecycle.tools"


@dataclass(frozen=True, slots=True)
class Number:
    """A number of an answer, with the interval that is claimed for it; None: none is claimed."""

    name: str
    title: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of an answer: each row has a cell, a text or a number, for each of ``columns``."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool found.

    ``advice``: in a sentence or two, what was found and what to do next. ``assumes``: what has to
    hold for it, a sentence each. ``verdict``: a word or two, where something was asked that has
    one. ``unfinished``: asked again with the same facts and the state that came with this answer,
    the tool says it more exactly.
    """

    advice: str
    numbers: tuple[Number, ...]
    assumes: tuple[str, ...]
    verdict: str = ""
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, declared as ``TOOL`` in a file of ``easeml.lifecycle.tools`` of the same name.

    ``config``: a frozen dataclass of its parameters, each with a default. ``open(config)`` returns
    the first state, ``ask(state, facts)`` an answer and the state after it; states are values.
    """

    name: str
    title: str  # for people
    about: str  # a sentence: what question it answers
    needs: tuple[Fact, ...]
    config: type
    open: Callable[[Any], Any]
    ask: Callable[[Any, Mapping[Fact, Any]], tuple[ToolAnswer, Any]] = field(repr=False)
    rows: Rows = "known"

    def configured(self, parameters: Mapping[str, Any]) -> Any:
        """Return the configuration that ``parameters`` (JSON) say.

        Raises ``InvalidInput``, naming the parameter, for one that there is not or that is out of
        range.
        """
        known = set(self.config.__dataclass_fields__)
        unknown = sorted(set(parameters) - known)
        if unknown:
            remedy = f"It takes: {', '.join(sorted(known))}."
            raise InvalidInput(
                f"{self.name} has no parameter {unknown[0]!r}.", where="parameters", remedy=remedy
            )
        try:
            return TypeAdapter(self.config).validate_python(dict(parameters))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(["parameters", *(str(part) for part in first["loc"])])
            raise InvalidInput(f"{first['msg']}.", where=where) from None

    def answer(
        self,
        facts: Mapping[Fact, Any],
        parameters: Mapping[str, Any],
        go_on: Callable[[], bool] = lambda: True,
    ) -> ToolAnswer:
        """Ask until the answer is finished, or ``go_on`` says no; it is asked once at least.

        Raises ``InvalidInput`` for a wrong parameter and for a fact that is missing.
        """
        state = self.open(self.configured(parameters))
        missing = [fact for fact in self.needs if fact not in facts]
        if missing:
            raise InvalidInput(f"{self.name} needs {', '.join(missing)}.", where="facts")
        answer, state = self.ask(state, facts)
        while answer.unfinished and go_on():
            answer, state = self.ask(state, facts)
        return answer


def all_tools() -> list[Tool]:
    """Return every tool, by name."""
    modules = pkgutil.iter_modules(import_module(PACKAGE).__path__)
    found = [import_module(f"{PACKAGE}.{module.name}").TOOL for module in modules]
    return sorted(found, key=lambda tool: tool.name)


def tool_named(name: str) -> Tool:
    """Return the tool of that name; raises ``InvalidInput`` naming all that there are."""
    tools = {tool.name: tool for tool in all_tools()}
    if name not in tools:
        remedy = f"There are: {', '.join(tools)}."
        raise InvalidInput(f"There is no tool named {name!r}.", where="tool", remedy=remedy)
    return tools[name]
