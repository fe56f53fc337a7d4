"""How few answers could reach the goal: an order that knows the truth, beside those of ``journey.py``.

The worlds, people, models and goals are those of ``journey.py``, and its runs stand beside. The
order *all-knowing* knows what nobody can know: what is true of each row, and what a model would say
if all were answered. It asks what brings the predictions on validation rows closest to that, for
each answer the most (a linear stand-in, one question after another). Labels of test rows are not
looked at.

Beside that the first batch is taken apart: how far towards the goal it brings each order (1: where
all is answered), and how many of its answers change anything. *None wasted* is easeml's order
without questions whose answer is what stands there already: what a perfect finder of faults would
bring.

    python benchmarks/journey_limits.py
    python benchmarks/journey_limits.py --short

What was run is kept in ``runs.csv`` and is not run again.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import journey
from common import RESULTS, arguments, machine_line, read_options, write_table
from easeml.lifecycle.questions import Surrogate
from easeml.lifecycle.work import CELL, CHECK, LABEL, Rows, StandIn
from journey import BATCH, BUNDLED, GOAL, Model, Question, Situation, quality
from journey_people import CHOSE_CONSTANTS, drawn_world, pairs_of

COMPARED = ("easeml", "random", "uncertainty", "all-knowing")


@dataclass
class _Changes:
    """Questions with the rows that a model forgets and learns once they are answered truly.

    ``rows`` (n, 2, D) and ``targets`` (n, 2, K): what leaves and what comes. A row of the pool has
    nothing that leaves: zeros.
    """

    questions: list[Question]
    rows: np.ndarray
    targets: np.ndarray

    @staticmethod
    def of(now: Situation, stand_in: StandIn, questions: list[Question]) -> _Changes:
        """Return what true answers change."""
        world = now.world
        kinds = np.array([kind for kind, _, _ in questions])
        at = [row for _, row, _ in questions]
        stood = world.written.loc[at].reset_index(drop=True)
        after = stood.copy()
        for place, (kind, row, column) in enumerate(questions):
            if kind == CELL:
                after.loc[place, column] = world.truth.loc[row, column]
        true = stand_in.targets(world.true_labels.loc[at])
        given = np.where((kinds == LABEL)[:, None], 0.0, stand_in.targets(world.labels.loc[at]))
        leaves = np.where((kinds == LABEL)[:, None], 0.0, stand_in.encoded(stood))
        label = np.where((kinds == CELL)[:, None], given, true)
        rows = np.stack([leaves, stand_in.encoded(after)], axis=1)
        return _Changes(questions, rows, np.stack([given, label], axis=1))

    def distances(self, model: Surrogate, aim: Surrogate) -> np.ndarray:
        """Return how far a model is from another one after each answer (n,), squared (Woodbury)."""
        steps = self.rows @ model.inverse
        gaps = self.targets - self.rows @ model.weights
        inner = np.diag([-1.0, 1.0]) + steps @ self.rows.transpose(0, 2, 1)
        parts = np.linalg.solve(inner, gaps)
        shift = model.weights - aim.weights
        reach = steps @ model.counted
        along = (parts * (reach @ shift)).sum(axis=(1, 2))
        own = (parts * ((reach @ steps.transpose(0, 2, 1)) @ parts)).sum(axis=(1, 2))
        return model.moved_from(aim) + 2 * along + own

    def taken_in(self, model: Surrogate, place: int) -> Surrogate:
        """Return a model that has the answer to a question, too."""
        (leaves, comes), (given, label) = self.rows[place], self.targets[place]
        if leaves.any():
            model = model.without_row(leaves, given)
        return model.with_row(comes, label)

    def beside(self, row: int) -> _Changes:
        """Return the questions about other rows."""
        kept = np.array([asked != row for _, asked, _ in self.questions], bool)
        questions = [self.questions[place] for place in np.flatnonzero(kept)]
        return _Changes(questions, self.rows[kept], self.targets[kept])


def all_knowing(now: Situation) -> list[Question]:
    """What brings the predictions closest to those of the world in which all is answered."""
    world = now.world
    stand_in = StandIn(Rows(now.train, now.labels, now.pool, world.validation[0]), 0)
    aim = Surrogate.fitted(
        stand_in.encoded(world.truth), stand_in.targets(world.true_labels), stand_in.counted
    )
    asked = [*now.labels_of(now.pool.index), *now.checks(), *now.cells()]
    useful = [one for one in asked if _says_more(now, one)]
    if not useful:
        return []
    left = _Changes.of(now, stand_in, useful)
    model = stand_in.model
    chosen: list[Question] = []
    while left.questions and len(chosen) < BATCH:
        far = left.distances(model, aim)
        best = int(far.argmin())
        if far[best] >= model.moved_from(aim):
            break
        model = left.taken_in(model, best)
        chosen.append(left.questions[best])
        # A row is asked about once a batch, so that each answer is as it was reckoned.
        left = left.beside(left.questions[best][1])
    return chosen or useful


def _says_more(now: Situation, question: Question) -> bool:
    """Would the true answer change anything?"""
    kind, row, column = question
    if kind == LABEL:
        return True
    if kind == CHECK:
        return now.world.labels.loc[row] != now.world.true_labels.loc[row]
    stood, truth = now.world.written.loc[row, column], now.world.truth.loc[row, column]
    return not (stood == truth or (pd.isna(stood) and pd.isna(truth)))


LIMITS: dict[str, Callable[[Situation], list[Question]]] = {
    "all-knowing": all_knowing,
}


# The first batch


def first_batches(options: argparse.Namespace) -> Iterable[list]:
    """Yield a line a set, seed and order: the share of the way, and answers that change anything."""
    for pair in pairs_of(options.data, options.only):
        for seed in range(options.seeds):
            rng = np.random.default_rng([seed, *pair.name.encode()])
            world = drawn_world(pair, rng, options.rows)
            now = Situation(world, np.random.default_rng(seed))
            best = world.perfect()
            start = quality(world, now.model)
            whole = quality(best, Model(best.written, best.labels)) - start
            for name, batch in _batches(now).items():
                useful = sum(_says_more(now, one) for one in batch)
                share = (_reached(now, batch) - start) / whole
                yield [pair.name, seed, name, round(share, 3), useful, len(batch)]


def _batches(now: Situation) -> dict[str, list[Question]]:
    """Return the first questions of each order."""
    ours = journey.easeml_order(now)
    found = {
        "easeml": ours,
        "none wasted": [one for one in ours if _says_more(now, one)],
        "uncertainty": journey.uncertainty(now),
        "all-knowing": all_knowing(now),
    }
    for kind in (LABEL, CHECK, CELL):
        found[f"easeml, only {kind}"] = [one for one in ours if one[0] == kind]
    return {name: order[:BATCH] for name, order in found.items()}


def _reached(now: Situation, batch: list[Question]) -> float:
    """Return the quality once a batch is answered without a mistake."""
    world = now.world.copy()
    for kind, row, column in batch:
        if kind == CELL:
            world.written.loc[row, column] = world.truth.loc[row, column]
        else:
            world.labels.loc[row] = world.true_labels.loc[row]
    labelled = world.is_labelled.to_numpy()
    return quality(world, Model(world.written.loc[labelled], world.labels.loc[labelled]))


# What is told


def answers_to_goal(lines: pd.DataFrame, goal: float) -> float:
    """Return the answers until a quality is reached for good; not a number where it never is."""
    below = np.flatnonzero(lines["quality"].to_numpy() < goal)
    if not len(below):
        return 0.0
    after = int(below[-1]) + 1
    return np.nan if after == len(lines) else float(BATCH * after)


def scores_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the answers to the goal by set, seed and order."""
    found = []
    for (name, seed), here in runs.groupby(["set", "seed"], sort=False):
        by_order = dict(list(here.groupby("order", sort=False)))
        best = by_order.pop("all answered", None)
        if best is None or "random" not in by_order:
            continue
        start = by_order["random"]["quality"].iloc[0]
        goal = start + GOAL * (best["quality"].iloc[0] - start)
        for order, lines in by_order.items():
            needed = answers_to_goal(lines, goal)
            found.append((name, seed, order, needed, BATCH * (len(lines) - 1)))
    return pd.DataFrame(found, columns=["set", "seed", "order", "answers", "asked"])


