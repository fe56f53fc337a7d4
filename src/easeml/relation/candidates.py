"""Saying what cells and rows could be: candidates that come to a relation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from easeml.errors import InvalidInput
from easeml.relation.blocks import Blocks, CandidateCells, concatenated, offsets
from easeml.relation.content import Content, Source
from easeml.relation.operations import distinct

_MISSING = (type(pd.NaT), type(pd.NA))
_SLACK = 1e-6  # how far probabilities may be from a sum of one


@dataclass(frozen=True)
class Candidate:
    """One way a row could be: ``cells`` by column, its probability, and whether the row exists."""

    cells: Mapping[str, Any]
    weight: float
    present: bool = True


@dataclass(frozen=True)
class RowCandidates:
    """All ways of one row, of which one is true. All present ones name the same columns."""

    row_id: Any
    candidates: Sequence[Candidate]
    source: Source | None = None


def cell_candidates(
    row_id: Any, column: str, weights: Mapping[Any, float], source: Source | None = None
) -> RowCandidates:
    """Return what one cell could be: ``weights`` has a probability for each value."""
    candidates = [Candidate({column: value}, weight) for value, weight in weights.items()]
    return RowCandidates(row_id, candidates, source)


def optional_row(row_id: Any, probability: float, source: Source | None = None) -> RowCandidates:
    """Return that a row exists with this probability."""
    there = Candidate({}, probability)
    absent = Candidate({}, 1.0 - probability, present=False)
    return RowCandidates(row_id, [there, absent], source)


Latest = dict[int, dict[frozenset[str], RowCandidates]]
"""By position of the row, and by what they cover: the candidates that count."""


def with_all(content: Content, told: Sequence[RowCandidates]) -> Content:
    """Return the content with candidates for some rows; the last word on a cell counts.

    What is told of a cell replaces what was told of it before. Candidates of weight 0 are left out;
    those that are alike become one.

    Raises:
        NotFound: where there is no such row.
        InvalidInput: where columns, values or weights do not fit, or where only some of the cells
            that vary together are told anew.
    """
    latest = _latest(content, told)
    sources = _all_sources(told, content.sources)
    made = _made(content, latest, sources)
    kept = content.blocks.take(_kept(content.blocks, latest))
    blocks = concatenated([kept, distinct(made)])
    return replace(content, blocks=blocks, sources=sources)


def _latest(content: Content, told: Sequence[RowCandidates]) -> Latest:
    """Return the candidates that count among all that are told. Raises as ``with_all`` does."""
    latest: Latest = {}
    for each in told:
        row = latest.setdefault(content.position_of(each.row_id), {})
        covered = _columns_of(content, each)
        for names in list(row):
            _check_whole(names, covered, each.row_id)
            if names <= covered:
                del row[names]
        row[covered] = each
    return latest


_PRESENCE = ""  # stands for a column where only the existence of a row is in doubt


def _columns_of(content: Content, told: RowCandidates) -> frozenset[str]:
    """Return the columns that the candidates of a row cover. Raises InvalidInput."""
    where = f"row {told.row_id!r}"
    named = {frozenset(each.cells) for each in told.candidates if each.present}
    if len(named) > 1:
        raise InvalidInput("The candidates name different columns.", where=where)
    covered = frozenset[str]().union(*named)
    content.check_columns(covered)
    _check_weights(told, where)
    if covered:
        return covered
    if all(each.present for each in told.candidates):
        raise InvalidInput("The candidates name no column.", where=where)
    return frozenset([_PRESENCE])


def _check_weights(told: RowCandidates, where: str) -> None:
    """Raise InvalidInput unless the weights of candidates are probabilities."""
    weights = np.array([each.weight for each in told.candidates], np.float64)
    if len(weights) == 0:
        raise InvalidInput("There are no candidates.", where=where, remedy="Give at least one.")
    wrong = _what_is_wrong(weights)
    if wrong:
        raise InvalidInput(
            f"The weights are not probabilities: {wrong}.",
            where=where,
            remedy="Give numbers of at least 0 that sum to 1.",
        )


def _what_is_wrong(weights: np.ndarray) -> str:
    """Return why weights are no probabilities; empty where they are."""
    may_be_shares = np.isfinite(weights) & (weights >= 0)
    if not may_be_shares.all():
        return f"the least is {weights.min():g}"
    total = weights.sum()
    if abs(total - 1.0) > _SLACK:
        return f"their sum is {total:g}"
    return ""


def _check_whole(before: frozenset[str], now: frozenset[str], row_id: Any) -> None:
    """Refuse candidates for a part of the cells that vary together."""
    if before.isdisjoint(now) or before <= now:
        return
    names = ", ".join(sorted(repr(name) for name in before if name))
    raise InvalidInput(
        f"The cells of {names} vary together.",
        where=f"row {row_id!r}",
        remedy="Give candidates for all of them, or for none.",
    )


def _kept(blocks: Blocks, latest: Latest) -> np.ndarray:
    """Return the numbers of the blocks that nothing replaces."""
    keep = np.ones(len(blocks), bool)
    for row, told in latest.items():
        low, high = np.searchsorted(blocks.row, [row, row + 1])
        for number in range(low, high):
            covered = blocks.columns_of(number) or {_PRESENCE}
            keep[number] = not _is_replaced(frozenset(covered), told)
    return np.flatnonzero(keep)


def _is_replaced(before: frozenset[str], told: Mapping[frozenset[str], RowCandidates]) -> bool:
    """Tell whether one of the candidates that are told of a row covers what was covered before.

    Raises InvalidInput for one that covers a part of it.
    """
    for now, each in told.items():
        _check_whole(before, now, each.row_id)
    return any(before <= now for now in told)


def _all_sources(told: Sequence[RowCandidates], known: Sequence[Source]) -> tuple[Source, ...]:
    """Return the sources that are known, which keep their numbers, and after them those to add.

    After a join a source may be there twice: candidates of both sides name it by their numbers.
    """
    named = [each.source for each in told if each.source is not None]
    return (*known, *(source for source in dict.fromkeys(named) if source not in known))


def _made(content: Content, latest: Latest, sources: Sequence[Source]) -> Blocks:
    """Return the blocks of what is told of rows."""
    of_each_row = np.array(list(map(len, latest.values())), np.int64)
    told = list(chain.from_iterable(map(dict.values, latest.values())))
    alive = list(map(_alive, told))
    sizes = np.array(list(map(len, alive)), np.int64)
    candidates = list(chain.from_iterable(alive))
    origins = [_number_of(each.source, sources) for each in told]
    begin = int(content.blocks.variable.max(initial=-1)) + 1
    return Blocks(
        row=np.repeat(np.array(list(latest), np.int64), of_each_row),
        variable=begin + np.arange(len(told)),
        first=offsets(sizes),
        weight=np.array(list(chain.from_iterable(map(_shares, alive))), np.float64),
        present=np.array([one.present for one in candidates], bool),
        source=np.repeat(np.array(origins, np.int32), sizes),
        cells=_cells_of(content, candidates),
    ).sorted()


def _alive(told: RowCandidates) -> list[Candidate]:
    return [one for one in told.candidates if one.weight > 0]


def _shares(candidates: Sequence[Candidate]) -> list[float]:
    """Return the weights of the candidates of a row, such that their sum is one."""
    weights = [one.weight for one in candidates]
    total = sum(weights)
    return [weight / total for weight in weights]


def _number_of(source: Source | None, sources: Sequence[Source]) -> int:
    return -1 if source is None else sources.index(source)


def _cells_of(content: Content, candidates: Sequence[Candidate]) -> dict[str, CandidateCells]:
    """Return what candidates say of each column, by their places among them."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    values: defaultdict[str, list[Any]] = defaultdict(list)
    for place, candidate in enumerate(candidates):
        if not candidate.present:
            continue
        for column, value in candidate.cells.items():
            places[column].append(place)
            values[column].append(value)
    cells = {}
    for column, place in places.items():
        array = typed(content, column, values[column])
        cells[column] = CandidateCells(np.array(place, np.int64), array)
    return cells


def typed(content: Content, column: str, values: Sequence[Any]) -> pa.Array:
    """Return values as an array of a column's type. Raises InvalidInput, naming the column."""
    kind = content.type_of(column)
    plain = [_plain(value, kind) for value in values]
    try:
        return pa.array(plain, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InvalidInput(
            f"A candidate is not of the column's type, {kind}: {error}.",
            where=f"column {column!r}",
            remedy="Convert the column first, or give values of its type.",
        ) from error


def _plain(value: Any, kind: pa.DataType) -> Any:
    """Return a value as Arrow takes it: what pandas marks as missing becomes None."""
    if isinstance(value, _MISSING):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if pa.types.is_floating(kind):
        return value
    # Among real numbers NaN is a value, in any other column it says that there is none.
    is_nan = isinstance(value, float) and np.isnan(value)
    return None if is_nan else value
