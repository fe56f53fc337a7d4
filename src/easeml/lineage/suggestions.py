"""The next step: what a relation lacks, what each remedy costs, and what it is expected to bring.

Facts decide which actions are possible (Renggli et al., CIDR 2021, figure 2): roles, then doubts in
place of holes, then feasibility, then rows to clean, labels to check, or rows to label. What these
bring is measured with small models, on the validation rows. Which labels look wrong is said by the
tool that a service asks, and told in the words of its journey.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from easeml.lifecycle.cleaning.frames import Frame
from easeml.lifecycle.journey import (
    FEASIBILITY_SECONDS,
    QUESTION_SECONDS,
    Estimate,
    Facts,
    check_labels,
)
from easeml.lifecycle.labeling.label_errors import LEAST_SURE
from easeml.lineage.gains import checking_gain, cleaning_gain, labelling_gain
from easeml.lineage.label_checks import judged_labels
from easeml.relation import Content, Relation

MINUTES_A_ROW = 1.0
"""What a person is taken to need to look up the doubtful cells of a row."""
MINUTES_A_LABEL = 0.25
"""What a person is taken to need for a label."""
_AT_ONCE = 20  # rows to clean or to label before one asks again
_MOST_JUDGED = 1000  # labels that are judged before something is suggested; the step judges all
_FEWEST = 20  # labelled rows of train and of validation before models are compared


@dataclass(frozen=True)
class Suggestion:
    """An action. ``why``: the facts behind it; ``evidence``: what else it rests on.

    ``minutes``: of people; ``device_seconds``: of a machine, None where nothing tells. ``gain``: of
    accuracy, or of R2 (a share, with an interval at 90 %), None where it is not measured: the work
    is a machine's, and what follows needs it. ``ready``: makes the step; ``step``: the step on the
    relation that was asked, which ``eval`` runs.
    """

    action: str
    why: str
    minutes: float
    gain: Estimate | None
    ready: Callable[[Any], Any]
    step: Any = None
    device_seconds: float | None = None
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = f"{self.action}: {self.why}"
        if 0 < self.minutes < 1:
            told += " Less than a minute of work."
        elif self.minutes:
            told += f" About {self.minutes:.0f} minutes of work."
        if self.gain is not None:
            low, high = 100 * self.gain.low, 100 * self.gain.high
            told += (
                f" Expected gain {100 * self.gain.value:+.1f} points ({low:+.1f} to {high:+.1f})."
            )
        return told


class Suggestions(list[Suggestion]):
    """Suggestions in their order, which show themselves as a list."""

    def _repr_html_(self) -> str:
        lines = [f"<li>{escape(str(each))}</li>" for each in self]
        return f"<ol>{''.join(lines)}</ol>"

    def __repr__(self) -> str:
        if not self:
            return "Nothing to suggest."
        lines = [f"{place}. {each}" for place, each in enumerate(self, start=1)]
        return "\n".join(lines)


def suggestions(content: Content, done: Collection[str], seed: int) -> list[Suggestion]:
    """Return what to do next: work of machines first, then by expected gain a minute.

    ``done``: the operators that were used already.
    """
    relation = Relation(content).observed()
    if relation.target is None:
        why = "Without a target there is nothing to predict: name it in from_frame(target=...)."
        return [Suggestion("name the target", why, 0.0, None, lambda staged: staged)]
    if relation.roles is None:
        why = "No row has a role, so nothing can be validated."
        return [Suggestion("split", why, 0.0, None, lambda staged: staged.split())]
    found = [*_machine_work(relation, done), *_people_work(relation, seed)]
    return sorted(found, key=_rank)


def _rank(suggestion: Suggestion) -> float:
    """Return what sorts suggestions: machines' work first, then the largest gain a minute."""
    if suggestion.gain is None:
        return -np.inf
    return -suggestion.gain.value / max(suggestion.minutes, 1e-9)


def _machine_work(relation: Relation, done: Collection[str]) -> list[Suggestion]:
    found = []
    holes = _holes(relation)
    if holes and "clean" not in done:
        why = f"{holes:,} cells are missing and have no candidates."
        found.append(Suggestion("clean", why, 0.0, None, lambda staged: staged.clean()))
    if "feasibility" not in done:
        why = "Nobody asked yet what any model can reach."
        found.append(
            Suggestion(
                "feasibility",
                why,
                0.0,
                None,
                lambda staged: staged.feasibility(),
                device_seconds=FEASIBILITY_SECONDS,
            )
        )
    known = _labelled(relation, "train")
    if min(known, _labelled(relation, "validation")) >= _FEWEST:
        why = f"{known:,} train rows have labels to learn from."
        found.append(Suggestion("search", why, 0.0, None, lambda staged: staged.search()))
    return found


def _people_work(relation: Relation, seed: int) -> list[Suggestion]:
    """Return what people can do: rows to clean, labels to check, rows to label."""
    train = _labelled(relation, "train")
    if min(train, _labelled(relation, "validation")) < _FEWEST:
        return []
    made = (_rows_to_clean(relation, seed), _labels_to_check(relation, seed))
    return [*filter(None, made), *_rows_to_label(relation, train, seed)]


def _rows_to_clean(relation: Relation, seed: int) -> Suggestion | None:
    doubtful = _doubtful_rows(relation.in_role("train"))
    if not doubtful:
        return None
    rows = min(doubtful, _AT_ONCE)
    return Suggestion(
        "plan_cleaning",
        f"{doubtful:,} train rows have cells or labels in doubt.",
        rows * MINUTES_A_ROW,
        cleaning_gain(relation, rows / doubtful, seed),
        lambda staged: staged.plan_cleaning(n=rows),
    )


def _labels_to_check(relation: Relation, seed: int) -> Suggestion | None:
    """Return the check of labels that look wrong; None where none does, or models lose by it.

    Where inputs decide little, right labels look wrong, too. Models that learn what is said to be
    right instead are then no better on validation rows.
    """
    if _labelled(relation, "train") < LEAST_SURE:
        return None
    judged = judged_labels(relation, seed=seed, most=_MOST_JUDGED)
    if judged is None:
        return None
    facts = Facts(target=str(relation.target), suspects=judged.suspects)
    action = check_labels(facts)
    if action is None:
        return None
    rows = min(len(judged.listed), _AT_ONCE)
    gain = checking_gain(relation, judged, rows, seed)
    if gain.value <= 0:
        return None
    return Suggestion(
        "check_labels",
        action.reason,
        action.human_minutes,
        gain,
        lambda staged: staged.check_labels(n=rows),
        device_seconds=QUESTION_SECONDS,
        evidence=action.evidence,
    )


def _rows_to_label(relation: Relation, train: int, seed: int) -> list[Suggestion]:
    pool = len(relation.in_role("pool"))
    if not pool:
        return []
    rows = min(pool, _AT_ONCE)
    label = Suggestion(
        "label_next",
        f"{pool:,} rows of the pool have no label; {train:,} train rows have one.",
        rows * MINUTES_A_LABEL,
        labelling_gain(relation, rows, seed),
        lambda staged: staged.label_next(n=rows),
    )
    return [label]


def _holes(relation: Relation) -> int:
    """Return how many cells, but for the target, have neither value nor candidates."""
    frame: Frame = relation.to_frame()
    return int(frame.drop(columns=relation.target).isna().sum().sum())


def _labelled(relation: Relation, role: str) -> int:
    frame: Frame = relation.in_role(role).to_frame()
    return int(frame[relation.target].notna().sum())


def _doubtful_rows(relation: Relation) -> int:
    blocks = relation.content.blocks
    return len(np.unique(blocks.row[blocks.sizes > 1]))
