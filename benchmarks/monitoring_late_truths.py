"""``monitor`` where truths come late: are false alarms as rare as stated, and is drift found in time?

    python benchmarks/monitoring_late_truths.py [--lives 200] [--changed 50] [--rows 150]
                                                [--processes 2] [--out DIR] [--short]

A model is watched look by look; the truth of a row comes some looks after it was seen, by one of
these *delays*: all at once, all after four looks, after a random number of looks (geometric, or
Pareto's), for 40 % of the rows only, later for one predicted class, and by what is true: wrong
answers at once and right ones after six looks, the other way round, only wrong ones, only right
ones, wrong ones twice as often as right ones. Worlds: *classes* and *numbers*, of laws that the
tests of the monitor do not know. What happens: *nothing*; the *inputs* move and mean what they
meant; the concept changes *suddenly* at the eighth look (a sixth of the space means something
else), or *slowly*, over eight looks from there.

``false_alarms.csv`` counts, where the concept holds, the lives with any alarm of concept drift, by
the test of the service ("as they come") and by the one that takes the labels for drawn at random;
the lives with any alert, and what was said. ``found.csv`` has, where it changes, the share of lives
in which drift was found, and found within the stated time: the looks whose truths are missing, and
twice the looks that the stated number of rows takes; for slow changes the eight looks more that
they last.
"""

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from common import arguments, each, machine_line, read_options
from easeml.lifecycle import monitoring
from easeml.lifecycle.monitoring import asking

NEVER = 10_000
CHANGE = 8
"""The look from which on the concept is another one."""
SLOWLY = 8
LOOKS = {"nothing": 12, "inputs": 12, "sudden": 20, "slow": 24}
"""By what happens."""
LASTS = 4
"""Looks until the truth is there, of delays that are limited."""
TRAIN, REFERENCE = 1000, 800
ALONE = {name: getattr(asking, name) for name in ("estimate", "covariate_test", "_by_shares")}
"""What a monitor computes of rows without their labels, by its name."""


@dataclass(frozen=True)
class Rows:
    """Rows of one look: inputs, what the model says, how sure it is, and what is true."""

    inputs: pd.DataFrame
    predicted: np.ndarray
    chances: np.ndarray | None
    truth: np.ndarray
    right: np.ndarray


Delay = Callable[[Rows, np.random.Generator], np.ndarray]


def _of_truth(wrong: float, right: float) -> Delay:
    return lambda rows, rng: np.where(rows.right > 0, right, wrong).astype(int)


def _geometric(rows: Rows, rng: np.random.Generator) -> np.ndarray:
    return rng.geometric(0.3, len(rows.right)) - 1


def _pareto(rows: Rows, rng: np.random.Generator) -> np.ndarray:
    return np.minimum(NEVER, 2 * rng.pareto(1.0, len(rows.right))).astype(int)


def _some(rows: Rows, rng: np.random.Generator) -> np.ndarray:
    answered = rng.random(len(rows.right)) < 0.4
    return np.where(answered, rng.integers(0, LASTS + 1, len(rows.right)), NEVER)


def _by_prediction(rows: Rows, rng: np.random.Generator) -> np.ndarray:
    return np.where(rows.predicted > np.median(rows.predicted), 0, 6)


def _wrong_more_often(rows: Rows, rng: np.random.Generator) -> np.ndarray:
    answered = rng.random(len(rows.right)) < np.where(rows.right > 0, 0.35, 0.7)
    return np.where(answered, rng.integers(0, LASTS + 1, len(rows.right)), NEVER)


DELAYS: dict[str, tuple[Delay, int | None]] = {
    "at once": (lambda rows, rng: np.zeros(len(rows.right), int), 0),
    "after 4 looks": (lambda rows, rng: np.full(len(rows.right), LASTS), LASTS),
    "geometric, mean 2.3": (_geometric, 8),
    "Pareto, median 2": (_pareto, None),
    "40 % of the rows": (_some, None),
    "one prediction 6 later": (_by_prediction, 6),
    "right 6 later": (_of_truth(0, 6), 0),
    "wrong 6 later": (_of_truth(6, 0), 6),
    "only wrong": (_of_truth(0, NEVER), 0),
    "only right": (_of_truth(NEVER, 0), None),
    "wrong twice as often": (_wrong_more_often, None),
}
"""By name, the delay and the looks after which the truths are there that show a fall; None: never all."""


def _inputs(rows: int, tilt: float, rng: np.random.Generator) -> np.ndarray:
    """Return skewed, dependent columns; ``tilt`` moves them to where the model knows least."""
    common = rng.gamma(2.0, 1.0, rows)
    columns = [common + rng.normal(0, 0.7, rows), rng.exponential(1.0, rows) * (1 + tilt)]
    columns += [rng.uniform(-1, 1, rows) + tilt / 2, rng.integers(0, 5, rows).astype(float)]
    return np.column_stack(columns)


