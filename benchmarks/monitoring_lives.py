"""Applications' lives under watch: do alarms, intervals and claims of random draws keep their word?

    python benchmarks/monitoring_lives.py [--lives 200] [--rows 150] [--processes 2] [--out DIR]
                                          [--short]

A model of three classes, with or without probabilities, or of a number, is watched for 16 looks. Its
*world* stays as it was (*still*), its inputs come and go with the seasons of which it has learned
from one alone (*seasons*), its classes come in other shares, each looking as it did (*shares*), or
a sixth of the space means something else from the eighth look on (*fall*). Truths come by the
*laws*:

- *by class*: those of one class never, of the others some looks later;
- *mistakes first*: mistakes at once, all else four looks later;
- *queue*: 40 rows of each look that easeml has drawn, one or two looks later, beside a third of the
  mistakes at once, which users report;
- *file*: every third look a sample of 90 rows of the last three, by their owner's word;
- *file of a class*, *of mistakes*, *of unsure rows*, *of mistakes twice*: 60 rows of every third look
  that their owner says were drawn at random, and that are of one class; mistakes; those the model was
  least sure of; or have twice the chance if they are mistakes.

``alarms.csv`` counts lives with an alarm of concept drift, an alert, an alert while the true quality
had fallen by less than the five hundredths that an alert is for, and an alarm of inputs or
predictions; the share of looks whose interval has the quality of their rows, of those that can tell,
and "ok" where it fell by a tenth. ``claims.csv`` counts the claims and those that were doubted.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from common import arguments, each, machine_line, read_options
from easeml.lifecycle import monitoring
from monitoring_late_truths import share_between_delays

LOOKS = 16
CHANGE = 8
EVENTS = ("still", "seasons", "shares", "fall")
TRAIN, REFERENCE, LARGE = 900, 700, 4000
SHARES = np.array([0.5, 0.3, 0.2])
CENTRES = np.array([[0.0, 0.0, 0.0], [1.6, 0.4, -0.6], [0.3, 1.7, 0.8]])
NEVER = 10_000


@dataclass(frozen=True)
class Rows:
    """Rows of one look; ``expected``: the share of right answers in its law."""

    inputs: pd.DataFrame
    predicted: np.ndarray
    chances: np.ndarray | None
    truth: np.ndarray
    right: np.ndarray
    expected: float


class World:
    """A model and its rows. ``kind``: "classes", "no chances" or "numbers"."""

    def __init__(self, kind: str, seed: int):
        self.kind = kind
        self.rng = np.random.default_rng(seed)
        inputs, truth = self.drawn(TRAIN, "still", 0)
        models = {"classes": LogisticRegression(), "no chances": KNeighborsClassifier(15)}
        self.model = models.get(kind, Ridge()).fit(inputs, truth)
        known = self.look("still", 0, REFERENCE)
        self.monitor = monitoring.fit(
            known.inputs,
            known.predicted,
            known.truth,
            known.chances,
            task="regression" if kind == "numbers" else "classification",
            tolerance=1.0 if kind == "numbers" else None,
            seed=seed,
        )

    def drawn(self, number: int, event: str, look: int) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs and truths of the law of a look."""
        rng = self.rng
        shares = SHARES
        if event == "shares":
            part = min(1.0, look / 10)
            shares = (1 - part) * SHARES + part * SHARES[::-1]
        classes = rng.choice(3, number, p=shares)
        spread = rng.standard_t(6, (number, 3)) * [0.8, 0.7, 0.9]
        season = np.sin(2 * np.pi * look / 12) if event == "seasons" else 0.0
        inputs = CENTRES[classes] + spread
        fourth = rng.gamma(2.0, 0.5, number) + 0.8 * season
        if event == "seasons":  # classes follow from inputs, which alone have moved
            inputs[:, 0] += 0.7 * season
            classes = self._classes_of(inputs)
        elif event != "shares":
            classes = self._classes_of(inputs)
        inputs = np.column_stack([inputs, fourth])
        is_changed = (inputs[:, 0] > 0.9) if event == "fall" and look >= CHANGE else False
        if self.kind == "numbers":
            signal = inputs[:, 0] + np.cos(2 * inputs[:, 1]) + 0.3 * inputs[:, 2] * inputs[:, 0]
            truth = signal + rng.laplace(0, 0.25 + 0.1 * np.abs(inputs[:, 2])) + 2.0 * is_changed
            return inputs, truth
        return inputs, np.where(is_changed, (classes + 1) % 3, classes)

    def _classes_of(self, inputs: np.ndarray) -> np.ndarray:
        """Draw classes by what inputs tell of them where shares are as in training."""
        distances = ((inputs[:, None, :3] - CENTRES) / [0.8, 0.7, 0.9]) ** 2
        odds = SHARES * np.prod((1 + distances / 6) ** -3.5, axis=2)
        odds /= odds.sum(axis=1, keepdims=True)
        draws = self.rng.random((len(inputs), 1))
        return (odds.cumsum(axis=1) < draws).sum(axis=1).clip(0, 2)

    def look(self, event: str, look: int, number: int) -> Rows:
        """Return the rows of a look, from 0."""
        inputs, truth = self.drawn(number + LARGE, event, look)
        predicted = self.model.predict(inputs)
        is_right = predicted == truth
        if self.kind == "numbers":
            is_right = np.abs(predicted - truth) <= 1.0
        chances = None
        if self.kind == "classes":
            chances = self.model.predict_proba(inputs[:number])
        frame = pd.DataFrame(inputs[:number], columns=["east", "north", "up", "age"])
        right = is_right.astype(float)
        return Rows(
            frame,
            predicted[:number],
            chances,
            truth[:number],
            right[:number],
            float(right[number:].mean()),
        )


