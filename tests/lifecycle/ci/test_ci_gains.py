"""As many rows as show gains: nearly all clear gains pass on them, and few on half as many."""

from dataclasses import replace

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle import gates
from easeml.lifecycle.ci import read_config, rows_that_settle, rows_that_show

GAIN = "n - o > 0.02 +/- 0.02"
MODELS = 150


def config(condition: str, **told):
    return read_config({"condition": condition, "reliability": 0.95, "steps": 8, **told})


def passed(condition: str, rows: int, quality: tuple[float, float]) -> float:
    """Return how many of some models pass a gate of the service.

    ``quality``: share of the predictions that change, and the gain; (0, quality) of a model alone.
    """
    share, gain = quality
    count = 0
    for seed in range(MODELS):
        rng = np.random.default_rng(seed)
        if share:
            changed = rng.random(rows) < share
            wins = rng.random(rows) < (gain + share) / (2 * share)
            old = np.where(changed, ~wins, rng.random(rows) < 0.7)
            new = np.where(changed, wins, old)
        else:
            old = new = rng.random(rows) < gain
        ledger = gates.open_gate(replace(config(condition), seed=seed), rows)
        said = new.astype(int).tolist(), old.astype(int).tolist()
        count += gates.examine(ledger, gates.Tested(*said, [1] * rows))[0].passed
    return count / MODELS


@pytest.mark.parametrize(
    ("condition", "quality"),
    [(GAIN, (0.1, 0.08)), ("n - o > 0.0 +/- 0.03", (0.1, 0.09)), ("n > 0.8 +/- 0.05", (0.0, 0.95))],
)
def test_clear_gains_pass_on_so_many_rows_and_not_on_half(
    condition: str, quality: tuple[float, float]
) -> None:
    rows = rows_that_show(config(condition), 0.1)
    assert rows is not None
    assert passed(condition, rows, quality) >= 0.95
    assert passed(condition, rows // 2, quality) < 0.8


@pytest.mark.parametrize("adaptivity", ["full", "none"])
@pytest.mark.parametrize("condition", [GAIN, "n > 0.8 +/- 0.05", f"{GAIN} /\\ d < 0.2 +/- 0.05"])
def test_they_are_fewer_than_always_settle_and_more_where_more_changes(
    condition: str, adaptivity: str
) -> None:
    series = config(condition, adaptivity=adaptivity)
    few, many = rows_that_show(series, 0.1), rows_that_show(series, 0.5)
    settle = rows_that_settle(series, shared=True)
    assert few is not None
    assert many is not None
    assert settle is not None
    assert few <= many
    assert few < settle
    more = rows_that_show(series, 0.1, extra=5.0)
    assert more is not None
    assert few < more


def test_a_gain_may_be_larger_than_the_share_that_usually_changes() -> None:
    rows = rows_that_show(config("n - o > 0.3 +/- 0.2"), 0.1)
    assert rows is not None
    assert rows > 0


def test_f1_tells_no_number() -> None:
    assert rows_that_show(config(GAIN, metric="f1"), 0.1) is None


def test_a_gate_goes_on_with_the_rows_that_are_left() -> None:
    ledger = gates.open_gate(config("n > 0.5 +/- 0.1"), 600)
    _, after = gates.examine(ledger, gates.Tested([1] * 600, None, [1] * 600))
    fewer = gates.narrowed(after, 40)
    assert (fewer.examples, len(fewer.history)) == (40, 1)
    assert fewer.spent == after.spent
    # With so few rows a step may stay open, which is a third answer to guard against.
    assert fewer.answers == 3 > after.answers
    assert gates.narrowed(after, 600) is after
    verdict, _ = gates.examine(fewer, gates.Tested([1] * 40, None, [1] * 40))
    assert verdict.step == 2
    with pytest.raises(InvalidInput, match="were erased"):
        gates.narrowed(after, 0)
