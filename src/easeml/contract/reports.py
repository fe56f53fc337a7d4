"""The REST types of reports: what lifecycle tools answer about an application."""

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

from pydantic import Field

from easeml.contract.applications import Declaration
from easeml.contract.resources import Answer, Request
from easeml.contract.times import Moment


class Question(Request):
    """What a tool is asked: its name, and its parameters where they are not the usual ones."""

    tool: str = Field(max_length=100)
    parameters: dict[str, Any] = Field(default_factory=dict)


class NewReport(Question):
    """What a tool is asked about an application.

    ``newer_id``: the upload (a version) with rows that came later, for tools that look at such.
    ``model_id``: the trained model in question; by default the one that serves, or, for a tool
    that compares another with it, the best other one on validation rows. ``against_id``: what such
    a tool compares it with, where that is not the one that serves.
    """

    newer_id: str = Field(default="", max_length=100)
    model_id: str = Field(default="", max_length=100)
    against_id: str = Field(default="", max_length=100)


class NewVersionReport(Question):
    """What a tool is asked about an upload: its data as ``declaration`` would prepare it."""

    declaration: Declaration


class ToolParameter(Answer):
    """A parameter of a tool. ``type``: number, integer, boolean, text or choice, of ``choices``.

    ``least`` and ``most``: its range, ends included.
    """

    name: str
    type: str
    about: str
    unit: str = ""
    default: bool | int | float | str | None = None
    least: float | None = None
    most: float | None = None
    choices: list[str] = Field(default_factory=list)


class ApplicationTool(Answer):
    """A lifecycle tool, as it can be asked about an application.

    ``takes_newer``: it looks at a file of rows that came later; ``needs_newer``: it cannot do without,
    else it looks at rows of production whose truth came. ``takes_model``: it can be asked
    about a model by its id, and ``default_model`` says which one it is otherwise. ``takes_against``:
    it compares that with another, by default the one that serves.
    ``why_not``: what it lacks here, empty where it can be asked.
    """

    name: str
    title: str
    about: str
    parameters: list[ToolParameter]
    takes_newer: bool = False
    needs_newer: bool = False
    takes_model: bool = False
    takes_against: bool = False
    default_model: str = ""
    why_not: str = ""


Cell = str | int | float | None


class ReportNumber(Answer):
    """A number with its interval, where one is claimed."""

    name: str
    title: str
    value: int | float
    low: float | None = None
    high: float | None = None


class ReportTable(Answer):
    """A table of an answer; each row has a text, a number or nothing for each of ``columns``.

    ``is_detail``: it is for those who ask how the answer was found. ``data``: the columns that hold
    values of rows, or their ids.
    """

    title: str
    columns: list[str]
    rows: list[list[Cell]]
    note: str = ""
    is_detail: bool = False
    data: list[str] = Field(default_factory=list)

    def with_texts(self, say: Callable[[str], str]) -> "ReportTable":
        """Return the table with what ``say`` returns for each text, but for values of rows."""
        kept = dict.fromkeys(self.data, _as_it_is)
        says = list(map(kept.get, self.columns, repeat(partial(_said, say))))
        rows = list(map(partial(_said_each, says), self.rows))
        return self.model_copy(update={"rows": rows})


class ReportRemedy(Answer):
    """Something to do about what a tool found, the best for its cost first.

    ``corrected``: mistakes that it should correct, of the rows looked at, with a 95 % interval.
    ``about``: which rows it is for. ``items``: how many cells people would be asked about.
    """

    kind: str
    title: str
    reason: str
    about: str = ""
    corrected: float
    low: float
    high: float
    human_minutes: float = 0.0
    device_seconds: float = 0.0
    items: int = 0


class FollowedRemedy(Answer):
    """What became of a remedy that was followed.

    ``task_id``: of the task that puts questions into the work queue; ``version_id``: of the version
    that is made with the rows to learn from. Not ``done``: somebody has to do it; ``told`` says how.
    ``left_out``: of searching on, the models that fit and that the search may not try.
    """

    kind: str
    told: str
    left_out: list[str] = Field(default_factory=list)
    done: bool = False
    task_id: str = ""
    version_id: str = ""


class Report(Answer):
    """What a tool answered about the data of an application, or of an upload before Start.

    ``application_id``: empty while no application was made of the upload. ``model_id``: the model
    that was asked about, where it was one; ``against_id``: the one that it was compared with.
    ``figures``: descriptions of pictures, each as
    ``easeml.figures.Figure``. ``assumes``: what has to hold for the answer. ``unfinished``: with
    more time the tool would have said it more exactly.
    """

    id: str
    tool: str
    title: str
    task_id: str = ""
    application_id: str = ""
    version_id: str
    model_id: str = ""
    against_id: str = ""
    parameters: dict[str, Any]
    advice: str
    verdict: str = ""
    numbers: list[ReportNumber] = Field(default_factory=list)
    assumes: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    figures: list[dict[str, Any]] = Field(default_factory=list)
    tables: list[ReportTable] = Field(default_factory=list)
    remedies: list[ReportRemedy] = Field(default_factory=list)
    unfinished: bool = False
    created: Moment

    def with_texts(self, say: Callable[[str], str]) -> "Report":
        """Return the report with what ``say`` returns for each text, but for values of rows."""
        told = map(_said, repeat(say), map(self.model_dump().get, _TOLD))
        tables = [table.with_texts(say) for table in self.tables]
        changed = self.model_copy(update={"tables": tables})
        return Report.model_validate(
            {**changed.model_dump(), **dict(zip(_TOLD, told, strict=True))}
        )


_TOLD = ("advice", "numbers", "notes", "figures")


def _said(say: Callable[[str], str], value: Any) -> Any:
    """Return JSON with what ``say`` returns for each of its texts."""
    return _SAID.get(type(value), _as_is)(say, value)


def _as_is(say: Callable[[str], str], value: Any) -> Any:
    return value


def _as_it_is(value: Cell) -> Cell:
    return value


def _said_text(say: Callable[[str], str], text: str) -> str:
    return say(text)


def _said_list(say: Callable[[str], str], values: list[Any]) -> list[Any]:
    return list(map(_said, repeat(say), values))


def _said_object(say: Callable[[str], str], value: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(value, _said_list(say, list(value.values())), strict=True))


def _said_each(says: list[Callable[[Cell], Cell]], row: list[Cell]) -> list[Cell]:
    """Return the cells of a row, each as its column says it."""
    return list(map(_called, says, row))


def _called(say: Callable[[Cell], Cell], cell: Cell) -> Cell:
    return say(cell)


_SAID: dict[type, Callable[..., Any]] = {str: _said_text, list: _said_list, dict: _said_object}
