"""What to do about a slice: remedies, by the mistakes that each should correct for its cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.debugging.causes import Cause, Here, Known
from easeml.lifecycle.debugging.cells import broken_cells, spread_over
from easeml.lifecycle.debugging.conditions import Slice
from easeml.lifecycle.debugging.learned import Opinion, opinion_on
from easeml.lifecycle.debugging.rows import is_wrong
from easeml.lifecycle.tool_answer import Asked, Remedy

_LABEL_MINUTES = 0.2
_CELL_MINUTES = 0.5
_SOURCE_MINUTES = 30.0
_SEARCH_SECONDS = 60.0
_MOST_ITEMS = 100
_LEAST_SUSPICION = 0.1
_ELSEWHERE = 100  # rows outside of a slice that a quick learner learns from, or as many as inside


def remedies_of(here: Here, causes: list[Cause], known: Known) -> list[Remedy]:
    """Return what can be done about a slice, what corrects most for its cost first."""
    makers = {
        "cells": _of_cells,
        "few": _of_few,
        "drift": _retrained,
        "labels": _of_labels,
        "hard": _of_hard,
    }
    found: list[Remedy] = []
    for cause in causes:
        remedy = makers[cause.kind](here, cause, known)
        if remedy is not None and remedy.corrected > 0:
            found.append(remedy)
    if _may_be_right(here, found):
        found += _of_cells_that_stay(here, causes, known)
    return sorted(found, key=lambda one: -one.worth)


def _may_be_right(here: Here, remedies: list[Remedy]) -> bool:
    """Tell whether cells of production that look broken may be the world that changed.

    The cells alone do not tell. Where rows are learned from already, that comprises these cells.
    """
    kinds = {one.kind for one in remedies}
    is_at_the_source = "repair-source" in kinds
    return here.judged.name == "production" and is_at_the_source and "retrain" not in kinds


def _of_cells_that_stay(here: Here, causes: list[Cause], known: Known) -> list[Remedy]:
    """Return what learning from cells corrects that look broken, should they be right."""
    (cause,) = (one for one in causes if one.kind == "cells")
    remedy = _retrained(here, cause, known)
    if remedy is None or remedy.corrected <= 0:
        return []
    reason = f"Where {cause.columns[0]} is right and stays as it is: {remedy.reason}"
    return [replace(remedy, reason=reason)]


def ranked(remedies: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Return the remedies of all slices, the best for its cost first.

    Searching on is one for all slices. So is repairing a column where it comes from, which corrects
    the mistakes of each slice: no row is in two.
    """
    found: dict[Any, Remedy] = {}
    for place, remedy in enumerate(remedies):
        kind = remedy.kind
        if kind == "search":
            found.setdefault(kind, remedy)
        elif kind == "repair-source" and remedy.title in found:
            found[remedy.title] = _together(found[remedy.title], remedy)
        else:
            found[remedy.title if kind == "repair-source" else place] = remedy
    return tuple(sorted(found.values(), key=lambda one: -one.worth))


def _together(one: Remedy, other: Remedy) -> Remedy:
    return replace(
        one,
        about=f"{one.about}; {other.about}",
        corrected=one.corrected + other.corrected,
        rows=0,  # of several slices: what comes is not told of one
        mistakes=0,
        low=one.low + other.low,
        high=one.high + other.high,
    )


def _remedy(
    kind: str,
    here: Here,
    known: Known,
    title: str,
    reason: str,
    corrected: tuple[float, float, float],
    *,
    minutes: float = 0.0,
    seconds: float = _SEARCH_SECONDS,
    items: list[Asked] | None = None,
    instead: bool = False,
) -> Remedy:
    value, low, high = corrected
    held = here.slice.holds(here.judged.inputs)
    return Remedy(
        kind=kind,
        title=title,
        reason=reason,
        about=str(here),
        corrected=value,
        low=low,
        high=high,
        human_minutes=minutes,
        device_seconds=seconds,
        conditions=here.slice.to_json(),
        items=tuple(items or ()),
        instead=instead,
        judged=here.judged.name,
        rows=int(held.sum()),
        mistakes=int(here.judged.wrong[held].sum()),
        tolerance=known.case.tolerance,
    )