@dataclass
class Told:
    """What is told of one look: when the truth of each row comes, and which were drawn, by whom."""

    due: np.ndarray
    drawn: dict[str, np.ndarray] = field(default_factory=dict)
    drawn_due: int = NEVER


Law = Callable[[Rows, int, np.random.Generator], Told]


def by_class(rows: Rows, look: int, rng: np.random.Generator) -> Told:
    split = np.quantile(rows.truth, 0.8)
    delay = rng.geometric(0.4, len(rows.truth)) - 1
    return Told(np.where(rows.truth >= split, NEVER, look + delay))


def mistakes_first(rows: Rows, look: int, rng: np.random.Generator) -> Told:
    return Told(look + np.where(rows.right > 0, 4, 0))


def queue(rows: Rows, look: int, rng: np.random.Generator) -> Told:
    drawn = rng.choice(len(rows.truth), min(40, len(rows.truth)), replace=False)
    due = np.where((rows.right == 0) & (rng.random(len(rows.right)) < 1 / 3), look, NEVER)
    answered = look + 1 + look % 2
    due[drawn] = np.minimum(due[drawn], answered)
    return Told(due, {"easeml": drawn}, answered)


def _file(number: int, choose: Callable[[Rows, np.random.Generator], np.ndarray]) -> Law:
    """Return the law of a file every third look, which comes with the third."""

    def told(rows: Rows, look: int, rng: np.random.Generator) -> Told:
        weights = choose(rows, rng)
        most = min(number, int((weights > 0).sum()))
        drawn = rng.choice(len(weights), most, replace=False, p=weights / weights.sum())
        comes = look - look % 3 + 3
        due = np.full(len(weights), NEVER)
        due[drawn] = comes
        return Told(due, {"owner": drawn}, comes)

    return told


def _unsure(rows: Rows, rng: np.random.Generator) -> np.ndarray:
    if rows.chances is None:
        return np.exp(-np.abs(rows.inputs["east"].to_numpy() - 0.8) * 4)
    order = rows.chances.max(axis=1).argsort().argsort()
    return (order < len(order) / 3).astype(float)


