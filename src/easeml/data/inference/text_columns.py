"""Columns of texts: identifiers, categories and free text."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from math import inf

from easeml.data.inference import name_words as names
from easeml.data.inference.column_values import Values, report_on
from easeml.data.inference.label_lists import content_of
from easeml.data.inference.missing_codes import suspect_words
from easeml.data.inference.text_hints import (
    but_for_words,
    has_digit,
    like_codes,
    like_tags,
    mixed_units,
    mostly_decimals,
    nearly_numbers,
)
from easeml.data.types.column_report import ColumnReport, sort_labels
from easeml.data.types.label_lists import in_words

MOST_CLASSES = 1000
_DISTINCT = (10, 20, MOST_CLASSES)  # values at most, and the rows that each is in at least:
_LEAST_REPEATED = (0, 2, 5, inf)


def text_report(values: Values) -> ColumnReport:
    """The report of a column of texts: an identifier, a category, or text."""
    texts = values.texts
    each = values.each
    words = _mean_words(texts[:1000])
    is_named = names.names_identifier(values.name)
    units = mixed_units(texts)
    if words <= 1.5 and not units and _identifies(values, is_named):
        said = f"Looks like an identifier: {values.counted}."
        return replace(
            report_on(values, "text", 0.95, said),
            nature="identifier",
            nature_confidence=0.97 if is_named else 0.85,
        )

    is_category = _could_be_classes(len(texts), each) and not _is_prose(words, each)
    report = _category(values) if is_category else _free_text(values, words)
    content = content_of(values)
    said = f" As the target, {in_words(values.name, content)}" if content else ""
    report = replace(report, evidence=report.evidence + units + said, content=content)
    return replace(report, suspected_codes=suspect_words(texts, values.number_of))


def _mean_words(sample: list[str]) -> float:
    return sum(map(len, map(str.split, sample))) / len(sample)


def _category(values: Values) -> ColumnReport:
    each = values.each
    said = f"{len(values.texts)} different values, each in {_mean_told(each)} rows on average."
    confidence = 0.95 if each >= 20 else 0.8
    hints = but_for_words(values) + like_tags(values.texts)
    report = report_on(values, "category", confidence, said + hints)
    return replace(report, classes=sort_labels(values.texts))


def _free_text(values: Values, words: float) -> ColumnReport:
    """The report of free text; ``words``: how many a value has on average."""
    texts = values.texts
    said = f"Text: {values.counted}, {_words_told(words)} on average."
    hints = like_codes(texts) + nearly_numbers(values) + like_tags(texts)
    confidence = 0.75
    if words >= 4:
        confidence = 0.95
    return report_on(values, "text", confidence, said + hints)


def _words_told(words: float) -> str:
    """A mean number of words: 1 word, 2.9 words, 290 words."""
    said = _mean_told(words)
    if said == "1":
        return "1 word"
    return f"{said} words"


def _mean_told(mean: float) -> str:
    """A mean as people say it, with a digit behind the point at most: 1, 2.9, 290."""
    if mean >= 10:
        return f"{mean:,.0f}"
    return f"{mean:.2g}"


def _is_prose(words: float, each: float) -> bool:
    """Whether values are sentences rather than long labels, which would be repeated."""
    return words >= 4 and each < 5


def _could_be_classes(distinct: int, each: float) -> bool:
    """Whether so many values, each in so many rows, could be classes.

    More values have to be repeated more often.
    """
    return each >= _LEAST_REPEATED[bisect_left(_DISTINCT, distinct)]


def _identifies(values: Values, is_named: bool) -> bool:
    """Whether words are (nearly) all different, with a name or digits that tell."""
    if values.present < 10:
        return False
    if is_named:
        return values.each <= 1.05
    are_different = values.each == 1
    have_digits = sum(map(has_digit, values.texts)) >= 0.9 * len(values.texts)
    return all((are_different, have_digits, not mostly_decimals(values.texts)))
