"""Rules that clean tables keep: one column depends on others."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.frames import Frame

_PREDICATE = re.compile(r"^(EQ|IQ)\(t1\.(?P<left>.+),\s*t2\.(?P<right>.+)\)$")
_STRENGTH, _SUPPORT = 0.85, 3.0


@dataclass(frozen=True)
class Rule:
    """A functional dependency: rows that agree on all of ``given`` have the same ``then``."""

    given: tuple[str, ...]
    then: str

    def __str__(self) -> str:
        return f"{' + '.join(self.given)} -> {self.then}"


def parse_rules(text: str) -> list[Rule]:
    """Read denial constraints, one a line, in the form of HoloClean.

    That is ``t1&t2&EQ(t1.zip,t2.zip)&IQ(t1.city,t2.city)``. Only functional dependencies are
    understood: some EQ and one IQ, each between the same column of two rows. A line that compares
    different columns, or with another operator, is refused; empty lines and those with # are
    skipped.

    Raises:
        InvalidInput: naming the line.
    """
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        rules.append(_parse(line.strip(), f"line {number}"))
    return rules


def _parse(line: str, where: str) -> Rule:
    head, *predicates = re.split(r"&(?=t2\b|EQ|IQ|LT|GT|LTE|GTE)", line)
    if head.strip() != "t1" or not predicates or predicates[0].strip() != "t2":
        raise _refused("is no constraint between two rows.", where)
    columns: dict[str, list[str]] = {"EQ": [], "IQ": []}
    for predicate in predicates[1:]:
        match = _PREDICATE.match(predicate.strip())
        if match is None or match["left"] != match["right"]:
            raise _refused(f"{predicate!r} is not understood.", where)
        columns[match[1]].append(match["left"])
    given, then = columns["EQ"], columns["IQ"]
    if not given or len(then) != 1:
        raise _refused("needs at least one EQ and exactly one IQ.", where)
    return Rule(tuple(given), then[0])


def _refused(problem: str, where: str) -> InvalidInput:
    return InvalidInput(
        problem,
        where=where,
        remedy="Write t1&t2&EQ(t1.A,t2.A)&IQ(t1.B,t2.B): rows with the same A have the same B.",
    )


def find_rules(codes: np.ndarray, names: Sequence[str]) -> list[Rule]:
    """Find single-column dependencies that hold but for some cells.

    ``codes`` (N, D): values as numbers from 0 within a column, -1 where missing. A rule is kept
    where knowing ``given`` removes at least 85% of the errors of guessing ``then`` by its commonest
    value (Goodman and Kruskal's lambda, 1954) in the groups of two rows and more, and these have at
    least three rows on average and half of all rows.
    """
    pairs = itertools.permutations(range(codes.shape[1]), 2)
    return [
        Rule((names[given],), names[then])
        for given, then in pairs
        if _strength(codes[:, given], codes[:, then]) >= _STRENGTH
    ]


def _strength(given: np.ndarray, then: np.ndarray) -> float:
    """Goodman and Kruskal's lambda of ``then`` given ``given``.

    0 where groups are too few or too small to tell.
    """
    both = (given >= 0) & (then >= 0)
    if both.sum() < 10:
        return 0.0
    x, y = given[both], then[both]
    shared = np.bincount(x)[x] > 1
    if shared.mean() < 0.5:
        return 0.0
    x, y = x[shared], y[shared]
    rows_a_group = len(x) / len(np.unique(x))
    if rows_a_group < _SUPPORT:
        return 0.0
    width = y.max() + 1
    pairs, counts = np.unique(x * width + y, return_counts=True)
    best = np.zeros(x.max() + 1, np.int64)
    np.maximum.at(best, pairs // width, counts)
    commonest = int(np.bincount(y).max())
    if commonest == len(y):
        return 0.0
    return float((best.sum() - commonest) / (len(y) - commonest))


def violations(frame: Frame, rule: Rule, missing: Frame) -> Frame:
    """Return cells of ``rule.then`` that differ from what most rows of their group say.

    Columns: ``row``, ``suggestion`` (the majority's value) and ``confidence`` (its share of the
    group's rows with a value). Where the commonest values are equally frequent nobody knows which
    is wrong: all rows of the group come back, with an empty suggestion and the confidence that one
    of them is wrong, 1 - share.
    """
    import pandas as pd

    columns = [*rule.given, rule.then]
    kept = frame.loc[~missing[columns].any(axis=1), columns]
    key = kept.groupby(list(rule.given), sort=False).ngroup().to_numpy()
    value, levels = pd.factorize(kept[rule.then])
    table: Frame = pd.DataFrame({"row": kept.index.to_numpy(), "key": key, "value": value})
    votes = table.groupby(["key", "value"], sort=False).size().rename("votes").reset_index()
    top = votes.groupby("key")["votes"].max().rename("top")
    votes = votes.join(top, on="key").assign(total=votes.groupby("key")["votes"].transform("sum"))
    winners = (
        votes[votes["votes"] == votes["top"]]
        .groupby("key")
        .agg(
            winner=("value", "first"),
            ties=("value", "size"),
            share=("votes", "first"),
            total=("total", "first"),
        )
    )
    table = table.join(winners, on="key")
    share = table["share"] / table["total"]
    tied = table["ties"] > 1
    wrong = table["value"] != table["winner"]
    table["suggestion"] = np.where(
        tied, "", np.asarray(levels, dtype=object)[table["winner"].to_numpy()]
    )
    table["confidence"] = np.where(tied, 1.0 - share, share)
    return table.loc[tied | wrong, ["row", "suggestion", "confidence"]].reset_index(drop=True)
