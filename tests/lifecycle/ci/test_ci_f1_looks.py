"""Clauses over F1 and d, beside a loop over the looks with the bounds of each variable."""

import math

import numpy as np
import pytest

from easeml.lifecycle.ci import (
    confidence_sequence,
    f1_bounds,
    read_config,
    score_examples,
    step_nats,
    try_commit,
)


def looks(every: int, usable: int) -> list[int]:
    """The numbers of rows that are looked at: ``every`` more, and 5 % more where that is more."""
    found = [0]
    while found[-1] < usable:
        found.append(min(usable, max(found[-1] + every, int(found[-1] * 1.05))))
    return found[1:]


def ends(counts, weights: dict[str, float], nats: float) -> tuple[float, float]:
    """The least and the largest value of a clause that the bounds of its variables leave."""
    low = high = 0.0
    for name, weight in weights.items():
        hits, errors = counts[name]
        if name == "d":
            seen = np.repeat([1.0, 0.0], [hits, errors])
            bounds = confidence_sequence(seen, 0.0, 1.0, min(0.999, 2 * math.exp(-nats)))
        else:
            bounds = f1_bounds(hits, errors, nats)
        low += min(weight * bounds[0], weight * bounds[1])
        high += max(weight * bounds[0], weight * bounds[1])
    return low, high


@pytest.mark.parametrize(
    ("condition", "weights", "new_errs", "expected"),
    [
        ("n > 0.6 +/- 0.1", {"n": 1.0}, 0.05, True),
        ("n > 0.8 +/- 0.1", {"n": 1.0}, 0.4, False),
        ("n - 0.5 * d > 0.3 +/- 0.1", {"n": 1.0, "d": -0.5}, 0.05, True),
        ("n - o - 0.5 * d > 0.3 +/- 0.1", {"n": 1.0, "o": -1.0, "d": -0.5}, 0.3, False),
    ],
)
def test_the_first_look_that_proves_something_ends_the_test(
    condition: str, weights: dict[str, float], new_errs: float, expected: bool
) -> None:
    config = read_config(
        {"condition": condition, "reliability": 0.9, "adaptivity": "none"}
        | {"metric": "f1", "positive": "yes", "batch": 25}
    )
    generator = np.random.default_rng(3)
    truth = np.where(generator.random(3000) < 0.4, "yes", "no")
    other = np.where(truth == "yes", "no", "yes")
    new = np.where(generator.random(3000) < new_errs, other, truth)
    old = np.where(generator.random(3000) < 0.2, other, truth)
    trial = try_commit(
        config,
        score_examples(new, old, truth, config),
        step_nats(config, shared=True),
        shared=True,
    )
    nats = step_nats(config, shared=True) + math.log(len(weights))
    threshold = float(condition.split("> ")[1].split(maxsplit=1)[0])
    for rows in looks(25, 3000):
        counts = {"d": ((new != old)[:rows].sum(), (new == old)[:rows].sum())}
        for name, said in (("n", new), ("o", old)):
            hits = ((said == "yes") & (truth == "yes"))[:rows].sum()
            counts[name] = int(hits), int(((said == "yes") != (truth == "yes"))[:rows].sum())
        low, high = ends(counts, weights, nats)
        if low > threshold or high < threshold + 0.2:
            break
    (finding,) = trial.findings
    assert (trial.truth, finding.truth, finding.rows) == (expected, expected, rows)
    assert trial.truth is (low > threshold)
    assert (finding.low, finding.high) == pytest.approx((low, high))
    values = {"d": counts["d"][0] / rows}
    values |= {name: 2 * counts[name][0] / (2 * counts[name][0] + counts[name][1]) for name in "no"}
    assert finding.estimate == pytest.approx(sum(weights[name] * values[name] for name in weights))
