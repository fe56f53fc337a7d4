"""Which column is to be predicted: a proposal, how sure it is, and what else it could be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse

from easeml.data.inference import name_words as names
from easeml.data.types.column_report import SURE_OF_TARGET, ColumnReport

# The first of these names that occurs is the target.
_TELLING = ("target", "label", "class", "y", "outcome", "response")
_SUGGESTIVE = (
    "survived", "churn", "churned", "diagnosis", "species", "saleprice", "sale_price", "price",
    "fraud", "is_fraud", "spam", "disease", "attrition", "default", "sentiment", "rating",
    "quality", "demand", "revenue", "sales", "mpg", "score",
)  # fmt: skip
_TAIL = re.compile(r"[ _.-](target|label|class|outcome)$|[a-z](Target|Label|Class|Outcome)$")
_NUMBERED = re.compile(r"(.*?\D)\d+")
_MANY_NUMBERED = 20  # columns of one name but for their numbers
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
    return (
        _called_target(suitable)
        or _often_predicted(suitable)
        or _tailed(suitable)
        or _by_custom(suitable, usual)
        or _beside_texts(suitable, reports)
        or _beside_numbered(suitable)
        or _guess(suitable)
    )


def _suitable(reports: Sequence[ColumnReport]) -> list[ColumnReport]:
    """The columns that could be a target; predictions of others only where there is nothing else."""
    could = list(filter(_can_be_target, reports))
    own = list(filterfalse(_is_prediction, could))
    return own or could


def _can_be_target(report: ColumnReport) -> bool:
    is_telling = report.name.lower() in _TELLING
    kinds = ("number", "category", "tensor") if is_telling else ("number", "category")
    return report.role == "input" and report.distinct > 1 and report.type in kinds


def _is_prediction(report: ColumnReport) -> bool:
    return names.has_word(report.name, names.PREDICTIONS)


def _is_description(report: ColumnReport) -> bool:
    is_described = names.has_word(report.name, names.DESCRIPTIONS | names.CODED)
    return is_described or names.names_entity(report.name)


def _is_moment_or_group(report: ColumnReport) -> bool:
    is_part_of_date = report.name.lower() in names.CALENDAR
    return report.nature in ("time", "group") or is_part_of_date


def _has_few_classes(report: ColumnReport) -> bool:
    return report.type == "category" and report.distinct <= _FEW_CLASSES


def _could_be_classes(report: ColumnReport) -> bool:
    return _has_few_classes(report) or report.distinct == 2


def _called_target(suitable: Sequence[ColumnReport]) -> TargetProposal | None:
    """The column that is called as targets are."""
    by_name = _by_lower_name(suitable)
    # Beside an x, and with further columns, y is a coordinate.
    if "x" in by_name and len(suitable) > 2:
        by_name.pop("y", None)
    telling = _called(_TELLING, by_name)
    return _first_of(telling[:1], 0.95, "'{}' is what a target is called")


def _often_predicted(suitable: Sequence[ColumnReport]) -> TargetProposal | None:
    """The column of a name that is often predicted; several such are rivals."""
    found = _called(_SUGGESTIVE, _by_lower_name(suitable))
    return _first_of(found, 0.8, "'{}' is often predicted", ", and so are others")


def _tailed(suitable: Sequence[ColumnReport]) -> TargetProposal | None:
    """The last column whose name ends like that of a target; several such are rivals."""
    found = list(filter(_TAIL.search, _names_of(suitable)))
    last_first = [*found[-1:], *found[:-1]]
    reason = "its name ends like that of a target"
    return _first_of(last_first, 0.9, reason, ", and so do others")


def _first_of(
    found: Sequence[str], sure: float, reason: str, alike: str = ""
) -> TargetProposal | None:
    """The first column of which a sign tells, if any; beside others, its rivals, it is less sure.

    ``{}`` in ``reason``: its name; ``alike``: what is said of the others.
    """
    if not found:
        return None
    name, *others = found
    reason = reason.format(name)
    if not others:
        return TargetProposal(name, sure, reason)
    return TargetProposal(name, 0.6, reason + alike, tuple(others[:_MOST_RIVALS]))


def _by_custom(suitable: Sequence[ColumnReport], usual: str) -> TargetProposal | None:
    """The column that is the target by the custom of the file's format."""
    if usual not in _names_of(suitable):
        return None
    return TargetProposal(usual, 0.8, "its format has the target last by custom")


