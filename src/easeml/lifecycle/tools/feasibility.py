"""Can a goal be reached with this data, by any model?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from easeml.lifecycle.tool import Fact, Number, Tool, ToolAnswer

if TYPE_CHECKING:
    from easeml.lifecycle.feasibility import BayesError

_ASSUMES = (
    "The rows are drawn like those that will be predicted.",
    "What can be learned from the inputs shows in at least one of the representations tried.",
)


@dataclass(frozen=True)
class FeasibilityConfig:
    """``goal``: the wanted accuracy, or R2; without it there is no verdict. ``confidence``: of the
    bounds together. ``seed``: of folds and learners.
    """

    goal: Annotated[float, Field(le=1)] | None = None
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    seed: int = 0


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
        confidence=state.confidence,
        seed=state.seed,
    )
    return _answer(found), state


def _answer(found: BayesError) -> ToolAnswer:
    quality = "accuracy" if found.classes else "R2"
    best = Number(
        "best",
        f"Best {quality} that any model can reach",
        value=1 - found.estimate,
        low=1 - found.upper,
        high=1 - found.lower,
    )
    baseline = Number("baseline", f"{quality} without looking at the inputs", 1 - found.baseline)
    return ToolAnswer(
        advice=found.advice,
        numbers=(best, baseline),
        assumes=_ASSUMES,
        verdict=found.verdict or "",
        figures=(found.figure(),),
        notes=found.notes,
    )


TOOL = Tool(
    name="feasibility",
    title="Is the goal realistic?",
    about="Says between which bounds the best quality lies that any model can reach.",
    needs=("inputs", "answers"),
    config=FeasibilityConfig,
    open=_open,
    ask=_ask,
)
