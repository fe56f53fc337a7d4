"""Which column is to be predicted: a proposal, how sure it is, and what else it could be."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
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
    """A target.

    ``confidence``: 0 to 1; ``reason``: a sentence; ``rivals``: other likely columns.
    """

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
    return _beside_texts(suitable, reports) or _guess(suitable)


def _suitable(reports: Sequence[ColumnReport]) -> list[ColumnReport]:
    """The columns that could be a target; predictions of others only where there is nothing else."""
    could = [report for report in reports if _can_be_target(report)]
    own = [report for report in could if not _has_word(report, names.PREDICTIONS)]
    return own or could


def _has_word(report: ColumnReport, words: Collection[str]) -> bool:
    """Whether one of the words is in a column's name."""
    return not set(names.words(report.name)).isdisjoint(words)


def _can_be_target(report: ColumnReport) -> bool:
    if report.role != "input" or report.distinct <= 1:
        return False
    if report.type in ("number", "category"):
        return True
    return report.type == "tensor" and report.name.lower() in _TELLING


def _by_name(suitable: Sequence[ColumnReport]) -> TargetProposal | None:
    """The column whose name tells; several that tell alike are rivals."""
    by_name = {report.name.lower(): report.name for report in reversed(suitable)}
    several = len(suitable) > 2
    return _called_target(by_name, several) or _often_predicted(by_name) or _tailed(suitable)


def _called_target(by_name: Mapping[str, str], several: bool) -> TargetProposal | None:
    """The column that is called as targets are; ``several``: there are more than two."""
    # Beside an x, and with further columns, y is a coordinate.
    coordinates = "x" in by_name and several
    for word in _TELLING:
        if word not in by_name:
            continue
        if word == "y" and coordinates:
            continue
        name = by_name[word]
        return TargetProposal(name, 0.95, f"'{name}' is what a target is called")
    return None


def _often_predicted(by_name: Mapping[str, str]) -> TargetProposal | None:
    """The column of a name that is often predicted."""
    found = [by_name[word] for word in _SUGGESTIVE if word in by_name]
    if not found:
        return None

    name, *others = found
    reason = f"'{name}' is often predicted"
    if not others:
        return TargetProposal(name, 0.8, reason)
    rivals = tuple(others[:_MOST_RIVALS])
    return TargetProposal(name, 0.6, f"{reason}, and so are others", rivals)


def _tailed(suitable: Sequence[ColumnReport]) -> TargetProposal | None:
    """The last column whose name ends like that of a target."""
    found = [report.name for report in suitable if _TAIL.search(report.name)]
    if not found:
        return None

    *others, name = found
    reason = "its name ends like that of a target"
    if not others:
        return TargetProposal(name, 0.9, reason)
    rivals = tuple(others[:_MOST_RIVALS])
    return TargetProposal(name, 0.6, f"{reason}, and so do others", rivals)


def _beside_texts(
    suitable: Sequence[ColumnReport], reports: Sequence[ColumnReport]
) -> TargetProposal | None:
    """The only column that could be one, if it has few classes: the others are texts or pictures."""
    only, *more = suitable
    if more or only.type != "category" or only.distinct > _FEW_CLASSES:
        return None
    if not any(report.role == "input" for report in reports if report is not only):
        return None
    return TargetProposal(only.name, 0.8, "the only column that could be one")


def _guess(suitable: Sequence[ColumnReport]) -> TargetProposal:
    """The only category among numbers, else the last column that is no description or moment.

    Where both are the same column, two signs agree, and it is no mere guess.
    """
    likely = _likely(suitable)
    last = likely[-1]
    classes = [report for report in likely if report.type == "category"]
    numbers = [report for report in likely if report.type == "number"]

    one_category = len(classes) == 1 and classes[0].distinct <= _FEW_CLASSES
    alone = one_category and len(numbers) >= 3
    if not alone:
        rivals = _rivals(last, likely, classes)
        which = "last" if rivals else "only"
        return TargetProposal(last.name, 0.5, f"the {which} column that could be one", rivals)

    chosen = classes[0]
    reason = "the only category beside numbers"
    if chosen is last:
        return TargetProposal(chosen.name, 0.8, f"{reason}, and the last column")
    return TargetProposal(chosen.name, 0.5, reason, _rivals(chosen, likely, classes))


def _likely(suitable: Sequence[ColumnReport]) -> list[ColumnReport]:
    """The columns that are no moment, group or description, as far as there are others."""
    plain = [report for report in suitable if report.nature not in ("time", "group")]
    telling = [report for report in plain if not _has_word(report, names.DESCRIPTIONS)]
    return telling or plain or list(suitable)


def _rivals(
    chosen: ColumnReport, likely: Sequence[ColumnReport], classes: Sequence[ColumnReport]
) -> tuple[str, ...]:
    """The last and the first column, and categories of few classes."""
    ordered = [likely[-1], likely[0], *(one for one in classes if one.distinct <= _FEW_CLASSES)]
    found = dict.fromkeys(report.name for report in ordered if report.name != chosen.name)
    return tuple(found)[:_MOST_RIVALS]
