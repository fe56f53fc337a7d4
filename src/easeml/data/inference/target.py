"""Which column is to be predicted: a proposal, how sure it is, and what else it could be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from easeml.data.inference import name_words as names
from easeml.data.types.column_report import SURE_OF_TARGET, ColumnReport

# The first of these names that occurs is the target.
_TELLING = ("target", "label", "class", "y", "outcome", "response")
_SUGGESTIVE = (
    "survived", "churn", "churned", "diagnosis", "species", "saleprice", "sale_price", "price",
    "fraud", "is_fraud", "spam", "disease", "attrition", "default", "sentiment", "rating",
    "quality", "demand", "revenue", "sales",
)  # fmt: skip
_TAIL = re.compile(r"[ _.-](target|label|class|outcome)$|[a-z](Target|Label|Class|Outcome)$")
_MOST_RIVALS = 4
_FEW_CLASSES = 30


@dataclass(frozen=True)
class TargetProposal:
    """A target. ``confidence``: 0 to 1; ``reason``: a sentence; ``rivals``: other likely columns."""

    name: str
    confidence: float
    reason: str
    rivals: tuple[str, ...] = ()

    @property
    def sure(self) -> bool:
        """Whether it can be taken without asking."""
        return self.confidence >= SURE_OF_TARGET


def propose_target(reports: Sequence[ColumnReport], usual: str = "") -> TargetProposal | None:
    """Propose the target by names, else by ``usual`` (where the format has a custom), else guess.

    None where no column could be one. A guess is not sure, and names its rivals.
    """
    suitable = _suitable(reports)
    if not suitable:
        return None
    named = _by_name(suitable)
    if named is not None:
        return named
    if usual in [report.name for report in suitable]:
        return TargetProposal(usual, 0.8, "its format has the target last by custom")
    return _guess(suitable)


def _suitable(reports: Sequence[ColumnReport]) -> list[ColumnReport]:
    could = [r for r in reports if r.role == "input" and r.distinct > 1 and _can_be_target(r)]
    own = [r for r in could if not set(names.words(r.name)) & names.PREDICTIONS]
    return own or could


def _can_be_target(report: ColumnReport) -> bool:
    if report.type in ("number", "category"):
        return True
    return report.type == "tensor" and report.name.lower() in _TELLING


def _by_name(suitable: Sequence[ColumnReport]) -> TargetProposal | None:
    """The column whose name tells; several that tell alike are rivals."""
    lower = {report.name.lower(): report.name for report in reversed(suitable)}
    coordinates = {"x", "y"} <= lower.keys() and len(suitable) > 2
    telling = [word for word in _TELLING if word in lower and not (word == "y" and coordinates)]
    if telling:
        name = lower[telling[0]]
        return TargetProposal(name, 0.95, f"'{name}' is what a target is called")
    suggestive = [lower[word] for word in _SUGGESTIVE if word in lower]
    if len(suggestive) > 1:
        rivals = tuple(suggestive[1 : _MOST_RIVALS + 1])
        said = f"'{suggestive[0]}' is often predicted, and so are others"
        return TargetProposal(suggestive[0], 0.6, said, rivals)
    if suggestive:
        return TargetProposal(suggestive[0], 0.8, f"'{suggestive[0]}' is often predicted")
    tailed = [report.name for report in suitable if _TAIL.search(report.name)]
    if len(tailed) > 1:
        said = "its name ends like that of a target, and so do others"
        return TargetProposal(tailed[-1], 0.6, said, tuple(tailed[:-1][:_MOST_RIVALS]))
    if tailed:
        return TargetProposal(tailed[0], 0.9, "its name ends like that of a target")
    return None


def _guess(suitable: Sequence[ColumnReport]) -> TargetProposal:
    """The only category among numbers, else the last column that is no description or moment.

    Where both are the same column, two signs agree, and it is no mere guess.
    """
    likely = [report for report in suitable if report.nature not in ("time", "group")]
    likely = [r for r in likely if not set(names.words(r.name)) & names.DESCRIPTIONS] or likely
    likely = likely or list(suitable)
    classes = [report for report in likely if report.type == "category"]
    numbers = [report for report in likely if report.type == "number"]
    alone = len(classes) == 1 and len(numbers) >= 3 and classes[0].distinct <= _FEW_CLASSES
    if alone and classes[0] is likely[-1]:
        reason = "the only category beside numbers, and the last column"
        return TargetProposal(classes[0].name, 0.8, reason)
    if alone:
        chosen, reason = classes[0], "the only category beside numbers"
    else:
        chosen, reason = likely[-1], "the last column that could be one"
    return TargetProposal(chosen.name, 0.5, reason, _rivals(chosen, likely, classes))


def _rivals(
    chosen: ColumnReport, likely: Sequence[ColumnReport], classes: Sequence[ColumnReport]
) -> tuple[str, ...]:
    """The last and the first column, and categories of few classes."""
    ordered = [likely[-1], likely[0], *(one for one in classes if one.distinct <= _FEW_CLASSES)]
    found = dict.fromkeys(report.name for report in ordered if report.name != chosen.name)
    return tuple(found)[:_MOST_RIVALS]
