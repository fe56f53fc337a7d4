"""Texts with a few other words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

_SHARE = 0.1  # of the words that change
_FEWEST = 4  # words of a text in which some may be left out or change places


def with_other_words(
    text: str, synonyms: Mapping[str, Sequence[str]], rng: np.random.Generator
) -> str:
    """Return a text of which a tenth of the words, at least one, changed.

    A word that has synonyms becomes one of these; of others one is left out, or changes places with
    the next (after J. Wei and K. Zou, EDA, EMNLP 2019). A short text changes by synonyms alone.

    Args:
        text: words between blanks.
        synonyms: words that may stand for a word, by that word in small letters.
        rng: draws.
    """
    words = text.split()
    for _ in range(max(1, round(_SHARE * len(words)))):
        known = [place for place, word in enumerate(words) if word.lower() in synonyms]
        if known:
            place = int(rng.choice(known))
            words[place] = str(rng.choice(list(synonyms[words[place].lower()])))
        elif len(words) >= _FEWEST:
            _change_one(words, rng)
    return " ".join(words)


def _change_one(words: list[str], rng: np.random.Generator) -> None:
    """Leave a word out, or let it change places with the next."""
    place = int(rng.integers(len(words) - 1))
    if rng.random() < 0.5:
        del words[place]
    else:
        words[place : place + 2] = words[place + 1], words[place]
