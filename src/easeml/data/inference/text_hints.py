"""What a column of short texts looks like: codes, or numbers that are written otherwise."""

from easeml.data.types import values as v


def has_digit(text: str) -> bool:
    """Return whether there is a digit in a text."""
    return any(letter.isdigit() for letter in text)


def like_codes(texts: list[str]) -> str:
    """A hint for a column of short texts with digits."""
    sample = texts[:1000]
    coded = [text for text in sample if len(text) <= 24 and has_digit(text)]
    if len(coded) <= 0.8 * len(sample):
        return ""
    return " Most look like codes with digits."


def _leading_zeros(texts: list[str]) -> str:
    """A hint for numbers that are written as codes are."""
    zeros = [text for text in texts if text.startswith("0") and text[1:2].isdigit()]
    return f" Some begin with 0, such as {zeros[0]!r}, as codes do." if zeros else ""


def nearly_numbers(texts: list[str]) -> str:
    """A hint for a column that a few values keep from being a number."""
    import pyarrow as pa

    bad = v.to_numbers(pa.array(texts[:10_000], pa.string())).bad
    if bad.mean() > 0.1:
        return ""
    if not bad.any():
        return _leading_zeros(texts)
    return f" It would be a number but for values such as {texts[int(bad.argmax())]!r}."