def _signal(inputs: np.ndarray) -> np.ndarray:
    return inputs[:, 0] - 2 + 1.5 * np.cos(2.2 * inputs[:, 2]) * (inputs[:, 3] - 2) / 2


def _changed(inputs: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Tell of which rows the meaning has changed; two fifths of the rows, of them so large a share."""
    return (inputs[:, 1] > 0.9) & (rng.random(len(inputs)) < share)


class World:
    """A model and the rows that it sees. ``kind``: of what is predicted."""

    def __init__(self, kind: str, seed: int):
        self.kind = kind
        rng = np.random.default_rng(seed)
        inputs = _inputs(TRAIN, 0.0, rng)
        truth = self._truth(inputs, 0.0, rng)
        make = HistGradientBoostingRegressor
        if kind == "classes":
            make = HistGradientBoostingClassifier
        self.model = make(max_iter=40, random_state=0).fit(inputs, truth)
        known = self._said(_inputs(REFERENCE, 0.0, rng), 0.0, rng)
        self.monitor = monitoring.fit(
            known.inputs,
            known.predicted,
            known.truth,
            known.chances,
            task="classification" if kind == "classes" else "regression",
            tolerance=None if kind == "classes" else 1.0,
            seed=seed,
        )

    def look(self, number: int, event: str, rows: int, rng: np.random.Generator) -> Rows:
        """Return the rows of a look, from 0."""
        begun = max(0, number - CHANGE + 1)
        tilt = min(1.0, number / 10) if event == "inputs" else 0.0
        share = {"sudden": float(begun > 0), "slow": min(1.0, begun / SLOWLY)}.get(event, 0.0)
        return self._said(_inputs(rows, tilt, rng), share, rng)

    def _truth(self, inputs: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
        signal = _signal(inputs)
        changed = _changed(inputs, share, rng)
        if self.kind == "numbers":
            noise = rng.standard_t(4, len(inputs)) * (0.4 + 0.15 * inputs[:, 3])
            return signal + noise + 4 * changed
        odds = signal * (0.8 + inputs[:, 3])
        return (rng.random(len(inputs)) < 1 / (1 + np.exp(-odds))).astype(int) ^ changed

    def _said(self, inputs: np.ndarray, share: float, rng: np.random.Generator) -> Rows:
        truth = self._truth(inputs, share, rng)
        predicted = self.model.predict(inputs)
        frame = pd.DataFrame(inputs, columns=["common", "long", "flat", "step"])
        if self.kind == "numbers":
            right = np.abs(predicted - truth) <= 1.0
            return Rows(frame, predicted, None, truth, right.astype(int))
        chances = self.model.predict_proba(inputs)
        return Rows(frame, predicted, chances, truth, (predicted == truth).astype(int))


def lived(
    world: World, looks: list[Rows], delay: Delay, rng: np.random.Generator
) -> list[dict[str, object]]:
    """Watch one model with one delay of truths; return a line a look."""
    monitor = world.monitor
    due = [number + delay(rows, rng) for number, rows in enumerate(looks)]
    lines = []
    for now, rows in enumerate(looks):
        prompt = np.flatnonzero(due[now] == now)
        labelled = None
        if len(prompt):
            query = monitoring.at_random(prompt, len(rows.truth))
            labelled = monitoring.Labelled(query, rows.truth[prompt])
        batch = monitoring.Batch(
            rows.inputs,
            rows.predicted,
            rows.chances,
            labelled,
            late=_late(looks, due, now),
            at_random=False,
        )
        report, monitor = monitoring.ask(monitor, batch)
        concept = next(test for test in report.drift if test.kind == "concept")
        lines.append(
            {
                "status": report.status,
                "found": concept.alarm,
                "as drawn": monitor.concept.p_value <= concept.level,
                "needed": report.needed,
                "quality": rows.right.mean(),
                "reference": report.reference,
                "held": report.low <= rows.right.mean() <= report.high,
            }
        )
    return lines


def _late(looks: list[Rows], due: list[np.ndarray], now: int) -> monitoring.Late | None:
    """Return the rows of earlier looks whose truth comes at this one."""
    parts = []
    for number in range(now):
        came = np.flatnonzero(due[number] == now)
        parts.append((looks[number], came, np.full(len(came), number + 1)))
    numbers = np.concatenate([part[2] for part in parts]) if parts else np.zeros(0)
    if not len(numbers):
        return None
    chances = None
    if looks[0].chances is not None:
        chances = np.concatenate([rows.chances[came] for rows, came, _ in parts])
    return monitoring.Late(
        pd.concat([rows.inputs.iloc[came] for rows, came, _ in parts], ignore_index=True),
        np.concatenate([rows.predicted[came] for rows, came, _ in parts]),
        np.concatenate([rows.truth[came] for rows, came, _ in parts]),
        chances,
        numbers,
    )


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes once what the same rows give: all delays see the same ones."""
    known: dict[tuple[object, ...], Any] = {}

    def ask(first: Any, rows: Any, *others: Any) -> Any:
        features = getattr(rows, "features", rows)
        level = others[-1] if function is ALONE["covariate_test"] else None
        key = (features.tobytes(), level)
        if key not in known:
            known[key] = function(first, rows, *others)
        return known[key]

    return ask


def share_between_delays() -> None:
    """Have what a monitor computes of rows alone computed once a life."""
    for name, function in ALONE.items():
        setattr(asking, name, remembered(function))


def one_life(asked: tuple[int, list[str]], rows: int, delays: list[str]) -> list[dict[str, object]]:
    """Watch one model through each event by each delay; return a line for each.

    ``asked``: the seed, and the events.
    """
    seed, events = asked
    found = []
    kind = ("classes", "numbers")[seed % 2]
    share_between_delays()
    with threadpool_limits(1):
        world = World(kind, seed)
        for event in events:
            rng = np.random.default_rng([seed, len(event)])
            numbers = range(LOOKS[event])
            seen = [world.look(number, event, rows, rng) for number in numbers]
            for name in delays:
                delay, lasts = DELAYS[name]
                lines = lived(world, seen, delay, np.random.default_rng([seed, 7]))
                head = {"world": kind, "event": event, "delay": name}
                lasts = None if lasts is None else lasts + SLOWLY * (event == "slow")
                found.append({**head, **summary(lines, lasts, rows)})
    return found


def summary(lines: list[dict[str, object]], lasts: int | None, rows: int) -> dict[str, object]:
    """Return what one life comes to. Looks are counted from the change on, from 1."""
    fell = [line["reference"] - line["quality"] > 0.1 for line in lines[CHANGE:]]
    stated = ceil(2 * lines[CHANGE]["needed"] / rows)
    after = [place for place, line in enumerate(lines[CHANGE:], 1) if line["found"]]
    status = Counter(line["status"] for line in lines)
    whole = lines[CHANGE + SLOWLY :]
    return {
        "alarm": any(line["found"] for line in lines),
        "early": any(line["found"] for line in lines[:CHANGE]),
        "as drawn": any(line["as drawn"] for line in lines),
        "alert": status["alert"] > 0,
        "alerted": any(line["status"] == "alert" for line in lines[CHANGE:]),
        "at": after[0] if after else None,
        "in time": None if lasts is None else bool(after) and after[0] <= lasts + stated,
        "stated": stated,
        "fall": pd.Series([line["reference"] - line["quality"] for line in whole]).mean(),
        "wrong ok": sum(
            line["status"] == "ok" and bad for line, bad in zip(lines[CHANGE:], fell, strict=True)
        ),
        "cannot tell": status["cannot tell"] / len(lines),
        "held": np.mean([line["held"] for line in lines if line["status"] != "cannot tell"] or [1]),
    }


def main() -> None:
    """Live all lives, and write both tables."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--lives", type=int, default=200)
    parser.add_argument("--changed", type=int, default=50)
    parser.add_argument("--rows", type=int, default=150)
    parser.add_argument("--delays", nargs="+", default=list(DELAYS))
    parser.add_argument("--processes", type=int, default=2)
    options = read_options(
        parser,
        lives=1,
        changed=1,
        rows=60,
        processes=1,
        delays=["after 4 looks", "right 6 later"],
    )
    print(machine_line("scikit-learn"))
    live = partial(one_life, rows=options.rows, delays=options.delays)
    lives = []
    for seed in range(max(options.lives, options.changed)):
        calm = ["nothing", "inputs"] if seed < options.lives else []
        changes = ["sudden", "slow"] if seed < options.changed else []
        lives.append((seed, [*calm, *changes]))
    lines = []
    for number, found in enumerate(each(live, lives, options.processes), 1):
        lines += found
        print(f"{number} of {len(lives)} lives", end="\r", flush=True)
    raw = pd.DataFrame(lines)
    raw["delay"] = pd.Categorical(raw["delay"], options.delays)
    by = ["event", "delay"]
    held = raw[raw["event"].isin(["nothing", "inputs"])].groupby(by, observed=True)
    false = held[["alarm", "as drawn", "alert"]].sum().astype(int)
    false.insert(0, "lives", held.size())
    false = false.join(held[["cannot tell", "held"]].mean().round(3)).reset_index()
    changed = raw[raw["event"].isin(["sudden", "slow"])]
    found = changed.groupby(by, observed=True).agg(
        lives=("alarm", "size"),
        fall=("fall", "mean"),
        early=("early", "sum"),
        found=("at", "count"),
        looks=("at", "median"),
        in_time=("in time", "sum"),
        alerted=("alerted", "sum"),
        stated=("stated", "median"),
        wrong_ok=("wrong ok", "sum"),
        cannot_tell=("cannot tell", "mean"),
    )
    found = found.round(3).reset_index()
    for name, table in (("false_alarms", false), ("found", found)):
        if table.empty:
            continue
        print(table.to_string(index=False))
        table.to_csv(options.out / f"{name}.csv", index=False, quoting=csv.QUOTE_MINIMAL)


if __name__ == "__main__":
    main()
