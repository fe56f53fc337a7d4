"""Numbers as sentences tell them."""

from __future__ import annotations

from easeml.lifecycle.journey.facts import Estimate, Facts, Feasible, Suspects
from easeml.objective_names import in_words

_SHARES = (
    "accuracy",
    "balanced-accuracy",
    "f1-macro",
    "f1-weighted",
    "roc-auc",
    "average-precision",
)


def told(value: float, unit: str) -> str:
    """Return a quality: a share in percent, any other number with its unit."""
    if unit in _SHARES:
        return f"{value:.1%}"
    return f"{in_words(unit)} {value:.4g}"


def between(estimate: Estimate, unit: str) -> str:
    """Return a quality with its interval."""
    if estimate.low == estimate.high:
        return told(estimate.value, unit)
    low = told(estimate.low, unit)
    high = told(estimate.high, unit)
    return f"{told(estimate.value, unit)} (between {low} and {high})"


def best_of(feasible: Feasible) -> str:
    """Return a sentence on the best that any model can reach, and for what it allows."""
    said = f"The {what_best(feasible)}."
    if not feasible.answers:
        return said
    since = counted(feasible.answers, "answer of a person", "answers of people")
    return f"{said} This includes {since} since then."


def what_best(feasible: Feasible) -> str:
    """Return what any model can reach, in the unit of the goal: "best accuracy that ... is 0.9"."""
    if feasible.least is not None:
        return f"least rmse that any model can reach is {_number_between(feasible.least)}"
    if feasible.unit in _SHARES:
        best = between(feasible.best, feasible.unit)
    else:
        best = _number_between(feasible.best)
    return f"best {in_words(feasible.unit)} that any model can reach is {best}"


def _number_between(estimate: Estimate) -> str:
    ends = f"between {estimate.low:.4g} and {estimate.high:.4g}"
    return f"{estimate.value:.4g} ({ends})"


def better_by(fall: float, target: str, *, is_number: bool) -> str:
    """Return what a fall of the squared error of predictions of ``target`` means, in plain words.

    ``fall``: of the Brier score over all classes, in which a mistake that is sure of itself counts
    2; of numbers a share of their variance.
    """
    if is_number:
        return f"explain about {100 * fall:.2g} % more of how '{target}' differs from row to row"
    mistakes = 1000 * fall / 2
    fewer = f"{mistakes:,.0f}" if mistakes >= 10 else f"{mistakes:.2g}"
    return f"improve as much as by {fewer} fewer mistakes in 1,000"


def goal_of(facts: Facts) -> str:
    """Return the goal as it was written."""
    assert facts.goal is not None
    return facts.goal.text


def checked_so_far(suspects: Suspects) -> str:
    """Return what people found of labels that looked wrong, as a sentence; empty before the first.

    It says nothing of the others: people were asked first about those that matter most.
    """
    if not suspects.checked:
        return ""
    labels = counted(suspects.checked, "such label")
    verb = "was" if suspects.wrong == 1 else "were"
    so_far = f"People checked {labels} so far, those that matter most first"
    return f"{so_far}; {suspects.wrong:,} {verb} wrong"


def what_failed(facts: Facts, tool: str) -> str:
    """Return why a tool that was asked has no answer."""
    return f"This was tried and failed: {facts.failed[tool]}"


def counted(number: float, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the plural where that is right."""
    if round(number) == 1:
        return f"{number:,.0f} {noun}"
    return f"{number:,.0f} {plural or noun + 's'}"