LAWS: dict[str, Law] = {
    "by class": by_class,
    "mistakes first": mistakes_first,
    "queue": queue,
    "file": _file(30, lambda rows, rng: np.ones(len(rows.truth))),
    "file of a class": _file(
        20, lambda rows, rng: (rows.truth >= np.quantile(rows.truth, 0.6)).astype(float)
    ),
    "file of mistakes": _file(20, lambda rows, rng: 1 - rows.right + 1e-9 * rows.right),
    "file of unsure rows": _file(20, _unsure),
    "file of mistakes twice": _file(20, lambda rows, rng: 2 - rows.right),
}
HONEST = ("queue", "file")


def lived(world: World, looks: list[Rows], law: Law, rng: np.random.Generator) -> dict[str, Any]:
    """Watch one model whose truths come by one law; return what its life came to."""
    told = [law(rows, number, rng) for number, rows in enumerate(looks)]
    monitor, lines, claims = world.monitor, [], []
    for now, rows in enumerate(looks):
        prompt = np.flatnonzero(told[now].due == now)
        labelled = None
        if len(prompt):
            query = monitoring.at_random(prompt, len(rows.truth))
            labelled = monitoring.Labelled(query, rows.truth[prompt])
        late, drawn = _late(looks, told, now, rng)
        batch = monitoring.Batch(
            rows.inputs,
            rows.predicted,
            rows.chances,
            labelled,
            late=late,
            at_random=False,
            drawn=drawn,
        )
        report, monitor = monitoring.ask(monitor, batch)
        claims += report.claims
        fell = report.reference - rows.expected
        alarms = {test.kind for test in report.drift if test.alarm}
        quality = rows.right.mean()
        lines.append(
            {
                "alarm": "concept" in alarms,
                "moved": bool(alarms - {"concept"}),
                "alert": report.status == "alert",
                "false alert": report.status == "alert" and fell < world.monitor.rules.drop,
                "wrong ok": report.status == "ok" and fell > 0.1,
                "can tell": report.status != "cannot tell",
                "held": report.low <= quality <= report.high,
                "half": (report.high - report.low) / 2,
            }
        )
    frame = pd.DataFrame(lines)
    telling = frame[frame["can tell"]]
    found = frame.index[frame["alarm"]]
    return {
        **frame[["alarm", "moved", "alert", "false alert"]].any().to_dict(),
        "wrong ok": int(frame["wrong ok"].sum()),
        "at": None if found.empty else int(found[0]),
        "telling": len(telling),
        "held": int(telling["held"].sum()),
        "half": float(telling["half"].sum()),
        "claims": len(claims),
        "doubted": sum(not claim.is_credible for claim in claims),
    }


def _late(
    looks: list[Rows], told: list[Told], now: int, rng: np.random.Generator
) -> tuple[monitoring.Late | None, tuple[monitoring.Drawn, ...]]:
    """Return rows of earlier looks whose truth comes at this one, as the service tells them."""
    parts: list[tuple[int, np.ndarray, str]] = []
    places: dict[str, list[np.ndarray]] = {}
    number = 0
    for look in range(now):
        one, of_look = told[look], len(looks[look].truth)
        came = np.flatnonzero(one.due == now)
        drawn = {}
        if one.drawn_due == now:
            drawn = one.drawn
        again = [np.setdiff1d(rows, came) for rows in drawn.values()]
        others = np.setdiff1d(np.arange(of_look), np.concatenate([*drawn.values(), []]))
        roles = [(came, "truth"), *((rows, "again") for rows in again)]
        if drawn:
            most = min(len(others), max(100, 3 * sum(map(len, drawn.values()))))
            roles.append((rng.permutation(others)[:most], "other"))
        for rows, role in roles:
            for who, mine in drawn.items():
                if role != "other":
                    found = number + np.flatnonzero(np.isin(rows, mine))
                    places.setdefault(who, []).append(found)
            parts.append((look, rows.astype(int), role))
            number += len(rows)
    if not number:
        return None, ()
    drawn_rows = tuple(
        monitoring.Drawn(who, late=np.concatenate(mine)) for who, mine in places.items()
    )
    labels = []
    for look, rows, role in parts:
        known = looks[look].truth[rows].astype(object)
        labels.append(np.full(len(rows), None) if role == "other" else known)
    chances = None
    if looks[0].chances is not None:
        chances = np.concatenate([looks[look].chances[rows] for look, rows, _ in parts])
    late = monitoring.Late(
        pd.concat([looks[look].inputs.iloc[rows] for look, rows, _ in parts], ignore_index=True),
        np.concatenate([looks[look].predicted[rows] for look, rows, _ in parts]),
        np.concatenate(labels),
        chances,
        np.concatenate([np.full(len(rows), look + 1) for look, rows, _ in parts]),
        np.concatenate([np.full(len(rows), role, dtype=object) for _, rows, role in parts]),
    )
    return late, drawn_rows


