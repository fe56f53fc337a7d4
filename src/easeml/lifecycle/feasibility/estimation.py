"""The study: representations and patterns race over growing training sets."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility import learners
from easeml.lifecycle.feasibility.answer import (
    DRAWS,
    Sides,
    forecasts,
    hidden_error,
    judge,
    more_examples,
    weigh,
)
from easeml.lifecycle.feasibility.arms import Target
from easeml.lifecycle.feasibility.competitors import Competitors, enter
from easeml.lifecycle.feasibility.folds import Fold, make_folds, stage_sizes
from easeml.lifecycle.feasibility.inputs import Inputs, Task, check_inputs, check_target
from easeml.lifecycle.feasibility.noise import label_noise
from easeml.lifecycle.feasibility.pairs import pair_floors
from easeml.lifecycle.feasibility.products import say_more_together
from easeml.lifecycle.feasibility.race import Track, race
from easeml.lifecycle.feasibility.representations import Representation
from easeml.lifecycle.feasibility.result import MORE_TOGETHER, NOTHING_FOUND, BayesError
from easeml.lifecycle.feasibility.sampling import MOST_ROWS, among, drawn_rows, rows_at
from easeml.lifecycle.feasibility.told import assumptions, notes, tried
from easeml.lifecycle.feasibility.unseen import rows_with_rare_values
from easeml.lifecycle.result import Progress, listener

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

_MOST = 1.0  # that an error can be: of a regression, always guessing the mean reaches it


@dataclass(frozen=True)
class _Asked:
    """What was asked, checked. ``names`` of classes; ``variance`` of a target of numbers; ``there``:
    rows that were given, of which ``inputs`` may be a draw.
    """

    inputs: Inputs
    target: Target
    names: tuple[str, ...]
    variance: float
    goal: float | None
    confidence: float
    until_decided: bool
    seed: int
    there: int = 0


@dataclass(frozen=True)
class _Course:
    """What stays the same at every size. ``constant``: losses of always guessing the same.

    ``rare``: evaluated rows with a value that training rows hardly hold.
    """

    competitors: Competitors
    folds: Sequence[Fold]
    sizes: Sequence[int]
    constant: np.ndarray
    rare: np.ndarray

    @property
    def evaluated(self) -> int:
        return len(self.constant)


def study(
    table: pd.DataFrame,
    target: str,
    goal: float | None = None,
    *,
    task: Task | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> BayesError:
    """Say whether a goal can be reached with a table: ``bayes_error`` of one of its columns.

    ``target`` names the column to predict, wherever it stands; rows without it are left out, with a
    note. ``goal`` is an accuracy or R2. All other columns are inputs.

    Raises:
        InvalidInput: if there is no such column, and as ``bayes_error`` does.
    """
    if target not in table.columns:
        raise InvalidInput(
            f"There is no column {target}.",
            where="target",
            remedy=f"Name one of {', '.join(map(str, table.columns))}.",
        )
    answered = table[target].notna().to_numpy(dtype=bool)
    known = table.loc[answered]
    result = bayes_error(
        known.drop(columns=target),
        known[target],
        goal=goal,
        task=task,
        confidence=confidence,
        seed=seed,
        progress=progress,
    )
    if answered.all():
        return result
    left_out = f"{int((~answered).sum())} rows without {target} were left out."
    return replace(result, notes=(*result.notes, left_out))


def bayes_error(
    X: Any,
    y: ArrayLike,
    *,
    goal: float | None = None,
    task: Task | None = None,
    representations: Sequence[Representation] = (),
    confidence: float = 0.95,
    halving: bool = True,
    until_decided: bool = False,
    most_rows: int = MOST_ROWS,
    seed: int = 0,
    progress: Progress | None = None,
) -> BayesError:
    """Estimate the least error that any model can reach on rows like these, from both sides.

    Args:
        X: a frame, numbers (rows, columns; NaN is missing), texts (rows,), or images (rows, height,
            width[, channels]).
        y: (rows,) classes, or numbers; without ``task``, numbers that are not whole or have many
            values are regressed.
        goal: the wanted accuracy, or R2 for a regression; at most 1. Without it there is no
            verdict.
        task: ``classification`` or ``regression``.
        representations: ``Representation`` of your own, as from ``pretrained``, beside those that
            come with easeml.
        confidence: of the bounds together, and of the verdict, in (0, 1).
        halving: drop representations that fall behind; without, all read all rows.
        until_decided: stop at the first size that decides the verdict (the chance of error is split
            over the sizes).
        most_rows: of more than that, so many are looked at, drawn at random.
        seed: of that draw, of the folds, of random features, and of learners.
        progress: is called with the share of the work that is done, in [0, 1].

    Raises:
        InvalidInput: for inputs that do not fit each other, too few rows, or one class only.
    """
    answers = answers_by_size(
        X,
        y,
        goal=goal,
        task=task,
        representations=representations,
        confidence=confidence,
        halving=halving,
        until_decided=until_decided,
        most_rows=most_rows,
        seed=seed,
        progress=progress,
    )
    return deque(answers, maxlen=1)[0]


def answers_by_size(
    X: Any,
    y: ArrayLike,
    *,
    goal: float | None = None,
    task: Task | None = None,
    representations: Sequence[Representation] = (),
    confidence: float = 0.95,
    halving: bool = True,
    until_decided: bool = False,
    most_rows: int = MOST_ROWS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[BayesError]:
    """Yield an answer after every size of the training set, each better than the one before.

    The arguments are those of ``bayes_error``.
    """
    there = np.size(y)
    drawn = drawn_rows(there, most_rows, seed)
    if drawn is not None and np.shape(X)[:1] == (there,):  # or it is refused below
        X, y = rows_at(X, drawn), rows_at(y, drawn)
        representations = [among(drawn, one) for one in representations]
    asked = _check(X, y, goal, task, confidence, until_decided, seed)
    asked = replace(asked, there=there)
    threads = 1 if len(asked.inputs) < learners.ONE_THREAD else None
    with threadpool_limits(threads):
        course = _prepare(asked, representations)
    runs = race(course.competitors.arms, course.sizes, asked.target.classes, halving)
    tell = listener(progress)
    for number in range(len(course.sizes)):
        with threadpool_limits(threads):
            tracks = next(runs)
        final = number + 1 == len(course.sizes)
        answer = _answer(asked, course, tracks, final)
        done = sum(course.sizes[: number + 1]) / sum(course.sizes)
        stop = until_decided and _decided(answer)
        yield answer
        tell(1.0 if stop else done)
        if stop:
            return


def _check(
    X: Any,
    y: ArrayLike,
    goal: float | None,
    task: Task | None,
    confidence: float,
    until_decided: bool,
    seed: int,
) -> _Asked:
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
    return _Asked(inputs, target, names, variance, goal, confidence, until_decided, seed)


def _prepare(asked: _Asked, extra: Sequence[Representation]) -> _Course:
    inputs = asked.inputs
    target = asked.target
    strata = target.values if target.classes else np.zeros(len(inputs), dtype=np.int64)
    folds = make_folds(strata, inputs.groups, np.random.default_rng(asked.seed))
    fewest = min(len(fold.train) for fold in folds)
    fewest_tested = min(len(fold.test) for fold in folds)
    if fewest < 2 or not fewest_tested:
        raise InvalidInput(
            "Nearly all rows are copies of each other.",
            where="X",
            remedy="Give more distinct rows.",
        )
    competitors = enter(inputs, target, folds, extra, asked.seed)
    return _Course(
        competitors=competitors,
        folds=folds,
        sizes=stage_sizes(fewest, target.classes),
        constant=_constant(target, folds),
        rare=rows_with_rare_values(competitors.patterns.columns, target, folds),
    )


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


def _answer(asked: _Asked, course: _Course, tracks: list[Track], final: bool) -> BayesError:
    classes = asked.target.classes
    rows = len(asked.inputs)
    count = course.sizes[-1]
    hidden = hidden_error(
        float(course.constant.mean()), course.competitors.patterns.tried(count), count, classes
    )
    pairs = _pairs(asked, course) if final and classes else None
    sides = weigh(tracks, course.constant, course.rare, hidden, asked.seed, pairs)
    split = len(course.sizes) if asked.until_decided else 1
    confidence = 1 - (1 - asked.confidence) / split
    tail = (1 + confidence) / 2
    answer = BayesError(
        task="classification" if classes else "regression",
        classes=asked.names,
        rows=rows,
        evaluated=course.evaluated,
        lower=min(_MOST, sides.lower(tail)),
        estimate=min(_MOST, sides.estimate(tail)),
        upper=min(_MOST, sides.upper(tail)),
        reached=sides.least_reached,
        baseline=float(course.constant.mean()),
        noise_variance=None if classes else sides.estimate(tail) * asked.variance,
        confidence=asked.confidence,
        representation=sides.track.arm.name,
        goal=asked.goal,
        verdict=None,
        risk=None,
        more_examples=None,
        next_verdict=None,
        forecasts=forecasts(sides, rows),
        noise=None,
        tried=tuple(tried(track, classes) for track in tracks),
        work=_work(tracks) / (len(tracks) * sum(course.sizes)),
        final=final,
        assumes=assumptions(course.competitors, count),
        notes=notes(asked.inputs, asked.there),
        there=asked.there,
    )
    if classes:
        answer = replace(
            answer, noise=label_noise(sides.sure, answer.estimate, asked.goal, classes, rows)
        )
    may_hide = not course.competitors.patterns.are_all_tried(count)
    if may_hide and answer.upper >= answer.baseline:
        answer = replace(answer, notes=(*answer.notes, NOTHING_FOUND))
    if final and classes and _say_more_together(asked, course):
        answer = replace(answer, lower=0.0, notes=(*answer.notes, MORE_TOGETHER))
    if asked.goal is None:
        return answer
    return _judged(answer, sides, asked.goal, confidence, split)


def _pairs(asked: _Asked, course: _Course) -> np.ndarray | None:
    """Return bounds by rows that share a value, where one column's values decide alone."""
    cut = course.competitors.searcher.found_alone
    if cut is None:
        return None
    rng = np.random.default_rng(asked.seed)
    return pair_floors(cut.codes, asked.target.values, asked.target.classes, DRAWS, rng)


