"""Misspelt values: rare ones that are nearly a frequent one."""

from __future__ import annotations

import re

import numpy as np

from easeml.lifecycle.cleaning.detectors import of_columns
from easeml.lifecycle.cleaning.findings import NUMBER, findings, joined
from easeml.lifecycle.cleaning.frames import Column, Frame

_LONG = 6  # letters of a word that no other is likely to resemble
_MOST = 3000  # distinct values of a column beyond which misspellings are not looked for


def find_misspellings(text: Frame, missing: Frame) -> Frame:
    """Find rare values that are a few letters away from one of the same column, five times as many.

    Up to one letter in eight may differ, at least one; values of two letters and less are left out,
    and numbers. Many short words are a letter apart (mar and may): below six letters, ten times as
    many must have the other value, and fifty times where the word is there more than three times.
    """
    return of_columns(_misspelt_cells, text, missing)


def _misspelt_cells(text: Column, missing: Column) -> Frame:
    values = text[~missing]
    counts = values.value_counts()
    # A model has at least five rows; they come by falling frequency.
    if not 2 <= len(counts) <= _MOST or counts.iloc[0] < 5:
        return joined([])
    models = _models_of_misspelt(counts)
    wrong = values[values.isin(list(models))]
    meant = wrong.map(models)
    times = counts.loc[meant].to_numpy()
    share = 1.0 - counts.loc[wrong].to_numpy() / times
    reasons = [
        f"looks like {model!r}, which is {count} times there"
        for model, count in zip(meant, times, strict=True)
    ]
    return findings(wrong.index, str(text.name), reasons, meant, share)


def _models_of_misspelt(counts: Column) -> dict[str, str]:
    """Return, for each value that looks misspelt, the value that is meant."""
    words = [word for word in counts.index if _is_word(word)]
    frequent = [word for word in words if counts[word] >= 5]
    codes = {word: _letters(word) for word in words}
    models = {}
    for word in words:
        model = _nearest(word, frequent, counts, codes)
        if model is not None:
            models[word] = model
    return models


def _nearest(
    word: str, frequent: list[str], counts: Column, codes: dict[str, np.ndarray]
) -> str | None:
    """Return the frequent value that is the fewest letters away, of equals the most frequent."""
    from easeml.lifecycle.cleaning.edit_distance import edit_distance

    rarer = _how_much_rarer(word, counts[word])
    nearest, least = None, 0
    for model in frequent:
        if counts[model] < rarer * counts[word]:
            break
        limit = max(1, max(len(word), len(model)) // 8)
        if nearest is not None:
            limit = least - 1
        if limit <= 0:
            break  # no other can be nearer
        distance = int(edit_distance(codes[word], codes[model], limit))
        if distance <= limit and _same_digits(word, model):
            nearest, least = model, distance
    return nearest


def _how_much_rarer(word: str, times: int) -> int:
    """Return how many times as frequent as a word what is meant must be."""
    if len(word) >= _LONG:
        return 5
    return 10 if times <= 3 else 50


def _is_word(value: str) -> bool:
    return len(value) > 2 and not re.fullmatch(NUMBER, value)


def _letters(word: str) -> np.ndarray:
    return np.array(list(map(ord, word.lower())), np.int64)


def _same_digits(left: str, right: str) -> bool:
    """Tell whether two values hold the same digits, or letters in their place.

    Numbers in names differ on purpose.
    """
    left_digits = re.sub(r"\D", "", left)
    right_digits = re.sub(r"\D", "", right)
    if left_digits == right_digits:
        return True
    letter_for_digit = len(left_digits) != len(right_digits)
    return letter_for_digit and len(left) == len(right)