def one_life(seed: int, rows: int, laws: list[str]) -> list[dict[str, Any]]:
    """Watch one model by each law of truths; return a line for each."""
    kind = ("classes", "numbers", "no chances")[seed % 3]
    event = EVENTS[(seed // 3) % len(EVENTS)]
    if kind == "numbers" and event == "shares":
        event = "seasons"
    share_between_delays()
    found = []
    with threadpool_limits(1):
        world = World(kind, seed)
        looks = [world.look(event, number, rows) for number in range(LOOKS)]
        for name in laws:
            rng = np.random.default_rng([seed, 11])
            head = {"kind": kind, "event": event, "law": name}
            found.append({**head, **lived(world, looks, LAWS[name], rng)})
    return found


def main() -> None:
    """Live all lives, and write both tables."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--lives", type=int, default=200)
    parser.add_argument("--rows", type=int, default=150)
    parser.add_argument("--laws", nargs="+", default=list(LAWS))
    parser.add_argument("--processes", type=int, default=2)
    options = read_options(
        parser, lives=1, rows=60, processes=1, laws=["queue", "file of mistakes"]
    )
    print(machine_line("scikit-learn"))
    live = partial(one_life, rows=options.rows, laws=options.laws)
    lines = []
    for number, found in enumerate(each(live, range(options.lives), options.processes), 1):
        lines += found
        print(f"{number} of {options.lives} lives", end="\r", flush=True)
    raw = pd.DataFrame(lines)
    raw["law"] = pd.Categorical(raw["law"], options.laws)
    alarms = _alarms(raw)
    claims = raw[raw["claims"] > 0].groupby("law", observed=True)
    doubted = claims[["claims", "doubted"]].sum()
    doubted.insert(0, "lives", claims.size())
    doubted["lives with doubt"] = claims["doubted"].agg(lambda one: int((one > 0).sum()))
    for name, table in (("alarms", alarms), ("claims", doubted.reset_index())):
        print(table.to_string(index=False))
        table.to_csv(options.out / f"{name}.csv", index=False, quoting=csv.QUOTE_MINIMAL)


def _alarms(raw: pd.DataFrame) -> pd.DataFrame:
    """Return what lives came to, by what happens and by the law of truths."""
    groups = raw.groupby(["event", "law"], observed=True)
    names = ["alarm", "alert", "false alert", "moved", "wrong ok", "telling", "held", "half"]
    table = groups[names].sum()
    table.insert(0, "lives", groups.size())
    table["held"] = (table["held"] / table["telling"]).round(3)
    table["half"] = (table["half"] / table["telling"]).round(3)
    table["telling"] = (table["telling"] / table["lives"] / LOOKS).round(3)
    table["at"] = groups["at"].median()
    return table.reset_index()


if __name__ == "__main__":
    main()
