"""Several measures of several things: which are best in some way."""

from __future__ import annotations

from collections.abc import Sequence

from easeml.figures.description import Axis, Series, numbers
from easeml.figures.figure import Figure


def pareto(
    x: Axis,
    y: Axis,
    points: Sequence[tuple[float, float]],
    on_front: Sequence[bool],
    notes: Sequence[str],
    links: Sequence[str] = (),
    barred: Sequence[bool] = (),
) -> Figure | None:
    """Return the points, those on the front joined by steps; None without any.

    ``notes``: what each is, with its exact values; ``links``: where it leads.
    ``barred``: what may not be chosen; none of it is on the front.
    """
    if not points:
        return None
    places = range(len(points))
    best = sorted((place for place in places if on_front[place]), key=lambda place: points[place])
    out = [place for place in places if barred and barred[place]]
    others = [place for place in places if not on_front[place] and place not in out]
    series = []
    if len(best) > 1:
        xs, ys = zip(*(points[place] for place in best), strict=True)
        series.append(Series("front", numbers(xs), numbers(ys), tone="accent", silent=True))
    groups = (
        ("best in some way", best, "accent"),
        ("others", others, "muted"),
        ("may not serve", out, "bad"),
    )
    for name, chosen, tone in groups:
        if chosen:
            series.append(_points(name, chosen, tone, points, notes, links))
    return Figure(f"{y.title} against {x.title}", x, y, tuple(series))


def _points(
    name: str,
    chosen: Sequence[int],
    tone: str,
    points: Sequence[tuple[float, float]],
    notes: Sequence[str],
    links: Sequence[str],
) -> Series:
    """Return the points at the places ``chosen``."""
    return Series(
        name,
        numbers(points[place][0] for place in chosen),
        numbers(points[place][1] for place in chosen),
        kind="points",
        tone=tone,
        mark="dot" if tone == "accent" else "ring",
        notes=tuple(notes[place] for place in chosen),
        links=tuple(links[place] for place in chosen) if links else (),
    )
