"""How columns become numbers, so that it can be seen whether they moved.

Each kind learns from the reference rows, and is kept as plain values. Numbers, categories, prose,
and cells that hold many numbers (pictures and arrays) have one each. Dates have none: time always
moves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

LEVELS = 20  # values, or words, that are looked at one by one
_MOST_WORDS = 20_000  # that are known
_CELLS_LOOKED_AT = 100  # by which a kind is told
_SIDE = 16  # of a picture, in pixels, as it is looked at
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+")
"""A word; a letter of a language that has no spaces."""


class Column(Protocol):
    """A column of which the reference rows are known."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def features(self) -> list[str]:
        """The name of each feature."""
        ...

    def encode(self, values: pd.Series, *, are_reference: bool = False) -> np.ndarray:
        """Return the features of n values, float64 of shape (n, number of features)."""
        ...


@dataclass(frozen=True)
class Numbers:
    """Numbers; a gap is filled by ``median``, and flagged."""

    kind: ClassVar[str] = "numbers"
    name: str
    median: float

    @property
    def features(self) -> list[str]:
        """The name of each feature."""
        return [self.name, f"{self.name} missing"]

    def encode(self, values: pd.Series, *, are_reference: bool = False) -> np.ndarray:
        """Return the numbers, and which are missing (n, 2)."""
        import pandas as pd

        numbers = pd.Series(pd.to_numeric(values, errors="coerce")).to_numpy(
            dtype=np.float64, na_value=np.nan
        )
        are_missing = ~np.isfinite(numbers)
        filled = np.where(are_missing, self.median, numbers)
        return np.column_stack([filled, are_missing.astype(np.float64)])


@dataclass(frozen=True)
class Levels:
    """Categories: which value each row has of the commonest ``levels``."""

    kind: ClassVar[str] = "levels"
    name: str
    levels: tuple[str, ...]

    @property
    def features(self) -> list[str]:
        """The name of each feature."""
        return [f"{self.name} = {level}" for level in self.levels]

    def encode(self, values: pd.Series, *, are_reference: bool = False) -> np.ndarray:
        """Return 1 where a value is the level, else 0 (n, levels)."""
        texts = _texts(values)
        has_level = [texts == level for level in self.levels]
        return np.column_stack(has_level).astype(np.float64)


@dataclass(frozen=True)
class Prose:
    """Texts that seldom repeat.

    ``common``: words that most texts have. ``known``: all words by their number of texts, the most
    frequent first; the first ``twice`` of them are in one text more than the last has to be. So a
    word of a reference text is known by other texts alone, as one of a new text is.
    """

    kind: ClassVar[str] = "prose"
    name: str
    common: tuple[str, ...]
    known: tuple[str, ...]
    twice: int

    @property
    def features(self) -> list[str]:
        """The name of each feature."""
        told = ("words", "unknown words", "capitals", "digits", "missing")
        shapes = [f"{self.name}: {one}" for one in told]
        return [*shapes, *(f"{self.name} has '{word}'" for word in self.common)]

    def encode(self, values: pd.Series, *, are_reference: bool = False) -> np.ndarray:
        """Return length, shares of words and letters, and which common words are there."""
        known = frozenset(self.known[: self.twice] if are_reference else self.known)
        found = np.zeros((len(values), len(self.features)))
        for row, text in enumerate(_texts(values)):
            if text is None:
                found[row, 4] = 1.0
                continue
            words = _words(text)
            own = set(words)
            unknown = own - known
            letters = max(len(text), 1)
            capitals = sum(map(str.isupper, text))
            digits = sum(map(str.isdigit, text))
            found[row, 0] = np.log1p(len(words))
            found[row, 1] = len(unknown) / max(len(own), 1)
            found[row, 2] = capitals / letters
            found[row, 3] = digits / letters
            found[row, 5:] = list(map(own.__contains__, self.common))
        return found