def halved(scores: pd.DataFrame, order: str, other: str) -> tuple[int, int, int]:
    """Return in how many runs an order needs at most half of another one's answers.

    With it, in how many it does not, and in how many nobody knows: neither reached the goal, or the
    other one did not within twice the answers of this one.
    """
    wide = scores.pivot(index=["set", "seed"], columns="order", values="answers")
    asked = scores.pivot(index=["set", "seed"], columns="order", values="asked")
    mine, theirs = wide[order], wide[other].fillna(asked[other] + 1)
    met = mine <= theirs / 2
    unknown = (mine.isna() | ~met) & wide[other].isna()
    return int(met.sum()), int((~met & ~unknown).sum()), int(unknown.sum())


def summary(runs: pd.DataFrame, folder: Path) -> None:
    """Write the answers to the goal by set and order, and how often they are half."""
    scores = scores_of(runs)
    scores = scores[scores["order"].isin(COMPARED)]
    told = scores.assign(answers=scores["answers"].fillna(scores["asked"]))
    lines = []
    for (name, order), here in told.groupby(["set", "order"], sort=False):
        missed = int(scores.loc[here.index, "answers"].isna().sum())
        lines.append([name, order, here["answers"].mean(), missed, len(here)])
    header = ["set", "order", "answers to the goal", "never", "seeds"]
    write_table(folder / "answers.csv", header, lines)
    table = pd.DataFrame(lines, columns=header)
    with pd.option_context("display.width", 200):
        print(table.pivot(index="set", columns="order", values=header[2]).to_string())
    aside = told.assign(aside=~told["set"].isin(CHOSE_CONSTANTS))
    print(aside.groupby(["aside", "order"])["answers"].mean().unstack(0).round(0).to_string())
    halves = []
    for order in ("easeml", *LIMITS):
        for other in ("random", "uncertainty"):
            if {order, other} <= set(scores["order"]):
                halves.append([order, other, *halved(scores, order, other)])
    header = ["order", "beside", "at most half", "more", "not known"]
    write_table(folder / "halves.csv", header, halves)
    print((folder / "halves.csv").read_text())


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--orders", nargs="*", default=list(LIMITS), help="names of orders")
    parser.add_argument("--minutes", type=float, default=60.0, help="that each person has")
    options = read_options(
        parser,
        seeds=1,
        rows=80,
        minutes=2.0,
        only=[BUNDLED],
        orders=["random", "uncertainty", "easeml", *LIMITS],
    )
    warnings.filterwarnings("ignore")
    print(machine_line("scikit-learn", "lightgbm"))
    journey.ORDERS.update(LIMITS)
    runs = options.out / "runs.csv"
    journey.run(options, runs)
    found = pd.read_csv(runs)
    beside = RESULTS / "journey" / "runs.csv"
    if not options.short and beside.exists():
        others = pd.read_csv(beside)
        found = pd.concat([found[found["order"].isin(LIMITS)], others])
    summary(found, options.out)
    header = ["set", "seed", "order", "share of the way", "answers that change", "answers"]
    write_table(options.out / "first.csv", header, first_batches(options))
    first = pd.read_csv(options.out / "first.csv")
    print(first.groupby("order")[header[3:]].mean().round(2).to_string())


if __name__ == "__main__":
    main()