def _beside_texts(
    suitable: Sequence[ColumnReport], reports: Sequence[ColumnReport]
) -> TargetProposal | None:
    """The only column that could be one, if it has few values: the others are texts or pictures.

    Or if all others are times: it is a series.
    """
    only = suitable[0]
    kinds = [report.type for report in reports if report.role == "input"]
    kinds.remove(only.type)
    is_beside_others = len(suitable) == 1 <= len(kinds)
    is_series = set(kinds) == {"timestamp"}
    if is_beside_others and (is_series or only.distinct <= _FEW_CLASSES):
        return TargetProposal(only.name, 0.8, "the only column that could be one")
    return None


def _beside_numbered(suitable: Sequence[ColumnReport]) -> TargetProposal | None:
    """The only column beside many that are numbered, such as GENE0001; a guess among several."""
    stems = Counter(map(_stem, _names_of(suitable)))
    numbered = {stem for stem, times in stems.items() if stem and times >= _MANY_NUMBERED}
    others = [report for report in suitable if _stem(report.name) not in numbered]
    if not numbered or not others:
        return None
    if len(others) > 1:
        return _guess(others)
    return TargetProposal(others[0].name, 0.8, "the others are numbered, and it is not")


def _stem(name: str) -> str:
    """What stands before the number at the end of a name; empty where there is none."""
    match = _NUMBERED.fullmatch(name)
    return match[1].lower() if match else ""


def _guess(suitable: Sequence[ColumnReport]) -> TargetProposal:
    """The only category among numbers, else the last column that is no description or moment.

    Where both are the same column, two signs agree, and it is no mere guess. Targets stand first or
    last; a category in the midst is an input.
    """
    likely = _likely(suitable)
    last = likely[-1]
    category = _category_among_numbers(likely)
    if category is None:
        rivals = _rivals(last, likely)
        which = "last" if rivals else "only"
        return TargetProposal(last.name, 0.5, f"the {which} column that could be one", rivals)

    reason = "the only category beside numbers"
    if category is last:
        return TargetProposal(category.name, 0.8, f"{reason}, and the last column")
    return TargetProposal(category.name, 0.5, reason, _rivals(category, likely))


def _likely(suitable: Sequence[ColumnReport]) -> list[ColumnReport]:
    """The columns that are no moment, group or description, as far as there are others."""
    plain = list(filterfalse(_is_moment_or_group, suitable))
    telling = list(filterfalse(_is_description, plain))
    return telling or plain or list(suitable)


def _category_among_numbers(likely: Sequence[ColumnReport]) -> ColumnReport | None:
    """The only category, first or last, of few classes, if three columns or more are numbers."""
    kinds = [report.type for report in likely]
    if kinds.count("category") != 1 or kinds.count("number") < 3:
        return None
    category = likely[kinds.index("category")]
    is_at_an_end = category in (likely[0], likely[-1])
    if not is_at_an_end:
        return None
    return category if _has_few_classes(category) else None


def _rivals(chosen: ColumnReport, likely: Sequence[ColumnReport]) -> tuple[str, ...]:
    """The last and the first column, categories of few classes, and numbers of two values."""
    ordered = [likely[-1], likely[0], *filter(_could_be_classes, likely)]
    others = dict.fromkeys(_names_of(ordered))
    others.pop(chosen.name, None)
    return tuple(others)[:_MOST_RIVALS]


def _names_of(reports: Sequence[ColumnReport]) -> list[str]:
    return [report.name for report in reports]


def _called(words: Sequence[str], by_name: Mapping[str, str]) -> list[str]:
    """The names that are one of some words, in the order of these."""
    return [by_name[word] for word in words if word in by_name]


def _by_lower_name(reports: Sequence[ColumnReport]) -> dict[str, str]:
    """The names by their lower case; of names that differ only in capitals the first."""
    return {report.name.lower(): report.name for report in reversed(reports)}
