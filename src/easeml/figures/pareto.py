"""Several measures of several things: which are best in some way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from easeml.figures.description import Axis, Mark, Series, numbers, picked
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
    best = sorted(compress(range(len(points)), on_front), key=points.__getitem__)
    out = list(compress(range(len(points)), barred))
    others = sorted(set(range(len(points))).difference(best, out))
    series = []
    if len(best) > 1:
        xs, ys = zip(*picked(points, best), strict=True)
        series.append(Series("front", numbers(xs), numbers(ys), tone="accent", silent=True))

    groups: tuple[tuple[str, Sequence[int], str, Mark], ...] = (
        ("best in some way", best, "accent", "dot"),
        ("others", others, "muted", "ring"),
        ("may not serve", out, "bad", "ring"),
    )
    for name, chosen, tone, mark in groups:
        if not chosen:
            continue
        xs, ys = zip(*picked(points, chosen), strict=True)
        dots = Series(
            name,
            numbers(xs),
            numbers(ys),
            kind="points",
            tone=tone,
            mark=mark,
            notes=picked(notes, chosen),
            links=picked(links, chosen) if links else (),
        )
        series.append(dots)
    return Figure(f"{y.title} against {x.title}", x, y, tuple(series))