def _say_more_together(asked: _Asked, course: _Course) -> bool:
    columns = course.competitors.patterns.columns
    rng = np.random.default_rng(asked.seed)
    return say_more_together(columns, asked.target.values, asked.target.classes, rng)


def _judged(
    answer: BayesError, sides: Sides, goal: float, confidence: float, split: int
) -> BayesError:
    """Return the answer with a verdict, its risk, and what more rows would make of it."""
    verdict, risk = judge(sides, goal, confidence)
    # "unrealistic" is said at the end only, and never while a pattern may hide
    may_hide = NOTHING_FOUND in answer.notes or MORE_TOGETHER in answer.notes
    is_early = may_hide or not answer.final
    if verdict == "unrealistic" and is_early:
        verdict, risk = "cannot tell", None
    if risk is not None:
        return replace(answer, verdict=verdict, risk=min(1.0, risk * split))
    answer = replace(answer, verdict=verdict)
    change = more_examples(sides, goal, confidence, answer.rows)
    if change is None:
        return answer
    rows, next_verdict = change
    if may_hide and next_verdict == "unrealistic":
        return answer
    return replace(answer, more_examples=rows, next_verdict=next_verdict)


def _decided(answer: BayesError) -> bool:
    return answer.verdict in ("realistic", "unrealistic")


def _work(tracks: list[Track]) -> int:
    """Return how many training rows all competitors have read together."""
    return sum(track.rows_read for track in tracks)
