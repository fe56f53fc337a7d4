"""Where a model errs, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from easeml.lifecycle.debugging.candidates import candidates_in
from easeml.lifecycle.debugging.causes import Cause, Here, Known, causes_of
from easeml.lifecycle.debugging.conditions import Slice
from easeml.lifecycle.debugging.remedies import ranked, remedies_of
from easeml.lifecycle.debugging.rows import Case, Judged, strata_of
from easeml.lifecycle.debugging.scan import Found, scan
from easeml.lifecycle.debugging.shares import is_more
from easeml.lifecycle.result import listener
from easeml.lifecycle.tool_answer import Remedy

_MOST_ROWS = 5000  # that are scanned, of each source
_LEAST_ROWS = 15  # of a slice
_LEAST_SHARE = 0.015


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A slice on which the model is significantly worse, its causes, the likeliest first.

    ``here``: its rows. ``p_value``: corrected for all slices that were looked at.
    """

    here: Here
    p_value: float
    causes: tuple[Cause, ...]
    remedies: tuple[Remedy, ...]


@dataclass(frozen=True, slots=True)
class Debugged:
    """What was found.

    ``diagnoses``: the one with most mistakes to be corrected first; those that are mostly hard by
    nature come last.

    ``remedies``: those of all, the one that corrects most for its cost first.
    """

    case: Case
    diagnoses: tuple[Diagnosis, ...]
    remedies: tuple[Remedy, ...]


def debug(
    case: Case,
    *,
    level: float = 0.05,
    most: int = 5,
    permutations: int = 199,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Debugged:
    """Return the slices on which a model errs significantly more, with causes and remedies.

    ``level`` is the chance of naming any slice where there is none. It is divided equally among the
    scans: of validation rows; and, where there are rows of production, of these within strata of
    rows that are about equally hard to the model, and of all of them beside the validation rows.

    Args:
        case: what is known of the model.
        level: in (0, 1).
        most: slices that each scan names at most.
        permutations: of each test; at least 1 / level - 1 times the number of scans.
        seed: seed of the random numbers.
        progress: called with the share of the work that is done.
    """
    tell = listener(progress)
    found = _slices(case, level, most, permutations, seed)
    tell(0.3)
    known = Known(case, seed)
    diagnosed: list[tuple[Here, float, list[Cause]]] = []
    for number, (here, p_value) in enumerate(found):
        diagnosed.append((here, p_value, causes_of(here, known)))
        tell(0.3 + 0.4 * (number + 1) / len(found))
    diagnosed.sort(key=lambda one: (one[2][0].kind == "hard", -_correctable(one[2])))
    diagnoses = []
    for place, (here, p_value, causes) in enumerate(diagnosed, 1):
        remedies = remedies_of(here, causes, known)
        diagnoses.append(Diagnosis(here, p_value, tuple(causes), tuple(remedies)))
        tell(0.7 + 0.3 * place / len(diagnosed))
    remedies = chain.from_iterable(one.remedies for one in diagnoses)
    return Debugged(case, tuple(diagnoses), ranked(remedies))


def _correctable(causes: list[Cause]) -> float:
    return sum(cause.mistakes for cause in causes if cause.kind != "hard")


def _slices(
    case: Case, level: float, most: int, permutations: int, seed: int
) -> list[tuple[Here, float]]:
    """Return the significant slices of validation rows and of production, with p-values."""
    validation = case.validation
    production = case.production
    if production is None:
        none = np.zeros(len(validation), dtype=np.int64)
        return _scanned(validation, none, level, most, permutations, seed)
    part = level / 3
    strata = strata_of(production, validation)
    found = _scanned(production, strata, part, most, permutations, seed)
    found += _of_all_others(production, validation, [here for here, _ in found], part)
    none = np.zeros(len(validation), dtype=np.int64)
    return found + _scanned(validation, none, part, most, permutations, seed)


def _scanned(
    judged: Judged, strata: np.ndarray, level: float, most: int, permutations: int, seed: int
) -> list[tuple[Here, float]]:
    chosen = np.arange(len(judged))
    if len(judged) > _MOST_ROWS:
        random = np.random.default_rng(seed)
        chosen = np.sort(random.permutation(len(judged))[:_MOST_ROWS])
    rows = judged.inputs.iloc[chosen]
    least = max(_LEAST_ROWS, round(_LEAST_SHARE * len(rows)))
    slices = scan(
        candidates_in(rows, least),
        judged.wrong[chosen],
        strata[chosen],
        least=least,
        level=level,
        most=most,
        permutations=permutations,
        seed=seed,
    )
    return _apart(judged, slices)


def _apart(judged: Judged, slices: list[Found]) -> list[tuple[Here, float]]:
    """Return slices without common rows: a row is of the slice in which most are wrong.

    What is left of a slice without more mistakes than elsewhere is left out.
    """
    insides = [one.slice.holds(judged.inputs) for one in slices]
    order = sorted(range(len(slices)), key=lambda place: -judged.wrong[insides[place]].mean())
    taken = np.zeros(len(judged), dtype=bool)
    found: list[tuple[int, Here, float]] = []
    for place in order:
        inside = insides[place]
        elsewhere = judged.wrong[~inside]
        share = float(elsewhere.mean()) if len(elsewhere) else 0.0
        here = Here(slices[place].slice, judged, inside & ~taken, share)
        taken |= inside
        if here.rows and here.mistakes > here.rows * share:
            found.append((place, here, slices[place].p_value))
    return [(here, p_value) for _, here, p_value in sorted(found, key=lambda one: one[0])]


def _of_all_others(
    production: Judged, validation: Judged, named: list[Here], level: float
) -> list[tuple[Here, float]]:
    """Return all rows of production outside of ``named``, where mistakes are more than before."""
    others = np.ones(len(production), dtype=bool)
    before = np.ones(len(validation), dtype=bool)
    for here in named:
        others &= ~here.slice.holds(production.inputs)
        before &= ~here.slice.holds(validation.inputs)
    if not others.any() or not before.any():
        return []
    now, then = production.wrong[others], validation.wrong[before]
    p_value = is_more(int(now.sum()), len(now), int(then.sum()), len(then))
    if p_value > level:
        return []
    return [(Here(Slice(), production, others, float(then.mean())), p_value)]
