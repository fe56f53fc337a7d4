"""Misspelt values: rare ones that are nearly a frequent one."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from easeml.lifecycle.cleaning.detectors import of_columns
from easeml.lifecycle.cleaning.findings import NUMBER, findings, joined
from easeml.lifecycle.cleaning.frames import Column, Frame

_WORD = re.compile(r"\w+")
_BETWEEN = re.compile(r"[\s()-]+")
_LETTER = re.compile(r"[^\W\d_]")
_LONG = 6  # letters of a word that no other is likely to resemble
_SELDOM = 3  # times that a slip is there, unless it belongs to many
_VARIANTS = 3  # misspellings of one short word that show that it is written carelessly
_USUAL = 0.02  # share of the rows of a value that is there on purpose
_MOST = 3000  # distinct values of a column beyond which misspellings are not looked for


def find_misspellings(text: Frame, missing: Frame) -> Frame:
    """Find rare values that are a few letters away from one of the same column, five times as many.

    Up to one letter in eight may differ, at least one, and in a word up to one in three; only case
    may differ in values that 2% of the rows have. Values of two letters and less are left out, and
    numbers, and columns of which most values are there once (texts, names). A sign that stands
    alone is a code, as in "grade A". Many short words are a letter apart (mar and may): below six
    letters, ten times as many must have the other value, and where the word is there more than
    three times fifty times, and it must be one of three misspellings of that value at least.
    """
    return of_columns(_misspelt_cells, text, missing)


def _misspelt_cells(text: Column, missing: Column) -> Frame:
    values = text[~missing]
    counts = values.value_counts()
    # A model has at least five rows; they come by falling frequency.
    if not 2 <= len(counts) <= _MOST or counts.iloc[0] < 5 or _are_texts(counts):
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


def _are_texts(counts: Column) -> bool:
    """Tell whether most rows have a value of their own."""
    return bool((counts == 1).sum() > 0.5 * counts.sum())


def _models_of_misspelt(counts: Column) -> dict[str, str]:
    """Return, for each value that looks misspelt, the value that is meant."""
    words = list(filter(_is_word, counts.index))
    frequent = [word for word in words if counts[word] >= 5]
    codes = {word: _letters(word) for word in words}
    rows = int(counts.sum())
    models: dict[str, str] = {}
    for word in words:
        model = _nearest(word, frequent, counts, codes)
        if model is not None and _is_slip(word, model, int(counts[word]), rows):
            models[word] = model
    return _without_lonely(models, counts)


def _without_lonely(models: dict[str, str], counts: Column) -> dict[str, str]:
    """Leave out short words that are there often, where few misspellings of the same model are."""
    variants = Counter(models.values())
    kept = {}
    for word, model in models.items():
        is_short = len(word) < _LONG
        is_often = counts[word] > _SELDOM
        is_lonely = variants[model] < _VARIANTS
        if not (is_short and is_often and is_lonely):
            kept[word] = model
    return kept


def _is_slip(word: str, model: str, times: int, rows: int) -> bool:
    """Tell whether a word that is so many ``times`` there is the model, written wrongly."""
    if word.lower() == model.lower():
        return True
    return times < _USUAL * rows and not _are_codes_apart(word, model)


def _nearest(
    word: str, frequent: list[str], counts: Column, codes: dict[str, np.ndarray]
) -> str | None:
    """Return the frequent value that is the fewest letters away, of equals the most frequent."""
    from easeml.lifecycle.cleaning.edit_distance import edit_distance

    rarer = _how_much_rarer(word, counts[word])
    nearest = None
    least = 0
    for model in frequent:
        if counts[model] < rarer * counts[word]:
            break
        limit = max(1, max(len(word), len(model)) // 8)
        if nearest is not None:
            limit = least - 1
        if limit <= 0:
            break  # no other can be nearer
        distance = int(edit_distance(codes[word], codes[model], limit))
        if distance <= limit and _same_digits(word, model) and _word_by_word(word, model):
            nearest = model
            least = distance
    return nearest


def _how_much_rarer(word: str, times: int) -> int:
    """Return how many times as frequent as a word what is meant must be."""
    if len(word) >= _LONG:
        return 5
    return 10 if times <= _SELDOM else 50


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


def _word_by_word(left: str, right: str) -> bool:
    """Tell whether two texts of as many words differ in one letter of three of each word at most."""
    ones = _WORD.findall(left.lower())
    others = _WORD.findall(right.lower())
    if len(ones) != len(others):
        return True  # a space may be wrong
    return all(map(_alike, ones, others))


def _alike(one: str, other: str) -> bool:
    from easeml.lifecycle.cleaning.edit_distance import edit_distance

    longest = max(len(one), len(other))
    limit = max(1, longest // 3)
    distance = edit_distance(_letters(one), _letters(other), limit)
    return int(distance) <= limit


def _are_codes_apart(left: str, right: str) -> bool:
    """Tell whether texts differ in a letter that stands alone, as in "grade A" and "grade B"."""
    ones = _BETWEEN.split(left.lower())
    others = _BETWEEN.split(right.lower())
    if len(ones) != len(others):
        return False
    apart = set(ones) ^ set(others)
    return all(map(_LETTER.fullmatch, apart))
