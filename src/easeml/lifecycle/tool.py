"""The contract of a lifecycle tool: described once, used by commands, tasks, pages and notebooks.

A tool is pure: it is opened with a configuration, asked with facts, and answers with values and the
state to ask it with again. It reads no file and knows no clock; whoever uses it brings the facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from easeml.errors import InvalidInput
from easeml.lifecycle.tool_answer import Number, Table, ToolAnswer
from easeml.search.installed import Installed, find_installed

__all__ = [
    "Fact",
    "Number",
    "Rows",
    "Table",
    "Tool",
    "ToolAnswer",
    "all_tools",
    "installed_tools",
    "tool_named",
]

Fact = Literal[
    "inputs",
    "answers",
    "predict",
    "explain",
    "predictions",
    "rivals",
    "quality",
    "interval",
    "newer",
    "late",
    "drawn",
    "train",
    "pool",
    "test",
    "elsewhere",
    "followed",
    "unseen",
    "representations",
    "progress",
]
"""What a tool may need.

``inputs``: a frame of typed columns, a row a sample, whose index names the rows. ``answers``: the
column to predict, of categories or numbers, in the same order. ``predict``: the model in question,
a function of a frame like ``inputs``. ``explain``: a function of such a frame, of a few rows, that
says what each column added to the prediction of each, as ``easeml.lifecycle.held_out.Explained``;
none where the model cannot be explained. ``predictions``: what that model, which has not learned from
them, says of ``inputs``, an ``easeml.lifecycle.held_out.Unseen``. ``rivals``: what ``predict`` is
of each of the ``models`` of the tool, by name. ``quality``: a function of answers and of what
``predict`` returned for them; 1 is best. ``interval``: a function of the same, that returns this
quality and the ends of its 95 % interval. ``newer``: rows that came later, with
the answers that are known so far, and ``test``: the test rows; each an
``easeml.lifecycle.held_out.Predicted`` by the ``models`` of the tool. ``late``: newer rows that the
tool was asked about before, whose answers came since, an ``easeml.lifecycle.held_out.LateRows``;
``newer`` may have no rows then. ``drawn``: those rows of both of which somebody says that they were
drawn at random, a list of ``easeml.lifecycle.held_out.DrawnRows``. ``train``: the rows that the
model in question learned from, a ``Predicted`` by no model. ``pool``: a frame like ``inputs`` of
rows that have no answer, which people may be asked for. ``followed``: remedies of earlier
answers that somebody followed, as JSON with ``is_same_model``. ``elsewhere``: what other
tools have told of the test rows, in nats. ``unseen``: what models that have not seen a row say of
it, an ``Unseen``. ``representations``: pre-trained models to look at the inputs with, each an
``easeml.lifecycle.feasibility.Representation``. ``progress``: is called with the share of the work
that is done.
"""

Models = Literal["", "one", "pair", "all"]
"""The models whose predictions a tool compares with answers, by their names in ``Predicted``:
``one``, "model"; a ``pair``, "old", which serves, and "new", which may replace it; or ``all``.
"""

Rows = Literal["known", "train", "validation"]
"""The rows of an application that a tool sees: ``train``, with those that are switched off;
``validation``; or ``known``, all that models learn from and are chosen by. Test rows are for the
ledger.
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, declared in ``TOOLS`` of a file of ``easeml.lifecycle.tools``.

    The file may also be one that an entry point of the group ``easeml.tools`` names.

    ``config``: a frozen dataclass of its parameters, each with a default. ``open(config)`` returns
    the first state, ``ask(state, facts)`` an answer and the state after it; states are values.

    ``check(config, of_numbers)`` raises ``InvalidInput`` for parameters that do not suit models that
    predict numbers, or classes, so that nobody waits for that.

    A tool that goes on from what it was asked before says how its state is kept: ``save(state)``
    returns bytes, ``load(config, bytes)`` the state to go on from. Whoever uses it keeps them.
    """

    name: str
    title: str  # for people
    about: str  # a sentence: what question it answers
    needs: tuple[Fact, ...]
    config: type
    open: Callable[[Any], Any]
    ask: Callable[[Any, Mapping[Fact, Any]], tuple[ToolAnswer, Any]] = field(repr=False)
    rows: Rows = "known"
    may: tuple[Fact, ...] = ()  # facts that it uses where they are there
    yes: str = ""  # the verdict with which a command ends with 0; with any other, it ends with 1
    models: Models = ""
    of_classes: bool = False  # it is of models that predict classes, and not numbers
    several: bool = False  # it also takes rows with several answers: labels, or numbers
    check: Callable[[Any, bool], None] | None = field(default=None, repr=False)
    save: Callable[[Any], bytes] | None = None
    load: Callable[[Any, bytes], Any] | None = None

    @property
    def keeps_state(self) -> bool:
        """Does it go on from what it was asked before?"""
        return self.save is not None

    @property
    def takes_newer(self) -> bool:
        """Does it look at rows that came later, where there are some?"""
        return "newer" in (*self.needs, *self.may)

    @property
    def asks_about_a_model(self) -> bool:
        """Does it need a model, rather than data alone?"""
        return "predict" in self.needs or bool(self.models)

    @property
    def uses_a_model(self) -> bool:
        """Does it ask the model that serves, where there is one?"""
        return self.asks_about_a_model or "unseen" in self.may

    @property
    def reads_values(self) -> bool:
        """Does it look at the values of inputs itself, in representations of its own?"""
        return "representations" in self.may

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
            where = ".".join(["parameters", *map(str, first["loc"])])
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
        return self.asked(facts, parameters, None, go_on)[0]

    def asked(
        self,
        facts: Mapping[Fact, Any],
        parameters: Mapping[str, Any],
        kept: bytes | None,
        go_on: Callable[[], bool] = lambda: True,
    ) -> tuple[ToolAnswer, bytes | None]:
        """Answer as ``answer`` does, from the state that was kept on.

        Return it with the state to keep, None of a tool that keeps none.
        """
        config = self.configured(parameters)
        missing = [fact for fact in self.needs if fact not in facts]
        if missing:
            raise InvalidInput(f"{self.name} needs {', '.join(missing)}.", where="facts")
        if kept is None or self.load is None:
            state = self.open(config)
        else:
            state = self.load(config, kept)
        answer, state = self.ask(state, facts)
        while answer.unfinished and go_on():
            answer, state = self.ask(state, facts)
        return answer, None if self.save is None else self.save(state)


@cache
def installed_tools() -> Installed[Tool]:
    """Return every tool that is installed; looked for once a process."""
    return find_installed("tool", "", "easeml.lifecycle.tools", "easeml.tools", "TOOLS")


OF_ONE_ANSWER = "It looks at one answer a row, and these rows may have several."
"""Why a tool is not asked about such rows, which does not say ``several``."""
INSTEAD_OF_SEVERAL = (
    "Ask it of an application that predicts one of them, such as a column that says yes or no."
)


def of_one_answer() -> frozenset[str]:
    """Return the names of the tools that take no rows with several answers."""
    return frozenset(tool.name for tool in all_tools() if not tool.several)


def all_tools() -> list[Tool]:
    """Return every tool, by name."""
    return list(installed_tools().by_name.values())


def tool_named(name: str) -> Tool:
    """Return the tool of that name; raises ``InvalidInput`` naming all that there are."""
    found = installed_tools()
    if name in found.by_name:
        return found.by_name[name]
    remedy = " ".join([f"There are: {', '.join(found.by_name)}.", *found.problems])
    raise InvalidInput(f"There is no tool named {name!r}.", where="tool", remedy=remedy)
