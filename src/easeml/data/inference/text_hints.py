"""What a column of short texts looks like: codes, or numbers that are written otherwise."""

import re

from easeml.data.types import values as v

_LEADING_ZERO = re.compile(r"0\d")


def has_digit(text: str) -> bool:
    """Return whether there is a digit in a text."""
    return any(map(str.isdigit, text))


def like_codes(texts: list[str]) -> str:
    """A hint for a column of short texts with digits."""
    sample = texts[:1000]
    coded = sum(map(_is_like_code, sample))
    if coded <= 0.8 * len(sample):
        return ""
    return " Most look like codes with digits."


def _is_like_code(text: str) -> bool:
    return len(text) <= 24 and has_digit(text)


def nearly_numbers(texts: list[str]) -> str:
    """A hint for a column that a few values keep from being a number."""
    import pyarrow as pa

    bad = v.to_numbers(pa.array(texts[:10_000], pa.string())).bad
    if bad.mean() > 0.1:
        return ""
    if not bad.any():
        return _leading_zeros(texts)
    return f" It would be a number but for values such as {texts[int(bad.argmax())]!r}."


def _leading_zeros(texts: list[str]) -> str:
    """A hint for numbers that are written as codes are."""
    first = next(filter(_LEADING_ZERO.match, texts), None)
    if first is None:
        return ""
    return f" Some begin with 0, such as {first!r}, as codes do."
