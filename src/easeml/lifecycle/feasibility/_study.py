"""The study: representations race over growing training sets, with an answer at any time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility import _learners
from easeml.lifecycle.feasibility._answer import forecasts, judge, more_examples, weigh
from easeml.lifecycle.feasibility._arms import DIRECT, Arm, LeafArm, NeighbourArm, ScoreArm, Target
from easeml.lifecycle.feasibility._folds import Fold, make_folds, stage_sizes
from easeml.lifecycle.feasibility._inputs import Inputs, Task, check_inputs, check_target
from easeml.lifecycle.feasibility._noise import label_noise
from easeml.lifecycle.feasibility._race import Track, least_possible, race
from easeml.lifecycle.feasibility._standard import standard
from easeml.lifecycle.feasibility.representations import Representation
from easeml.lifecycle.feasibility.result import BayesError, Tried

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from easeml.lifecycle.result import Progress

MANY_CLASSES = 4  # above, trees for every class and round cost more than a forest


def bayes_error(
    X: Any,
    y: ArrayLike,
    *,
    goal: float | None = None,
    task: Literal["classification", "regression"] | None = None,
    representations: Sequence[Representation] = (),
    confidence: float = 0.95,
    halving: bool = True,
    until_decided: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> BayesError:
    """Estimate the least error that any model can reach on rows like these, from both sides.

    Args: X: a frame, numbers (rows, columns; NaN is missing), texts (rows,), or images (rows,
        height, width[, channels]). y: (rows,) classes, or numbers; without ``task``, numbers that
        are not whole or have many values are regressed. goal: the wanted accuracy, or R2 for a
        regression; at most 1. Without it there is no verdict. representations: ``Representation``
        of your own, as from ``pretrained``, beside those that come with easeml. confidence: of the
        bounds together, and of the verdict, in (0, 1). halving: drop representations that fall
        behind; without, all read all rows. until_decided: stop at the first size that decides the
        verdict (the chance of error is split over the sizes). seed: of the folds, of random
        features, and of learners.

    Raises:
        InvalidInput: for inputs that do not fit each other, too few rows, or one class only.
    """
    answers = study(
        X,
        y,
        goal=goal,
        task=task,
        representations=representations,
        confidence=confidence,
        halving=halving,
        until_decided=until_decided,
        seed=seed,
        progress=progress,
    )
    return deque(answers, maxlen=1)[0]


def study(
    X: Any,
    y: ArrayLike,
    *,
    goal: float | None = None,
    task: Task | None = None,
    representations: Sequence[Representation] = (),
    confidence: float = 0.95,
    halving: bool = True,
    until_decided: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[BayesError]:
    """Yield an answer after every size of the training set, each better than the one before; see
    ``bayes_error``.
    """
    if not 0 < confidence < 1:
        raise InvalidInput(
            f"A confidence of {confidence} is not between 0 and 1.", where="confidence"
        )
    if goal is not None and not goal <= 1:
        raise InvalidInput(
            f"A goal of {goal} is above 1, the best there is.",
            where="goal",
            remedy="Use 0.9 for 90 %.",
        )
    inputs = check_inputs(X)
    target, names, variance = check_target(y, len(inputs), task)
    if goal is not None and target.classes and goal < 0:
        raise InvalidInput(f"An accuracy of {goal} is below 0.", where="goal")
    strata = target.values if target.classes else np.zeros(len(inputs), dtype=np.int64)
    folds = make_folds(strata, inputs.groups, np.random.default_rng(seed))
    if min(len(fold.train) for fold in folds) < 2 or any(not len(fold.test) for fold in folds):
        raise InvalidInput(
            "Nearly all rows are copies of each other.",
            where="X",
            remedy="Give more distinct rows.",
        )
    threads = 1 if len(inputs) < _learners.ONE_THREAD else None
    with threadpool_limits(threads):
        arms = _arms(inputs, target, folds, representations, seed)
    sizes = stage_sizes(min(len(fold.train) for fold in folds), target.classes)
    tests = np.concatenate([fold.test for fold in folds])
    constant = _constant(target, folds)
    split = len(sizes) if until_decided else 1
    at_each = 1 - (1 - confidence) / split
    runs = race(arms, sizes, target.classes, halving)
    for number in range(len(sizes)):
        with threadpool_limits(threads):
            tracks = next(runs)
        sides = weigh(tracks, constant, target.classes, seed)
        verdict, risk = (None, None) if goal is None else judge(sides, goal, at_each)
        decided = verdict == "realistic" or (verdict == "unrealistic" and number + 2 > len(sizes))
        change = None
        if goal is not None and verdict == "cannot tell":
            change = more_examples(sides, goal, at_each, len(inputs))
        estimate = sides.estimate
        noisy = (
            label_noise(sides.track.last, estimate, goal, target.classes, len(inputs))
            if names
            else None
        )
        tail = (1 + at_each) / 2
        yield BayesError(
            task="classification" if target.classes else "regression",
            classes=names,
            rows=len(inputs),
            evaluated=len(tests),
            lower=sides.lower(tail),
            estimate=estimate,
            upper=sides.upper(tail),
            reached=float(sides.reached.mean()),
            baseline=float(constant.mean()),
            noise_variance=None if target.classes else estimate * variance,
            confidence=confidence,
            representation=sides.track.arm.name,
            goal=goal,
            verdict=verdict,
            risk=None if risk is None else min(1.0, risk * split),
            more_examples=change[0] if change else None,
            next_verdict=change[1] if change else None,
            forecasts=forecasts(sides, len(inputs)),
            noise=noisy,
            tried=tuple(_tried(track, target.classes) for track in tracks),
            work=_work(tracks) / (len(tracks) * sum(sizes)),
            final=number + 1 == len(sizes),
            notes=_notes(inputs),
        )
        if progress:
            progress(1.0 if decided and until_decided else sum(sizes[: number + 1]) / sum(sizes))
        if until_decided and decided:
            return


def _arms(
    inputs: Inputs,
    target: Target,
    folds: Sequence[Fold],
    extra: Sequence[Representation],
    seed: int,
) -> list[Arm]:
    """Return all that compete: neighbours in every representation, learners, and a forest's leaves."""
    matrices, base = standard(inputs, seed)
    taken = [*matrices, *(representation.name for representation in extra)]
    if len(set(taken)) < len(taken):
        raise InvalidInput(
            "Two representations have the same name.", remedy="Give each a name of its own."
        )
    arms: list[Arm] = [
        NeighbourArm(name, matrix.__getitem__, folds, target) for name, matrix in matrices.items()
    ]
    arms += [NeighbourArm(own.name, _checked(own, inputs), folds, target) for own in extra]
    linear = _learners.discriminant if target.classes else _learners.ridge
    arms.append(ScoreArm("linear scores", linear, base, folds, target))
    arms.append(ScoreArm("kernel scores", linear, matrices["random features"], folds, target))
    if target.classes:
        arms.append(ScoreArm("logistic scores", _learners.logistic, base, folds, target))
    if target.classes <= MANY_CLASSES:
        arms.append(
            ScoreArm(
                "boosted tree scores", _learners.boosted(target.classes, seed), base, folds, target
            )
        )
    else:
        arms.append(ScoreArm("forest scores", _learners.forest(seed), base, folds, target))
    arms.append(LeafArm("tree leaves", _learners.leaves(target.classes, seed), base, folds, target))
    return arms


