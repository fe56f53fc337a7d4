"""Where does a model err more than elsewhere, why, and what corrects most mistakes for its cost?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from easeml.lifecycle.evaluation import without_midnight
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer
from easeml.lifecycle.tool_answer import Remedy
from easeml.sampling_error import wilson

if TYPE_CHECKING:
    from easeml.figures import Figure
    from easeml.lifecycle.debugging import Came, Case, Cause, Debugged, Diagnosis, Followed, Judged
    from easeml.lifecycle.held_out import Explained

    Explain = Callable[[Any], list[Explained]]

_LISTED = 20
_COLUMNS = 8
_MOVERS = 4  # columns that moved a prediction, of each mistake
_LEVEL = "Chance that any slice is named where mistakes are spread by chance."
_TOLERANCE = (
    "Error above which a number is a mistake; by default, a fifth of the validation rows are."
)
_MOST_ROWS = (
    "Validation rows, and rows of production, that are looked at. Of more so many are drawn at "
    "random: fewer are quicker, more tell of smaller slices."
)
_CAME = (
    "Mistakes that were to be corrected, and that are fewer of as many rows, with 95 % intervals. "
    "Whatever else changed counts, too; and as such rows were named because they were bad, some "
    "would have got better by chance."
)
_ASSUMES = (
    "What is said to be true of validation and production rows is true, but for wrong answers that "
    "are named.",
    "Where models are surest, what is hard to tell is at most half as frequent as among all rows. "
    "Rows alone cannot show that: where it does not hold, right answers look wrong.",
    "What a remedy corrects is estimated on the rows looked at; it shows on new ones.",
)


@dataclass(frozen=True)
class DebugConfig:
    """How surely a slice has to be worse, and how many are named."""

    level: Annotated[float, Field(gt=0, le=0.5, description=_LEVEL)] = 0.05
    most: Annotated[
        int, Field(ge=1, le=20, description="Slices that are named at most, of each kind of rows.")
    ] = 5
    slice: Annotated[
        int, Field(ge=1, description="The slice whose mistakes are listed, by its number.")
    ] = 1
    tolerance: Annotated[float | None, Field(gt=0, description=_TOLERANCE)] = None
    most_rows: Annotated[int, Field(ge=100, description=_MOST_ROWS)] = 10_000
    seed: Annotated[int, Field(description="Seed of the random numbers.")] = 0


def _open(config: DebugConfig) -> DebugConfig:
    return config


def _ask(config: DebugConfig, facts: Mapping[Fact, Any]) -> tuple[ToolAnswer, DebugConfig]:
    """Every question stands alone: the state is the configuration."""
    from easeml.lifecycle.debugging import Followed, came_of, debug

    whole = _case(facts, config.tolerance)
    found = debug(
        whole.at_most(config.most_rows, config.seed),
        level=config.level,
        most=config.most,
        permutations=max(399, round(12 / config.level)),
        seed=config.seed,
        progress=facts.get("progress"),
    )
    followed = list(map(Followed.from_json, facts.get("followed", ())))
    came = [came_of(one, _case(facts, one.tolerance)) for one in followed]
    return _answer(whole, found, config, facts.get("explain"), followed, came), config


def _case(facts: Mapping[Fact, Any], tolerance: float | None) -> Case:
    from easeml.lifecycle.debugging import case_of

    return case_of(
        facts["inputs"],
        facts["answers"],
        facts["predictions"],
        train=facts.get("train"),
        pool=facts.get("pool"),
        newer=facts.get("newer"),
        predict=facts.get("predict"),
        tolerance=tolerance,
    )


def _answer(
    whole: Case,
    found: Debugged,
    config: DebugConfig,
    explain: Explain | None,
    followed: list[Followed],
    came: list[Came | None],
) -> ToolAnswer:
    judged = [whole.validation]
    if whole.production is not None:
        judged.append(whole.production)
    numbers = list(map(_share, judged))
    numbers.append(Number("slices", "Slices with more mistakes", len(found.diagnoses)))
    if found.remedies:
        first = found.remedies[0]
        numbers.append(
            Number(
                "corrected",
                "Mistakes that the first remedy should correct",
                first.corrected,
                first.low,
                first.high,
            )
        )
    notes = [_sampled(one, config.most_rows) for one in judged if len(one) > config.most_rows]
    if whole.tolerance is not None:
        notes.append(f"A prediction that is off by more than {whole.tolerance:.4g} is a mistake.")
    if whole.production is None:
        notes.append("No rows of production with their truth: what changed cannot be seen.")
    if whole.train is None:
        notes.append("No training rows were given: wrong answers in them cannot be found.")
    return ToolAnswer(
        advice=_advice(found),
        numbers=tuple(numbers),
        assumes=_ASSUMES,
        verdict=_verdict(found),
        figures=_figures(found),
        tables=(*_promised(followed, came), *_tables(found, config, explain)),
        notes=tuple(notes),
        remedies=found.remedies,
    )


def _sampled(judged: Judged, looked: int) -> str:
    """Return which rows all but their share of mistakes was told by."""
    return (
        f"{looked:,} of {len(judged):,} {judged.name} rows were looked at, drawn at random. "
        "Mistakes are counted among these."
    )


def _share(judged: Judged) -> Number:
    share = float(judged.wrong.mean())
    title = f"Mistakes on {judged.name} rows"
    return Number(judged.name, title, share, *wilson(share, len(judged)))


def _verdict(found: Debugged) -> str:
    if not found.diagnoses:
        return "even"
    return "hard rows" if found.diagnoses[0].causes[0].kind == "hard" else "faults"


def _advice(found: Debugged) -> str:
    if not found.diagnoses:
        return "Mistakes are spread evenly: on no slice is the model significantly worse."
    first = found.diagnoses[0]
    here = first.here
    said = (
        f"On {here.judged.name} rows, it is wrong about {here.mistakes} of {here.rows} where "
        f"{here}; elsewhere about {here.elsewhere:.0%}. {_why(first)}"
    )
    if not found.remedies:
        return f"{said} No remedy was found: columns that say more may help."
    return f"{said} {_told(found.remedies[0])}"


def _why(one: Diagnosis) -> str:
    from easeml.lifecycle.debugging import TITLES

    cause = one.causes[0]
    what = TITLES[cause.kind]
    return f"{what[0].upper()}{what[1:]}: {cause.evidence}."


def _told(remedy: Remedy) -> str:
    cost = f"{remedy.human_minutes:.0f} minutes of a person"
    if not remedy.human_minutes:
        cost = f"{remedy.device_seconds:.0f} s of a device"
    doubt = ", if those answers are wrong" if remedy.kind == "check-labels" else ""
    return f"{remedy.title}: about {remedy.corrected:.0f} mistakes less for {cost}{doubt}."


def _promised(followed: list[Followed], came: list[Came | None]) -> tuple[Table, ...]:
    """Return what remedies that were followed promised, beside what came."""
    if not followed:
        return ()
    rows = []
    for one, told in zip(followed, came, strict=True):
        before = f"{one.mistakes} of {one.rows}" if one.rows else None
        corrected, now = _why_not_told(one), None
        if told is not None:
            corrected = _with_ends(told.corrected, told.low, told.high)
            now = f"{told.mistakes} of {told.rows}"
        rows.append((one.title, _with_ends(*one.promised), corrected, before, now))
    columns = ("Remedy that was followed", "Promised", "Corrected", "Mistakes before", "Now")
    return (Table("Promised and actual corrections", columns, tuple(rows), _CAME),)


def _with_ends(value: float, low: float, high: float) -> str:
    return f"{value:.0f} ({low:.0f} to {high:.0f})"


def _why_not_told(one: Followed) -> str:
    if one.is_same_model:
        return "not yet: the same model serves"
    return "cannot be told: no such rows"


def _tables(found: Debugged, config: DebugConfig, explain: Explain | None) -> tuple[Table, ...]:
    if not found.diagnoses:
        return ()
    listed = found.diagnoses[min(config.slice, len(found.diagnoses)) - 1]
    return _slices(found, config), _causes(found), _mistakes(listed, explain)


def _slices(found: Debugged, config: DebugConfig) -> Table:
    rows = []
    for place, one in enumerate(found.diagnoses, 1):
        here = one.here
        share = here.mistakes / here.rows
        rows.append(
            (
                f"{place}. {here}",
                here.judged.name,
                here.rows,
                here.mistakes,
                share,
                here.elsewhere,
                one.p_value,
            )
        )
    note = (
        "p-values are corrected for all slices that were looked at; together they name one wrongly "
        f"with a chance of {config.level:g} at most. A row is counted in one slice."
    )
    columns = ("Slice", "Rows of", "Rows", "Mistakes", "Share", "Elsewhere", "p-value")
    return Table("Slices with more mistakes than elsewhere", columns, tuple(rows), note)


def _causes(found: Debugged) -> Table:
    rows = []
    for place, one in enumerate(found.diagnoses, 1):
        told = [cause for cause in one.causes if round(cause.mistakes, 1) > 0]
        rows += map(partial(_cause_row, place), told)
    columns = ("Slice", "Cause", "Explains", "From", "To", "Evidence")
    note = "Mistakes more than elsewhere that a cause explains, with 95 % intervals."
    return Table("Why", columns, tuple(rows), note)


def _cause_row(place: int, cause: Cause) -> tuple[Any, ...]:
    from easeml.lifecycle.debugging import TITLES

    return (
        place,
        TITLES[cause.kind],
        round(float(cause.mistakes), 1),
        round(float(cause.low), 1),
        round(float(cause.high), 1),
        cause.evidence,
    )


def _mistakes(one: Diagnosis, explain: Explain | None) -> Table:
    """List mistakes of a slice, each with what the model said and which columns led it there."""
    here = one.here
    wrong = here.inside & here.judged.wrong
    inputs = here.judged.inputs[wrong].iloc[:_LISTED]
    answers = here.judged.answers[wrong]
    told = explain(inputs) if explain else []
    chosen = [name for name in inputs.columns if str(name) in here.slice.columns]
    rest = [name for name in inputs.columns if name not in chosen]
    names = [*chosen, *rest][:_COLUMNS]
    rows = []
    for place in range(len(inputs)):
        why = list(map(_why_said, told[place : place + 1]))
        cells = [_cell(inputs[name].iloc[place]) for name in names]
        rows.append((_cell(inputs.index[place]), _cell(answers.iloc[place]), *chain(*why), *cells))
    titles = ("Predicted", "Moved there by") if told else ()
    columns = ("Row", "True", *titles, *map(str, names))
    of_rows = ("Row", "True", "Predicted", *map(str, names))
    note = _note_on(told)
    return Table(f"Mistakes where {here}", columns, tuple(rows), note, data=of_rows)


def _why_said(one: Explained) -> tuple[Any, str]:
    """Return a prediction, and the columns that moved it most, in words."""
    largest = list(one.moved.items())[:_MOVERS]
    return _cell(one.value), ", ".join(_moved(name, value, one.of) for name, value in largest)


def _moved(name: str, value: float, of: str) -> str:
    sign = "−" if value < 0 else "+"
    size = f"{abs(value):.0%}" if of else f"{abs(value):.3g}"
    return f"{name} {sign}{size}"


def _note_on(told: list[Explained]) -> str:
    if not told:
        return ""
    moved = "the probability of what was predicted" if told[0].of else "the prediction"
    return (
        f"What the largest {_MOVERS} columns added to {moved}, from that of the mean training row. "
        "It tells what the model looks at, not what causes what."
    )


def _cell(value: Any) -> str | float | None:
    import pandas as pd

    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    if isinstance(value, int | float):
        return float(value)
    return without_midnight(str(value))[:100]


def _figures(found: Debugged) -> tuple[Figure, ...]:
    """Draw the share of mistakes in each slice beside that elsewhere."""
    from easeml.figures import Axis, Figure, Series, numbers

    if not found.diagnoses:
        return ()
    shares, usual, low, high = [], [], [], []
    for one in found.diagnoses:
        share = one.here.mistakes / one.here.rows
        ends = wilson(share, one.here.rows)
        shares.append(share)
        usual.append(one.here.elsewhere)
        low.append(ends[0])
        high.append(ends[1])
    places = numbers(range(len(shares)))
    names = tuple(f"slice {place}" for place in range(1, len(shares) + 1))
    bars = Series(
        "mistakes, 95 % interval",
        numbers(shares),
        places,
        kind="bars",
        tone="accent",
        low=numbers(low),
        high=numbers(high),
    )
    elsewhere = Series("elsewhere", numbers(usual), places, kind="points")
    share_axis = Axis("share of rows that are mistakes", low=0.0)
    figure = Figure(
        "Where it makes mistakes",
        share_axis,
        Axis("slice", scale="category", categories=names),
        (bars, elsewhere),
    )
    return (figure,)


TOOLS = (
    Tool(
        name="debug",
        title="Where does it err, and why?",
        about="Finds slices with more mistakes than elsewhere, their causes, and what corrects most.",
        needs=("inputs", "answers", "predictions"),
        may=("train", "pool", "newer", "predict", "explain", "followed", "progress"),
        config=DebugConfig,
        open=_open,
        ask=_ask,
        rows="validation",
        yes="even",
        models="one",
    ),
)