def _of_cells(here: Here, cause: Cause, known: Known) -> Remedy | None:
    """Repair training cells, where some are broken; else the column where it comes from."""
    items = _broken_training_cells(here, cause, known)
    column = cause.columns[0]
    if not items:
        title = f"Repair {column} where it comes from"
        reason = f"{cause.evidence}. The training rows are in order"
        corrected = cause.mistakes, cause.low, cause.high
        minutes = _SOURCE_MINUTES
        return _remedy(
            "repair-source", here, known, title, reason, corrected, minutes=minutes, seconds=0.0
        )
    asked = items[:_MOST_ITEMS]
    return _remedy(
        "repair-cells",
        here,
        known,
        f"Repair {len(asked)} cells of {column} where {here}",
        f"{cause.evidence}. Only training rows are asked about: {here.judged.name} rows whose "
        f"{column} is broken stay so, and what this corrects shows on rows that have it in order",
        _scaled(cause, len(asked) / len(items)),
        minutes=_CELL_MINUTES * len(asked),
        items=asked,
    )


def _broken_training_cells(here: Here, cause: Cause, known: Known) -> list[Asked]:
    train = known.case.train
    if train is None:
        return []
    inside = here.slice.holds(train.inputs)
    if not inside.any() or inside.all():
        return []
    rows = train.inputs[inside]
    found = []
    outside = train.inputs[~inside]
    for one in broken_cells(rows, outside, train.inputs, here.slice, same_place=False):
        if one.column in cause.columns:
            found += [Asked(int(row), one.column, 0.9) for row in rows.index[one.where]]
    return found


def _of_few(here: Here, cause: Cause, known: Known) -> Remedy | None:
    if here.judged.name == "production":
        return _retrained(here, cause, known)
    wanted = min(_MOST_ITEMS, max(10, here.rows))
    pool = known.case.pool
    if pool is None:
        return _collected(here, cause, known, f"Bring or label {wanted} more rows", wanted)
    there = int(here.slice.holds(pool).sum())
    if there >= wanted:
        return _collected(here, cause, known, f"Label {wanted} rows of the pool", wanted)
    if not there:
        return _collected(here, cause, known, f"Bring {wanted} rows with answers", wanted)
    rows = "row" if there == 1 else f"{there} rows"
    title = f"Label the {rows} of the pool"
    # What is in the pool is asked first; the rest has to be brought.
    reason = f"The pool has no more of them; {wanted - there} others would have to be brought"
    return _collected(here, cause, known, title, there, part=there / wanted, reason=reason)


def _collected(
    here: Here,
    cause: Cause,
    known: Known,
    title: str,
    rows: int,
    *,
    part: float = 1.0,
    reason: str = "",
) -> Remedy:
    """Return the remedy of more rows with answers, which are ``part`` of what is wanted."""
    return _remedy(
        "collect",
        here,
        known,
        f"{title} where {here}",
        f"{cause.evidence}. {reason}" if reason else cause.evidence,
        _scaled(cause, part),
        minutes=_LABEL_MINUTES * rows,
    )


def _retrained(here: Here, cause: Cause, known: Known) -> Remedy | None:
    """Learn from the rows of production; what that corrects is measured by a quick learner.

    Where it changed, rows of before say what is not true any more: they are no longer learned from.
    """
    measured = relearned(here, known)
    if measured is None:
        return None
    title = f"Learn from the {here.rows} rows of production where {here}"
    is_outdated = cause.kind == "drift"
    if is_outdated:
        title += ", in place of those before"
    reason = (
        f"{cause.evidence}. Learning from these rows corrected {measured[0]:.0f} of "
        f"{here.mistakes} mistakes, on rows held out"
    )
    return _remedy("retrain", here, known, title, reason, measured, instead=is_outdated)


def relearned(here: Here, known: Known) -> tuple[float, float, float] | None:
    """Return the mistakes that are corrected, less new ones, by learning from rows of the slice.

    Quick learners learn from other rows of the slice, and from rows outside of it; each is judged
    on rows that it has not seen. The interval is that of a difference of paired counts (McNemar,
    Psychometrika 12, 1947). None of too few rows.
    """
    import pandas as pd

    outside = ~here.slice.holds(known.home)
    elsewhere, answers = known.home[outside], known.home_answers[outside]
    most = max(here.rows, _ELSEWHERE)
    elsewhere, answers = spread_over(elsewhere, most), spread_over(answers, most)
    kind = object if known.case.is_of_classes else answers.dtype
    rows, truth = here.judged.inputs[here.inside], here.judged.answers[here.inside].astype(kind)
    opinion = opinion_on(
        pd.concat([rows, elsewhere]),
        pd.concat([truth, answers.astype(kind)]),
        of_classes=known.case.is_of_classes,
        seed=known.seed,
    )
    if opinion is None:
        return None
    return _net(opinion, np.arange(len(rows)), truth, here.judged.wrong[here.inside], known)


