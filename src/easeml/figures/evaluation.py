"""How a model does on rows that it has not learned from, as figures of plain values."""

from collections.abc import Iterable, Sequence

from easeml.figures.description import Axis, Series, numbers, tone_of
from easeml.figures.figure import Figure

Curve = tuple[str, Sequence[float], Sequence[float], float]
"""A class, its false and true positives as shares, and the area under the curve."""


def roc(curves: Sequence[Curve]) -> Figure | None:
    """Return the curves of true against false positives, one a class; None where there is none."""
    if not curves:
        return None
    series = [_diagonal(0.0, 100.0, "guessing")]
    for place, (label, false, true, area) in enumerate(curves):
        name = f"{label}: area {area:.3f}"
        series.append(Series(name, _in_percent(false), _in_percent(true), tone=tone_of(place)))
    return Figure("ROC curves", _percent("others taken for it"), _percent("found"), tuple(series))


def calibration(
    confidence: Sequence[float],
    right: Iterable[float],
    low: Iterable[float],
    high: Iterable[float],
    rows: Iterable[int],
) -> Figure | None:
    """Return how often predictions are right against how sure they were; None without bins.

    All are shares, a bin each; ``low`` and ``high``: 95 % interval of the share that is ``right``.
    """
    if not confidence:
        return None
    dots = Series(
        "predictions that were so sure",
        _in_percent(confidence),
        _in_percent(right),
        kind="points",
        tone="accent",
        low=_in_percent(low),
        high=_in_percent(high),
        notes=tuple(f"{one} rows" for one in rows),
    )
    return Figure(
        "Calibration",
        _percent("how sure it was"),
        _percent("right"),
        (_diagonal(0.0, 100.0, "right as often as it is sure"), dots),
    )


def residuals(actual: Sequence[float], predicted: Sequence[float]) -> Figure | None:
    """Return predicted against actual values, on equal axes; None without values."""
    if not actual:
        return None
    low = min(*actual, *predicted)
    high = max(*actual, *predicted)
    margin = 0.04 * (high - low) or 0.5 * max(abs(low), 1e-6)
    begin, end = low - margin, high + margin
    dots = Series("row", numbers(actual), numbers(predicted), kind="points", tone="accent")
    return Figure(
        "Predicted against actual values",
        Axis("actual", low=begin, high=end, of_data=True),
        Axis("predicted", low=begin, high=end, of_data=True),
        (_diagonal(low, high, "no error"), dots),
    )


def _in_percent(shares: Iterable[float]) -> tuple[float, ...]:
    return numbers(100 * share for share in shares)


def _percent(title: str) -> Axis:
    return Axis(title, "%", low=0.0, high=100.0)


def _diagonal(low: float, high: float, name: str) -> Series:
    return Series(name, (low, high), (low, high), tone="muted", dashed=True, silent=True)