@dataclass(frozen=True)
class Cells:
    """Pictures (bytes) or arrays: what their numbers are like as a whole."""

    kind: ClassVar[str] = "cells"
    name: str

    @property
    def features(self) -> list[str]:
        """The name of each feature."""
        told = ("mean", "spread", "least", "most", "change", "length", "missing")
        return [f"{self.name}: {one}" for one in told]

    def encode(self, values: pd.Series, *, are_reference: bool = False) -> np.ndarray:
        """Return mean, deviation, ends, mean step, length, and what is missing."""
        found = np.zeros((len(values), len(self.features)))
        for row, cell in enumerate(values):
            numbers = _numbers_of(cell)
            if numbers is None:
                found[row, 6] = 1.0
                continue
            steps = np.diff(numbers, axis=0, prepend=numbers[:1])
            found[row, 0] = numbers.mean()
            found[row, 1] = numbers.std()
            found[row, 2] = numbers.min()
            found[row, 3] = numbers.max()
            found[row, 4] = np.abs(steps).mean()
            found[row, 5] = len(numbers)
        return found


def learn(name: str, values: pd.Series) -> Column | None:
    """Return what the reference values of a column tell; None where nothing can be compared."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(values):
        return None
    if pd.api.types.is_numeric_dtype(values):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        finite = numbers[np.isfinite(numbers)]
        median = pd.Series(finite).median()
        return Numbers(name, float(np.nan_to_num(median)))
    if _are_cells(values):
        return Cells(name)
    counts = values.astype("string").value_counts()
    if 2 * (counts == 1).sum() > counts.sum():
        return _prose(name, values)
    repeated: Any = counts[counts > 1]
    levels = repeated.index[:LEVELS]
    if levels.empty:
        return None
    names = tuple(map(str, levels))
    return Levels(name, names)


def to_json(column: Column) -> dict[str, Any]:
    """Return plain JSON values."""
    return {"kind": column.kind, **asdict(column)}  # pyright: ignore[reportArgumentType]


def from_json(told: Mapping[str, Any]) -> Column:
    """Return the column that gave these values, also those that an earlier easeml kept."""
    name = str(told["name"])
    if "kind" in told:
        return _READ[told["kind"]](name, told)
    kind = "levels" if told["median"] is None else "numbers"
    return _READ[kind](name, told)


def _read_prose(name: str, told: Mapping[str, Any]) -> Prose:
    common = _strings(told["common"])
    known = _strings(told["known"])
    twice = int(told["twice"])
    return Prose(name, common, known, twice)


_READ: dict[str, Callable[[str, Mapping[str, Any]], Column]] = {
    "numbers": lambda name, told: Numbers(name, float(told["median"])),
    "levels": lambda name, told: Levels(name, _strings(told["levels"])),
    "prose": _read_prose,
    "cells": lambda name, _: Cells(name),
}


def _strings(told: Any) -> tuple[str, ...]:
    return tuple(map(str, told))


def _are_cells(values: pd.Series) -> bool:
    """Tell whether cells are pictures or arrays, by the first ones."""
    types = set(map(type, values.dropna().head(_CELLS_LOOKED_AT)))
    return set() < types <= {bytes, np.ndarray}


def _prose(name: str, values: pd.Series) -> Prose:
    texts: Counter[str] = Counter()  # that have a word
    for text in filter(None, _texts(values)):
        texts.update(dict.fromkeys(_words(text), 1))
    ranked = texts.most_common()
    least = 1
    if len(ranked) > _MOST_WORDS:
        least = ranked[_MOST_WORDS][1] + 1
    known = [word for word, count in ranked if count >= least]
    twice = sum(count > least for count in texts.values())
    common = tuple(known[:LEVELS])
    return Prose(name, common, tuple(known), twice)


def _texts(values: pd.Series) -> np.ndarray:
    """Return values as texts (n,), None where one is missing."""
    return values.astype("string").to_numpy(dtype=object, na_value=None)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _numbers_of(cell: Any) -> np.ndarray | None:
    """Return the numbers of a cell as (steps, others), 0 for those that are not finite.

    None of one that is missing, or no picture that can be read.
    """
    from easeml.data.types.pictures import NoPicture, pixels

    if isinstance(cell, bytes):
        try:
            cell = pixels(cell, (_SIDE, _SIDE), grey=True)
        except NoPicture:
            return None
    if not isinstance(cell, np.ndarray):
        return None
    numbers = np.asarray(cell, dtype=np.float64)
    if not numbers.size:
        return np.zeros((1, 1))
    finite = np.atleast_1d(np.nan_to_num(numbers, posinf=0.0, neginf=0.0))
    return finite.reshape(len(finite), -1)
