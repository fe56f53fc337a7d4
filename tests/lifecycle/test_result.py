"""What all results of the lifecycle share: plain JSON, CSV, a page of its own."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from easeml.figures import Axis, Figure, Series
from easeml.lifecycle import Result, encode


@dataclass(frozen=True)
class Part:
    share: float


@dataclass(frozen=True)
class Answer(Result):
    values: np.ndarray
    parts: tuple[Part, ...]
    named: dict[str, float]

    @property
    def advice(self) -> str:
        return "Look at rows <1> & 2 first."

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame({"row": np.arange(len(self.values)), "value": self.values})

    def figure(self) -> Figure:
        return Figure("Values", Axis("row"), Axis("value"), (Series("value", (0.0,), (1.0,)),))


ANSWER = Answer(np.array([1.0, np.nan, np.inf]), (Part(0.5),), {"a": float("-inf")})


def test_json_is_plain_and_strict() -> None:
    document = json.loads(json.dumps(ANSWER.to_json(), allow_nan=False))
    assert document == {
        "values": [1.0, None, None],
        "parts": [{"share": 0.5}],
        "named": {"a": None},
        "advice": "Look at rows <1> & 2 first.",
    }


def test_csv_and_page() -> None:
    assert ANSWER.to_csv().splitlines()[0] == "row,value"
    page = ANSWER.to_html()
    assert "&lt;1&gt; &amp; 2" in page
    assert "<svg" in page
    assert "src=" not in page
    assert "href=" not in page


def test_a_notebook_shows_advice_figure_and_table() -> None:
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    InteractiveShell.instance()
    try:
        with capture_output() as shown:
            ANSWER._ipython_display_()
    finally:
        InteractiveShell.clear_instance()
    advice, figure, table = (output.data for output in shown.outputs)
    assert "&lt;1&gt;" in advice["text/html"]
    assert "src=" not in figure["text/html"]
    assert figure["image/svg+xml"].startswith("<svg")
    assert "<table" in table["text/html"]


def test_encode_gives_finite_columns_that_agree() -> None:
    train = pd.DataFrame(
        {
            "n": [1.0, 2.0, np.nan, 4.0],
            "empty": [np.nan] * 4,
            "c": pd.Categorical(["a", "b", "a", None]),
            "when": pd.to_datetime(["2024-01-01", "2024-06-01", None, "2025-01-01"], utc=True),
        }
    )
    other = pd.DataFrame(
        {
            "n": [9.0],
            "empty": [1.0],
            "c": pd.Categorical(["z"]),
            "when": pd.to_datetime(["2026-01-01"], utc=True),
        }
    )
    first, second = encode(train, other)
    assert first.shape[1] == second.shape[1]
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
    assert first.std(axis=0).max() == pytest.approx(1.0)
