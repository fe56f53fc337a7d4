"""Simulated people answer questions about dirty, half-labelled tables: does easeml's order pay?

Each person has an hour for 400 rows (fewer of small sets) of a table whose truth is known: half of
the labels are missing, a tenth is wrong, cells are missing or wrong. Questions are the same for all:
what is the label of this row of the pool, is this label right, what stands in this cell. Only their
order differs:

- easeml: ``lifecycle.work``, the code by which the service orders its queue;
- clean first: doubtful cells, the surest finding first; then labels that look wrong; then the pool;
- label first: the pool as it stands in the file; then labels that look wrong; then cells;
- random: any question;
- uncertainty: the rows of the pool that the model is least sure of; then any question;
- each tool alone in its own order: CPClean's plan of cells, labels by suspicion, the pool by its
  kNN-Shapley value. When it has no question left, the person stops.

Twenty answers make a version, as in the service; models learn again (a logistic regression and 50
boosted trees; quality is the mean of their areas under the ROC curve on true test rows).

    python benchmarks/journey.py
    python benchmarks/journey.py --short
    python benchmarks/journey.py --only pima --seeds 2

What was run is kept in ``runs.csv`` and is not run again.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.journey import in_order, learned_seconds
from easeml.lifecycle.labeling import judge_classes, value_pool
from easeml.lifecycle.work import CELL, CHECK, LABEL, Rows, calibrated, experience, propose
from easeml.lifecycle.work.proposals import LEAST_SUSPICION
from journey_people import BUNDLED, CHOSE_CONSTANTS, Person, World, drawn_world, pairs_of

MINUTES = 60.0
BATCH = 20
GOAL = 0.5  # of the way from the start to where all is answered
Question = tuple[str, int, str]
"""Kind, row and column."""


# Models


class Encoder:
    """Numbers by their spread, texts as indicators; gaps stay for trees, and are filled for others."""

    def __init__(self, frame: pd.DataFrame):
        self.numbers = [name for name in frame if frame[name].dtype.kind == "f"]
        known = frame[self.numbers]
        self.middle = known.median().fillna(0.0)
        self.spread = known.std().replace(0, 1.0).fillna(1.0)
        self.levels = {}
        for name in frame.columns.drop(self.numbers):
            counts = frame[name].value_counts()
            self.levels[name] = counts.index[counts >= 3][:30].to_numpy()

    def encoded(self, frame: pd.DataFrame) -> np.ndarray:
        parts = [((frame[self.numbers] - self.middle) / self.spread).to_numpy(float)]
        for name, levels in self.levels.items():
            parts.append((frame[name].to_numpy(object)[:, None] == levels).astype(float))
        return np.concatenate(parts, axis=1)


class Model:
    """The mean of a logistic regression and of 50 boosted trees."""

    def __init__(self, frame: pd.DataFrame, labels: pd.Series):
        self.encoder = Encoder(frame)
        X = self.encoder.encoded(frame)
        self.classes = list(labels.cat.categories)
        codes = labels.cat.codes.to_numpy()
        self.seen = np.unique(codes)
        trees = LGBMClassifier(
            n_estimators=50, num_leaves=15, min_child_samples=5, n_jobs=1, verbose=-1
        )
        self.members = [
            LogisticRegression(C=0.3, max_iter=300).fit(np.nan_to_num(X), codes),
            trees.fit(X, codes),
        ]

    def chances(self, frame: pd.DataFrame) -> list[np.ndarray]:
        """Return what each member says of rows, in the order of the classes."""
        X = self.encoder.encoded(frame)
        found = []
        for member, rows in zip(self.members, (np.nan_to_num(X), X), strict=True):
            chances = np.zeros((len(X), len(self.classes)))
            chances[:, self.seen] = member.predict_proba(rows)
            found.append(chances)
        return found


def quality(world: World, model: Model) -> float:
    """Return the mean area under the ROC curve on test rows."""
    frame, labels = world.test
    codes = pd.Categorical(labels, model.classes).codes
    found = []
    for chances in model.chances(frame):
        found.append(roc_auc_score(codes, chances[:, 1]))
    return float(np.mean(found))


# What is known when a batch begins


@dataclass
class Situation:
    """A world with the models of its train rows, which are fitted when they are asked for."""

    world: World
    rng: np.random.Generator
    timed: list[tuple[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        labelled = self.world.is_labelled.to_numpy()
        self.train = self.world.written.loc[labelled]
        self.labels = self.world.labels.loc[labelled]
        self.pool = self.world.written.loc[~labelled]
        self.model = Model(self.train, self.labels)
        self._unseen: Unseen | None = None

    @property
    def unseen(self) -> Unseen:
        """What models say of train rows that they have not seen."""
        if self._unseen is None:
            chances = np.zeros((len(self.train), len(self.model.classes)))
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            codes = self.labels.cat.codes
            for rest, held in folds.split(self.train, codes):
                model = Model(self.train.iloc[rest], self.labels.iloc[rest])
                chances[held] = np.mean(model.chances(self.train.iloc[held]), axis=0)
            names = np.array(self.model.classes, dtype=object)
            self._unseen = Unseen(names[chances.argmax(axis=1)], chances, names)
        return self._unseen

    @property
    def suspicion(self) -> pd.Series:
        """How likely each label of a train row is wrong."""
        judged = judge_classes(self.unseen.chances, self.labels.cat.codes.to_numpy().astype(int))
        return pd.Series(judged.wrong, index=self.train.index).fillna(0.0)

    def checks(self) -> list[Question]:
        """Labels that look wrong, the most suspicious first."""
        found = self.suspicion.sort_values(ascending=False, kind="stable")
        found = found[found >= LEAST_SUSPICION]
        return self._open([(CHECK, row, self.world.target) for row in found.index])

    def cells(self) -> list[Question]:
        """Doubtful cells, the surest finding first."""
        told = self.world.doubts.candidates()
        told = told[told["row"].isin(self.train.index)]
        given = [
            self.world.written.loc[row, name]
            for row, name in zip(told["row"], told["column"], strict=True)
        ]
        told = told.assign(given=pd.Series(given, index=told.index, dtype=object))
        right = told[told["value"] == told["given"]].set_index("block")["weight"]
        first = told.drop_duplicates("block").set_index("block")
        doubt = (1.0 - right.reindex(first.index).fillna(0.0)).sort_values(
            ascending=False, kind="stable"
        )
        return self._open([(CELL, first.at[b, "row"], first.at[b, "column"]) for b in doubt.index])

    def labels_of(self, rows: pd.Index) -> list[Question]:
        """Labels of pool rows."""
        return [(LABEL, row, self.world.target) for row in rows]

    def _open(self, questions: list[Question]) -> list[Question]:
        return [one for one in questions if (one[1], one[2]) not in self.world.known]


# Orders


def easeml_order(now: Situation) -> list[Question]:
    """The order of the service."""
    pool = None
    if len(now.pool):
        chances = np.mean(now.model.chances(now.pool), axis=0)
        pool = Unseen(np.array([]), chances, np.array(now.model.classes, object))
    rows = Rows(now.train, now.labels, now.pool, now.world.validation[0])
    found = propose(
        rows,
        doubts=now.world.doubts,
        pool=pool,
        train=now.unseen,
        suspicion=now.suspicion,
        known=frozenset(now.world.known),
        most=BATCH,
    )
    found = calibrated(found, experience(rows, now.world.answered))
    for one in found:
        now.world.told[one.row, one.column] = one.told
    kinds, gains = [one.kind for one in found], [one.gain for one in found]
    answers = Counter(kind for kind, _ in now.timed)
    order = in_order(kinds, gains, learned_seconds(now.timed), answers)
    return [(found[at].kind, found[at].row, found[at].column) for at in order]


def clean_first(now: Situation) -> list[Question]:
    """Cells, then suspicious labels, then the pool."""
    cells = now.cells()
    if len(cells) >= BATCH:
        return cells
    return [*cells, *now.checks(), *now.labels_of(now.pool.index)]


def label_first(now: Situation) -> list[Question]:
    """The pool as it stands, then suspicious labels, then cells."""
    found = now.labels_of(now.pool.index)
    if len(found) >= BATCH:
        return found
    return [*found, *now.checks(), *now.cells()]


def at_random(now: Situation) -> list[Question]:
    """Any question."""
    found = [*now.labels_of(now.pool.index), *now.checks(), *now.cells()]
    return [found[place] for place in now.rng.permutation(len(found))]


def uncertainty(now: Situation) -> list[Question]:
    """The pool by how little is known of its labels, then any question."""
    if len(now.pool) < BATCH:
        return at_random(now)
    chances = np.clip(np.mean(now.model.chances(now.pool), axis=0), 1e-12, 1)
    entropy = -(chances * np.log(chances)).sum(axis=1)
    return now.labels_of(now.pool.index[np.argsort(-entropy, kind="stable")])


def checks_alone(now: Situation) -> list[Question]:
    """Labels by suspicion."""
    return now.checks()


def pool_alone(now: Situation) -> list[Question]:
    """The pool by kNN-Shapley value beside validation rows."""
    if not len(now.pool):
        return []
    frame, labels = now.world.validation
    known = labels.isin(now.model.classes)
    X, pool, X_valid = (
        np.nan_to_num(now.model.encoder.encoded(one)) for one in (now.train, now.pool, frame[known])
    )
    values = value_pool(X, now.labels.astype(str), pool, X_valid, labels[known].astype(str), 5)
    return now.labels_of(now.pool.index[np.argsort(-values, kind="stable")])


def cells_alone(now: Situation) -> list[Question]:
    """Cells in the order of CPClean: those of the row that makes most predictions certain first."""
    cells = now.cells()
    if not cells:
        return []
    rank = now.world.plan
    if rank is None:
        rank = now.world.plan = cpclean_plan(now)
    return sorted(cells, key=lambda one: rank.get(one[1], len(rank)))


def cpclean_plan(now: Situation) -> dict[int, int]:
    """Return the place of each row in the plan that CPClean makes at the start."""
    from easeml.lifecycle.cleaning import CleaningSession, candidates_of

    target = now.world.target
    dirty = now.train.assign(**{target: now.labels.astype(str)}).reset_index(drop=True)
    frame, labels = now.world.validation
    table = candidates_of(dirty, frame.assign(**{target: labels.to_numpy()}), target)
    session = CleaningSession(table.rows, table.X_valid)
    if not len(session.dirty):
        return {}
    order = session.dirty[np.argsort(-session.gains.sum(axis=0), kind="stable")]
    return {int(now.train.index[row]): place for place, row in enumerate(order.tolist())}


ORDERS: dict[str, Callable[[Situation], list[Question]]] = {
    "easeml": easeml_order,
    "clean first": clean_first,
    "label first": label_first,
    "random": at_random,
    "uncertainty": uncertainty,
    "cells alone": cells_alone,
    "checks alone": checks_alone,
    "pool alone": pool_alone,
}


# A person's hour


def lived(
    world: World, order: str, person: Person, seed: int, most: float
) -> list[tuple[float, float]]:
    """Return minutes and quality after each batch, as long as ``most`` minutes are not over."""
    rng = np.random.default_rng(seed)
    world = world.copy()
    now = Situation(world, rng)
    minutes = 0.0
    found = [(0.0, quality(world, now.model))]
    while minutes < most:
        batch = ORDERS[order](now)[:BATCH]
        if not batch:
            break
        timed = []
        for kind, row, column in batch:
            seconds = person.answer(world, kind, row, column, rng)
            timed.append((kind, seconds))
            minutes += seconds / 60
        now = Situation(world, rng, [*now.timed, *timed])
        found.append((minutes, quality(world, now.model)))
    return found


def run(options, runs: Path) -> None:
    """Run what was not run yet, and append it."""
    done = set()
    if runs.exists():
        with runs.open(newline="") as file:
            done = {(one["set"], int(one["seed"]), one["order"]) for one in csv.DictReader(file)}
    else:
        runs.write_text("set,seed,order,minutes,quality\n")
    for pair in pairs_of(options.data, options.only):
        for seed in range(options.seeds):
            left = [one for one in options.orders if (pair.name, seed, one) not in done]
            if not left:
                continue
            rng = np.random.default_rng([seed, *pair.name.encode()])
            world, person = drawn_world(pair, rng, options.rows), Person.drawn(rng)
            best = world.perfect()
            lines = []
            if (pair.name, seed, "all answered") not in done:
                lines.append(
                    ("all answered", MINUTES, quality(best, Model(best.written, best.labels)))
                )
            for order in left:
                begun = time.perf_counter()
                found = lived(world, order, person, seed, options.minutes)
                lines += [(order, minutes, reached) for minutes, reached in found]
                took = time.perf_counter() - begun
                print(
                    f"{pair.name} {seed} {order}: {found[0][1]:.3f} -> {found[-1][1]:.3f}, {took:.1f} s",
                    flush=True,
                )
            with runs.open("a", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                for order, minutes, reached in lines:
                    writer.writerow([pair.name, seed, order, f"{minutes:.2f}", f"{reached:.5f}"])


# What is told


def mean_gain(lines: pd.DataFrame, start: float) -> float:
    """Return the mean gain of quality over the hour: the area under the steps, divided by it."""
    times = np.append(np.minimum(lines["minutes"].to_numpy(), MINUTES), MINUTES)
    return float((np.diff(times) * (lines["quality"].to_numpy() - start)).sum() / MINUTES)


def minutes_to(lines: pd.DataFrame, goal: float) -> float:
    """Return the minutes until a quality is reached for good; the hour where it never is."""
    below = np.flatnonzero(lines["quality"].to_numpy() < goal)
    if not len(below):
        return 0.0
    after = below[-1] + 1
    return MINUTES if after == len(lines) else min(MINUTES, float(lines["minutes"].iloc[after]))


def interval(values: np.ndarray) -> float:
    """Half the width of a 95 % interval of the mean; nothing where there is one value."""
    if len(values) < 2:
        return float("nan")
    return float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def summary(runs: Path, folder: Path) -> None:
    """Write gains and minutes by set and order."""
    found = pd.read_csv(runs)
    scores = []
    for (name, seed), here in found.groupby(["set", "seed"], sort=False):
        by_order = dict(list(here.groupby("order", sort=False)))
        best = by_order.pop("all answered", None)
        if best is None or "random" not in by_order:
            continue
        start = by_order["random"]["quality"].iloc[0]
        goal = start + GOAL * (best["quality"].iloc[0] - start)
        for order, lines in by_order.items():
            scores.append((name, seed, order, mean_gain(lines, start), minutes_to(lines, goal)))
    scores = pd.DataFrame(scores, columns=["set", "seed", "order", "gain", "minutes"])
    table = []
    for name, here in scores.groupby("set", sort=False):
        wide = here.pivot(index="seed", columns="order", values="gain").dropna()
        for order in wide.columns:
            more = (wide[order] - wide["random"]).to_numpy()
            own = here[(here["order"] == order)]
            table.append(
                [
                    name,
                    order,
                    wide[order].mean(),
                    more.mean(),
                    interval(more),
                    own["minutes"].median(),
                    len(wide),
                ]
            )
    columns = [
        "set",
        "order",
        "mean gain",
        "more than random",
        "+-",
        "minutes to the goal",
        "seeds",
    ]
    table = pd.DataFrame(table, columns=columns)
    rounded = [
        [round(v, 4) if isinstance(v, float) else v for v in line]
        for line in table.to_numpy().tolist()
    ]
    write_table(folder / "sets.csv", columns, rounded)
    whole = scores.assign(aside=~scores["set"].isin(CHOSE_CONSTANTS))
    with pd.option_context("display.width", 200):
        print(table.pivot(index="set", columns="order", values="mean gain").round(4).to_string())
        print(
            table.pivot(index="set", columns="order", values="minutes to the goal")
            .round(1)
            .to_string()
        )
        print(
            whole.groupby(["aside", "order"])[["gain", "minutes"]]
            .mean()
            .unstack(0)
            .round(4)
            .to_string()
        )


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    parser.add_argument("--orders", nargs="*", default=list(ORDERS), help="names of orders")
    parser.add_argument("--minutes", type=float, default=60.0, help="that each person has")
    options = read_options(parser, seeds=1, rows=60, minutes=1.0, only=[BUNDLED])
    warnings.filterwarnings("ignore")
    print(machine_line("scikit-learn", "lightgbm"))
    runs = options.out / "runs.csv"
    run(options, runs)
    summary(runs, options.out)


if __name__ == "__main__":
    main()