def _net(
    opinion: Opinion, places: np.ndarray, truth: Column, before: np.ndarray, known: Known
) -> tuple[float, float, float]:
    """Return the mistakes that an opinion corrects less those that it makes, with its interval.

    ``before``: which of the rows were mistakes.
    """

    wrong = _mistakes_of(opinion, places, truth, known)
    corrected = int((before & ~wrong).sum())
    new = int((~before & wrong).sum())
    half = 1.96 * float(np.sqrt(corrected + new))
    net = float(corrected - new)
    return net, net - half, min(float(before.sum()), net + half)


def _mistakes_of(opinion: Opinion, places: np.ndarray, truth: Column, known: Known) -> np.ndarray:
    """Return which of some rows an opinion is wrong about."""

    class Said:
        values = opinion.values[places]

    return is_wrong(truth, Said, known.case.tolerance)


def _of_labels(here: Here, cause: Cause, known: Known) -> Remedy | None:
    """Have the labels checked that look wrong among the training rows of the slice."""
    train = known.case.train
    opinion = known.opinion
    if train is None or opinion is None:
        return None
    inside = here.slice.holds(known.home)
    suspicion = opinion.wrong_answers(inside)
    places = np.flatnonzero(inside)
    is_train = places < len(known.home) - len(known.case.validation)
    differs = opinion.values[places] != opinion.answers[places]
    looks_wrong = is_train & differs & (suspicion >= _LEAST_SUSPICION)
    target = str(train.answers.name)
    items = []
    for place, chance in zip(places[looks_wrong], suspicion[looks_wrong], strict=True):
        suggestion = _told(opinion.values[place])
        items.append(Asked(int(known.home.index[place]), target, float(chance), suggestion))
    if not items:
        return None
    items.sort(key=lambda one: -one.suspicion)
    asked = items[:_MOST_ITEMS]
    part = sum(one.suspicion for one in asked) / sum(one.suspicion for one in items)
    title = f"Check {len(asked)} answers where {here}"
    minutes = _LABEL_MINUTES * len(asked)
    corrected = _scaled(cause, part)
    return _remedy(
        "check-labels", here, known, title, cause.evidence, corrected, minutes=minutes, items=asked
    )


def _of_hard(here: Here, cause: Cause, known: Known) -> Remedy | None:
    """Search on, where other models are right about more of all validation rows, not seen by them.

    A slice was chosen where this model is bad: others look better there than they are.
    """
    if here.judged.name != "validation" or known.opinion is None:
        return None
    first = len(known.home) - len(known.case.validation)
    places = first + np.arange(len(here.judged))
    net = _net(known.opinion, places, here.judged.answers, here.judged.wrong, known)
    if net[1] <= 0 or _trades_classes(here, known.opinion, places, known):
        return None
    reason = f"other models were right about {net[0]:.0f} more of the {len(places)} rows"
    whole = replace(here, slice=Slice())
    return _remedy("search", whole, known, "Let the search go on", reason, net)


def _trades_classes(here: Here, opinion: Opinion, places: np.ndarray, known: Known) -> bool:
    """Tell whether others are right more often only where they name a common class more often.

    A model that is to find a rare class pays with mistakes about the common ones, on purpose.
    """
    if not known.case.is_of_classes:
        return False
    judged = here.judged
    wrong = _mistakes_of(opinion, places, judged.answers, known)
    gained = judged.wrong.astype(int) - wrong.astype(int)
    classes, codes = np.unique(judged.answers.to_numpy().astype(str), return_inverse=True)
    of_class = np.bincount(codes, gained, len(classes)) / np.bincount(codes)
    return float(of_class.mean()) <= 0


def _scaled(cause: Cause, part: float) -> tuple[float, float, float]:
    return cause.mistakes * part, cause.low * part, cause.high * part


def _told(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
