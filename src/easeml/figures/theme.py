"""The colours of figures, in the light theme; ``static/figure.css`` has those of both themes.

The numbered tones are those of Okabe and Ito (2008), which colour-blind readers can tell apart,
darkened where they had less than 3:1 against white.
"""

_COLOURS = {
    "1": "#0072b2",
    "2": "#b06f00",
    "3": "#008a65",
    "4": "#b5548d",
    "5": "#2b87bd",
    "6": "#d55e00",
    "7": "#7a7a00",
    "muted": "#6a7685",
    "good": "#00744f",
    "warn": "#b06f00",
    "bad": "#c4351c",
    "accent": "#0068a6",
    "second": "#c56a00",
    "surface": "#ffffff",
    "text": "#17202b",
}


def colour_of(tone: str) -> str:
    """Return the colour of a tone in the light theme, as ``#rrggbb``."""
    return _COLOURS[tone]