def _checked(own: Representation, inputs: Inputs) -> Any:
    """Return the representation as a function of positions of rows, whose answers are checked."""

    def embed(rows: np.ndarray) -> np.ndarray:
        part = inputs.rows.iloc[rows] if inputs.kind == "table" else inputs.rows[rows]
        matrix = np.asarray(own.embed(part), dtype=np.float64)
        if matrix.ndim != 2 or len(matrix) != len(rows) or not np.isfinite(matrix).all():
            raise InvalidInput(
                f"It returned an array of shape {matrix.shape} for {len(rows)} rows, or numbers that are not finite.",
                where=f"representation {own.name}",
                remedy="Return finite numbers, (rows, dimensions).",
            )
        return matrix

    return embed


def _constant(target: Target, folds: Sequence[Fold]) -> np.ndarray:
    """Return the losses of guessing the commonest class, or the mean, of each fold's training rows."""
    parts = []
    for fold in folds:
        known, actual = target.values[fold.train], target.values[fold.test]
        if target.classes:
            parts.append((actual != np.bincount(known).argmax()).astype(float))
        else:
            parts.append((actual - known.mean()) ** 2)
    return np.concatenate(parts)


def _tried(track: Track, classes: int) -> Tried:
    last = track.last
    way = last.ways[int(last.losses.mean(axis=1).argmin())]
    points = []
    for reading in track.readings:
        one = float(reading.losses[reading.ways.index(1)].mean())
        points.append((reading.count, float(reading.losses.mean(axis=1).min()), one))
    return Tried(
        name=track.arm.name,
        rows=last.count,
        way="own predictions" if way == DIRECT else f"{way} nearest",
        error=track.best,
        lower=least_possible(track, classes),
        dropped=track.dropped,
        curve=tuple(points),
    )


def _work(tracks: list[Track]) -> int:
    return sum(reading.count for track in tracks for reading in track.readings)


def _notes(inputs: Inputs) -> tuple[str, ...]:
    if not inputs.duplicates:
        return ()
    share = f"{inputs.duplicates:.1%} of the rows repeat the inputs of another"
    if (np.diff(np.sort(inputs.groups)) == 0).any():
        return (f"{share}; they are kept on the same side, so that none is its own neighbour.",)
    return (f"{share}; that many are taken for the nature of the data, not for copies.",)
