"""Pictures of searches: average loss against what was spent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from easeml.figures.theme import COLOURS, blank, with_alpha

if TYPE_CHECKING:
    import plotly.graph_objects as go

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 420, 70, 60
_RIGHT, _TOP = 190, 20
_LEAST_LOSS = 1e-4
_LEAST_SHARE = 1e-4
_LIMIT_COLOUR = "#999999"
_STEP = 3  # pixels between points of a line


def loss_figure(comparison: Mapping[str, Any]) -> go.Figure:
    """Return average loss against the share of the cost, with 95 % intervals, of
    ``Comparison.to_json()``.
    """
    import plotly.graph_objects as go

    figure = blank("Average loss", "share of the cost of running everything", "average loss")
    for name, colour, told in _coloured(comparison):
        share, loss = told["cost_share"], told["mean_loss"]
        low, high = zip(*told["interval"], strict=True)
        band = go.Scatter(
            x=[*share, *share[::-1]],
            y=[*high, *low[::-1]],
            fill="toself",
            fillcolor=with_alpha(colour, 0.15),
            line={"width": 0},
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
        dash = "dot" if name == "clairvoyant" else "solid"
        line = go.Scatter(
            x=share, y=loss, name=name, legendgroup=name, line={"color": colour, "dash": dash}
        )
        figure.add_traces([band, line])
    figure.update_xaxes(type="log")
    figure.update_yaxes(type="log", range=[math.log10(_LEAST_LOSS), 0])
    return figure


def loss_svg(comparison: Mapping[str, Any]) -> str:
    """Return the same lines as a small SVG picture, for documents; losses below 0.0001 are not
    drawn.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        *_axes(),
    ]
    for place, (name, colour, told) in enumerate(_coloured(comparison)):
        points = _thinned(zip(told["cost_share"], told["mean_loss"], strict=True))
        dash = ' stroke-dasharray="4 3"' if name == "clairvoyant" else ""
        line = " ".join(f"{_x(share):.1f},{_y(loss):.1f}" for share, loss in points)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>'
        )
        height = _TOP + 14 + 18 * place
        left = _WIDTH - _RIGHT + 15
        parts.append(
            f'<path d="M{left} {height - 4}h22" stroke="{colour}" stroke-width="2.5"{dash}/>'
        )
        parts.append(f'<text x="{left + 28}" y="{height}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _coloured(comparison: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    others = [name for name in comparison["policies"] if name != "clairvoyant"]
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(others)}
    told = comparison["policies"].items()
    return [(name, colours.get(name, _LIMIT_COLOUR), values) for name, values in told]


def _thinned(points: Any) -> list[tuple[float, float]]:
    """Leave out what cannot be drawn, and points that lie less than three pixels from the one
    before.
    """
    kept: list[tuple[float, float]] = []
    for share, loss in points:
        if share < _LEAST_SHARE:
            continue
        if loss < _LEAST_LOSS:
            break
        if not kept or abs(_x(share) - _x(kept[-1][0])) + abs(_y(loss) - _y(kept[-1][1])) >= _STEP:
            kept.append((share, loss))
    return kept


def _x(share: float) -> float:
    along = math.log(share / _LEAST_SHARE) / -math.log(_LEAST_SHARE)
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * along


def _y(loss: float) -> float:
    down = math.log(loss) / math.log(_LEAST_LOSS)
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * down


def _axes() -> list[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = [f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#333"/>']
    for power in range(-4, 1):
        x, y = _x(10.0**power), _y(10.0**power)
        parts.append(f'<path d="M{x:.1f} {bottom}v5M{_LEFT} {y:.1f}h-5" stroke="#333"/>')
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{100 * 10.0**power:g} %</text>'
        )
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>'
        )
    middle = (_LEFT + right) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 15}" text-anchor="middle">share of the cost spent</text>'
    )
    parts.append(
        '<text x="15" y="200" text-anchor="middle" transform="rotate(-90 15 200)">average loss</text>'
    )
    return parts
