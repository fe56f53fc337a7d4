"""Colours can be seen in both themes: 4.5:1 for text, 3:1 for marks (WCAG 2.2, 1.4.3 and 1.4.11)."""

import re
from pathlib import Path

import pytest

import easeml.web
from easeml.figures import NAMED_TONES, STATIC, TONES

PAGES = Path(easeml.web.__file__).parent / "static" / "base.css"
GROUNDS = {"ground", "surface", "sunken"}
ON_SOFT = [("accent", "accent-soft"), ("second", "second-soft"), ("good", "good-soft"),
           ("bad", "bad-soft"), ("muted", "second-soft"), ("on-accent", "accent"),
           ("on-accent", "accent-hover")]  # fmt: skip


def colours(path: Path) -> dict[str, tuple[str, str]]:
    """Return the light and the dark colour of each variable of a style sheet."""
    pattern = r"--([\w-]+): (?:var\(--[\w-]+, )?light-dark\((#\w{6}), (#\w{6})\)"
    found = re.findall(pattern, path.read_text(encoding="utf-8"))
    return {name: (light, dark) for name, light, dark in found}


def luminance(colour: str) -> float:
    total = 0.0
    for place, weight in ((1, 0.2126), (3, 0.7152), (5, 0.0722)):
        value = int(colour[place : place + 2], 16) / 255
        linear = value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        total += weight * linear
    return total


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_black_and_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", [0, 1])
def test_text_of_pages_is_readable_on_every_ground(theme: int) -> None:
    found = colours(PAGES)
    pairs = [(text, ground) for text in ("text", "muted", "accent", "second", "good", "bad")
             for ground in GROUNDS]  # fmt: skip
    for text, ground in pairs + ON_SOFT:
        shown = contrast(found[text][theme], found[ground][theme])
        assert shown >= 4.5, (text, ground, shown)


@pytest.mark.parametrize("theme", [0, 1])
def test_marks_stand_out_from_their_ground(theme: int) -> None:
    found = colours(STATIC / "figure.css")
    surface = found["tone-surface"][theme]
    for tone in [*map(str, range(1, TONES + 1)), *NAMED_TONES]:
        shown = contrast(found[f"tone-{tone}"][theme], surface)
        assert shown >= 3, (tone, shown)
