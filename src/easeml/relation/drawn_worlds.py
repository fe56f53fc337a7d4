"""Worlds of a relation as frames: the likeliest one, or drawn ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from easeml.relation.aggregates import drawn_candidates
from easeml.relation.content import Content
from easeml.relation.exchange import frame_of_world


def drawn_worlds(content: Content, count: int, seed: int) -> Iterator[pd.DataFrame]:
    """Give worlds as pandas frames, drawn with their probabilities; rows that do not exist lack."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        chosen = drawn_candidates(content.blocks, rng, 1)[0]
        yield frame_of_world(content, chosen)
