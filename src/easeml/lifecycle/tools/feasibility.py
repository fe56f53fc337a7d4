"""Can a goal be reached with this data, by any model?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer

if TYPE_CHECKING:
    from easeml.lifecycle.feasibility import BayesError

_LEAST_RISK = 1e-4  # what is less is not claimed
_GOAL = "Wanted accuracy, or R2 where the target is a number: 0.9 is 90 %."


@dataclass(frozen=True)
class FeasibilityConfig:
    """Without a goal there is no verdict."""

    goal: Annotated[float | None, Field(le=1, description=_GOAL)] = None
    confidence: Annotated[
        float, Field(gt=0, lt=1, description="Confidence of the bounds and the verdict.")
    ] = 0.95
    quick: Annotated[bool, Field(description="Stop as soon as the verdict is decided.")] = False
    seed: Annotated[int, Field(description="Seed of the random numbers.")] = 0


def _open(config: FeasibilityConfig) -> FeasibilityConfig:
    return config


def _ask(
    state: FeasibilityConfig, facts: Mapping[Fact, Any]
) -> tuple[ToolAnswer, FeasibilityConfig]:
    """Every question stands alone: the state is the configuration."""
    from easeml.lifecycle.feasibility import bayes_error

    answers = facts["answers"]
    found = bayes_error(
        facts["inputs"],
        answers,
        goal=state.goal,
        task="regression" if answers.dtype.kind == "f" else "classification",
        representations=facts.get("representations", ()),
        confidence=state.confidence,
        until_decided=state.quick,
        seed=state.seed,
        progress=facts.get("progress"),
    )
    return _answer(found), state


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
    quality = "accuracy" if found.classes else "R2"
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
    return Table("Representations", columns, tuple(rows))


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
