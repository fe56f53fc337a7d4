"""Can a goal be reached with this data, by any model?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from easeml.errors import InvalidInput
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer

if TYPE_CHECKING:
    from easeml.lifecycle.feasibility import BayesError

_LEAST_RISK = 1e-4  # what is less is not claimed
_GOAL = "What is to be reached: 0.9 is 90 % of accuracy."
_MOST_ROWS = "Of more rows than these, so many are looked at, drawn at random."
_OF = "What the goal is of: accuracy, or R2 of a number, where nothing is said."


@dataclass(frozen=True)
class FeasibilityConfig:
    """Without a goal there is no verdict."""

    goal: Annotated[float | None, Field(description=_GOAL)] = None
    of: Annotated[Literal["balanced-accuracy", "rmse"] | None, Field(description=_OF)] = None
    confidence: Annotated[
        float, Field(gt=0, lt=1, description="Confidence of the bounds and the verdict.")
    ] = 0.95
    quick: Annotated[bool, Field(description="Stop as soon as the verdict is decided.")] = False
    most_rows: Annotated[int, Field(ge=100, description=_MOST_ROWS)] = 50_000
    seed: Annotated[int, Field(description="Seed of the random numbers.")] = 0

    def __post_init__(self) -> None:
        """Refuse a goal above the best there is, before anything is asked."""
        highest = {"rmse": math.inf}.get(str(self.of), 1.0)
        if self.goal is not None and self.goal > highest:
            message = f"A goal of {self.goal:g} is above 1, the best there is."
            raise InvalidInput(message, where="parameters.goal", remedy="Write 0.9 for 90 %.")


def _open(config: FeasibilityConfig) -> FeasibilityConfig:
    return config


def _ask(
    state: FeasibilityConfig, facts: Mapping[Fact, Any]
) -> tuple[ToolAnswer, FeasibilityConfig]:
    """Every question stands alone: the state is the configuration."""
    from easeml.lifecycle.feasibility import bayes_error
    from easeml.lifecycle.feasibility.balanced import balanced_bayes_error

    inputs, answers = facts["inputs"], facts["answers"]
    options: dict[str, Any] = {
        "goal": state.goal,
        "representations": facts.get("representations", ()),
        "confidence": state.confidence,
        "until_decided": state.quick,
        "most_rows": state.most_rows,
        "seed": state.seed,
        "progress": facts.get("progress"),
    }
    are_numbers = answers.dtype.kind == "f"
    _check_fits(state.of, are_numbers)
    if state.of == "balanced-accuracy":
        return _answer(balanced_bayes_error(inputs, answers, **options)), state
    if state.of == "rmse":
        return _of_rmse(inputs, answers, options), state
    task = "regression" if are_numbers else "classification"
    return _answer(bayes_error(inputs, answers, task=task, **options)), state


def _of_rmse(inputs: Any, answers: Any, options: dict[str, Any]) -> ToolAnswer:
    """Return the answer to a goal of root mean squared error: it is one of R2 on these rows."""
    import numpy as np

    from easeml.lifecycle.feasibility import bayes_error

    goal, variance = options["goal"], float(answers.var(ddof=0))
    notes = ()
    if goal is not None:
        options["goal"] = 1 - goal**2 / variance
        notes = (f"On these rows an rmse of {goal:g} is an R2 of {options['goal']:.3f}.",)
    found = bayes_error(inputs, answers, task="regression", **options)
    errors = np.clip([found.estimate, found.lower, found.upper], 0, None)
    least, low, high = np.sqrt(errors * variance).tolist()
    answer = _answer(found)
    reached = Number("rmse", "Least rmse that any model can reach", least, low, high)
    return replace(answer, numbers=(*answer.numbers, reached), notes=(*notes, *answer.notes))


def _check_fits(of: str | None, are_numbers: bool) -> None:
    """Raise ``InvalidInput`` for a goal of classes where the target is numbers, or the reverse."""
    if of is None or (of == "rmse") == are_numbers:
        return
    held = "numbers" if are_numbers else "classes"
    raise InvalidInput(
        f"A goal of {of} does not fit: the target holds {held}.",
        where="of",
        remedy="Leave it out.",
    )


def _answer(found: BayesError) -> ToolAnswer:
    return ToolAnswer(
        advice=found.advice,
        numbers=_numbers(found),
        assumes=found.assumes,
        verdict=found.verdict or "",
        figures=(found.figure(),),
        tables=(_table(found),),
        notes=found.notes,
    )


def _numbers(found: BayesError) -> tuple[Number, ...]:
    quality = found.measure
    best = Number(
        "best",
        f"Best {quality} that any model can reach",
        value=1 - found.estimate,
        low=1 - found.upper,
        high=1 - found.lower,
    )
    numbers = [
        best,
        Number("reached", f"Best {quality} of a quick learner", 1 - found.reached),
        Number(
            "baseline", f"{_capital(quality)} without looking at the inputs", 1 - found.baseline
        ),
    ]
    if found.risk is not None:
        risk = max(found.risk, _LEAST_RISK)
        numbers.append(Number("risk", "Chance that the verdict is wrong, at most", risk))
    noise = found.noise
    if noise is not None and noise.high > 0:
        share = Number("noise", "Wrong labels, at most", noise.share, noise.low, noise.high)
        numbers.append(share)
    if found.noise_variance is not None:
        numbers.append(Number("noise-variance", "Variance of the noise", found.noise_variance))
    numbers.append(Number("rows", "Rows", found.rows))
    numbers += _of_more_rows(found, quality)
    return tuple(numbers)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _of_more_rows(found: BayesError, quality: str) -> list[Number]:
    """Return what more rows should bring, where that can be told."""
    numbers = []
    if found.more_examples is not None:
        title = "Labelled rows to add until the verdict is clear"
        numbers.append(Number("more-rows", title, found.more_examples))
    if found.forecasts:
        twice = found.forecasts[0]
        title = f"{_capital(quality)} of a quick learner with twice the rows"
        numbers.append(Number("doubled", title, 1 - twice.error, 1 - twice.high, 1 - twice.low))
    return numbers


def _table(found: BayesError) -> Table:
    """List the ways in which the inputs were looked at, the best first."""
    ranked = sorted(found.tried, key=lambda tried: (bool(tried.dropped), tried.error))
    rows = map(attrgetter("name", "rows", "way", "error", "lower", "dropped"), ranked)
    columns = ("Representation", "Rows", "Best way", "Error", "Bound", "Dropped")
    return Table("Ways in which the inputs were looked at", columns, tuple(rows), is_detail=True)


TOOLS = (
    Tool(
        name="feasibility",
        title="Is the goal realistic?",
        about="Estimates bounds of the best quality that any model can reach.",
        needs=("inputs", "answers"),
        may=("representations", "progress"),
        config=FeasibilityConfig,
        open=_open,
        ask=_ask,
        yes="realistic",
    ),
)
