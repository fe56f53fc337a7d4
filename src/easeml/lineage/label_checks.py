"""Labels that look wrong: what the tool ``label-errors`` says of the train rows of a relation.

It is the tool that a service asks, so that both say the same of the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.journey import Suspects
from easeml.lifecycle.labeling.label_errors import SUSPICIOUS
from easeml.lifecycle.tool import Fact, ToolAnswer, tool_named
from easeml.relation import Relation

_FEWEST = 10  # labels that are judged by one another


@dataclass(frozen=True)
class JudgedLabels:
    """n labels of train rows. ``labels``: by row id. ``suggested``: what models of other rows say.

    ``wrong``: how likely each is wrong, in [0, 1], or NaN where its class has too few rows to tell.
    ``listed``: places of those that look wrong, the likeliest first.
    """

    labels: Column
    suggested: np.ndarray
    wrong: np.ndarray
    listed: np.ndarray
    told: ToolAnswer

    @property
    def suspects(self) -> Suspects:
        """The numbers from which what checking brings is reckoned."""
        expected = float(np.nansum(self.wrong))
        return Suspects(len(self.listed), expected, len(self.labels))


def judged_labels(
    relation: Relation,
    confidence: float = SUSPICIOUS,
    seed: int = 0,
    most: int | None = None,
) -> JudgedLabels | None:
    """Judge the labels of train rows by models that have not seen them; None where there are few.

    Labels in doubt are left out: they have candidates already. All rows are train rows where there
    are no roles.

    Args:
        relation: with a target.
        confidence: a label is listed if it is wrong with at least this probability, in (0, 1).
        seed: of the parts and models, and of the sample.
        most: rows that are judged; where there are more, a sample of so many is.
    """
    target = str(relation.target)
    relation = relation.observed()
    train = relation if relation.roles is None else relation.in_role("train")
    frame: Frame = train.to_frame()
    frame = frame.drop(index=frame.index.intersection(_label_in_doubt(train, target)))
    frame = frame[frame[target].notna()]
    if most is not None and len(frame) > most:
        frame = frame.sample(most, random_state=seed)
    if len(frame) < _FEWEST or frame[target].nunique() < 2:
        return None
    answers = frame[target]
    if not pd.api.types.is_float_dtype(answers):
        answers = answers.astype(str).astype("category")
    facts: Mapping[Fact, Any] = {"inputs": frame.drop(columns=target), "answers": answers}
    tool = tool_named("label-errors")
    config = tool.configured({"confidence": confidence, "seed": seed})
    told, _ = tool.ask(tool.open(config), facts)
    assert told.rows is not None
    wrong = np.asarray(told.rows["suspicion"])
    order = np.argsort(-np.nan_to_num(wrong), kind="stable")
    listed = order[np.nan_to_num(wrong)[order] >= confidence]
    suggested = np.asarray(told.rows["predicted"])
    return JudgedLabels(frame[target], suggested, wrong, listed, told)


def _label_in_doubt(relation: Relation, target: str) -> pd.Index:
    """Return the ids of rows whose label has candidates."""
    blocks = relation.content.blocks
    if target not in blocks.cells:
        return relation.row_ids[:0]
    rows = blocks.row[blocks.block[blocks.cells[target].place]]
    return relation.row_ids[np.unique(rows)]


def check_labels(
    relation: Relation, n: int = 50, confidence: float = SUSPICIOUS, seed: int = 0
) -> dict[str, Any]:
    """Say which labels of train rows look wrong, the likeliest first, at most ``n``.

    The answer names rows by their ids (``row_ids``), with what stands there (``labels``), what
    models of the other rows say (``suggestions``), and how likely the label is wrong (``wrong``).
    Raises InvalidInput where there is no target, or there are too few labels.
    """
    if relation.target is None:
        raise InvalidInput("The relation has no target.", remedy="Name one in from_frame.")
    judged = judged_labels(relation, confidence, seed)
    if judged is None:
        raise InvalidInput(
            f"Labels are judged by one another: there are fewer than {_FEWEST} in the train rows, "
            "or all are the same.",
            where=f"column {relation.target!r}",
            remedy="Label more rows first, with label_next().",
        )
    first = judged.listed[:n]
    suspects = judged.suspects
    return {
        "verdict": f"{suspects.listed:,} of {suspects.rows:,} labels look wrong",
        "rows": suspects.rows,
        "listed": suspects.listed,
        "expected": suspects.expected,
        "row_ids": judged.labels.index[first].tolist(),
        "labels": judged.labels.iloc[first].tolist(),
        "suggestions": judged.suggested[first].tolist(),
        "wrong": judged.wrong[first].tolist(),
        "assumes": list(judged.told.assumes),
    }
