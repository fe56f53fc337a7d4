"""What people should be asked about the rows of an application, by what an answer should bring.

Labels of the pool, labels that look wrong and doubtful cells are told in one unit: the squared
error that an answer is expected to take off predictions (``surrogate``; of numbers, as a share of
their variance). So they can stand in one order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.labeling import judge_answers
from easeml.lifecycle.questions import CELL, CHECK, LABEL
from easeml.lifecycle.work.stand_in import TAUGHT, Rows, StandIn, in_order, some_of

if TYPE_CHECKING:
    from easeml.relation import Relation

MOST_ITEMS = 100
"""Items of each kind that are proposed at once."""
LEAST_SUSPICION = 0.1
_LOOKED_AT = 20_000  # rows of the pool
_CELLS = 1_000  # doubtful cells
_IN_TURN = 1_000  # pool rows among which labels are chosen one after another


@dataclass(frozen=True)
class Proposal:
    """Something to ask about a cell of a row.

    ``told``: squared error that the answer should take off, reckoned alone; ``gain``: the same as
    experience has it (``calibration``). ``given``: the value as it is, None
    where it is missing. ``options``: what may be right, with probabilities, the likeliest first.
    ``source``: what found it.
    """

    kind: str
    row: Any
    column: str
    told: float
    given: Any = None
    options: tuple[tuple[Any, float], ...] = ()
    source: str = ""
    gain: float = 0.0


def propose(
    rows: Rows,
    *,
    doubts: Relation | None = None,
    pool: Unseen | None = None,
    train: Unseen | None = None,
    suspicion: Column | None = None,
    known: frozenset[tuple[Any, str]] = frozenset(),
    most: int = MOST_ITEMS,
    seed: int = 0,
    stand_in: StandIn | None = None,
) -> list[Proposal]:
    """Return what to ask, at most so many of each kind, the most promising of each kind first.

    Args:
        rows: of the application.
        doubts: candidates for cells of train rows; None: cells are not asked about.
        pool: what the model that serves says of the pool; None: what the stand-in says.
        train: what models say of the train rows that they have not seen; None: what the stand-in
            says of up to 5,000 of them.
        suspicion: by row, the probability that a label is wrong; with ``train``.
        known: rows and columns that people have answered.
        most: items of each kind.
        seed: of samples of rows, where there are too many.
        stand_in: of these rows and this seed, where there is one already.
    """
    if len(rows.train) < 2:
        return []
    if stand_in is None:
        stand_in = StandIn(rows, seed)
    found = _labels(stand_in, rows, pool, most, seed)
    if train is None or suspicion is None:
        train, suspicion = _suspicion(stand_in, rows, seed)
    found += _checks(stand_in, rows, train, suspicion, known, most)
    if doubts is not None:
        found += _cells(stand_in, rows, doubts, known, most)
    return found


def _labels(
    stand_in: StandIn, rows: Rows, pool: Unseen | None, most: int, seed: int
) -> list[Proposal]:
    if not len(rows.pool):
        return []
    frame = some_of(rows.pool, _LOOKED_AT, seed)
    X = stand_in.encoded(frame)
    chances = None
    if stand_in.classes:
        chances = stand_in.model.chances(X)
        if pool is not None and pool.chances is not None and pool.classes is not None:
            places = rows.pool.index.get_indexer(frame.index)
            chances = in_order(pool.chances[places], pool.classes, stand_in.classes)
        variances = 1.0 - (chances**2).sum(axis=1)
    else:
        variances = np.full(len(X), stand_in.model.error)
    gains = stand_in.model.of_answers(X, variances)
    best = np.argsort(-gains, kind="stable")[:_IN_TURN]
    chosen = stand_in.model.of_answers_in_turn(X[best], variances[best], most)
    found = []
    for number, gain in chosen:
        place = int(best[number])
        options = () if chances is None else _ranked(stand_in.classes, chances[place])
        item = Proposal(LABEL, frame.index[place], stand_in.column, gain, None, options, "pool")
        found.append(item)
    return found


def _suspicion(stand_in: StandIn, rows: Rows, seed: int) -> tuple[Unseen, Column]:
    """Return what the stand-in says of train rows it has not seen, and how likely each is wrong."""
    some = some_of(rows.train, TAUGHT, seed)
    answers = rows.answers.loc[some.index]
    unseen = stand_in.unseen(stand_in.encoded(some), answers)
    suspicion = pd.Series(0.0, index=rows.train.index)
    suspicion.loc[some.index] = np.nan_to_num(judge_answers(answers, unseen).wrong)
    values = pd.Series(None, index=rows.train.index, dtype=object)
    values.loc[some.index] = unseen.values
    return Unseen(values.to_numpy()), suspicion


def _checks(
    stand_in: StandIn,
    rows: Rows,
    train: Unseen,
    suspicion: Column,
    known: frozenset[tuple[Any, str]],
    most: int,
) -> list[Proposal]:
    """Return labels of train rows that may be wrong."""
    likely = suspicion[suspicion >= LEAST_SUSPICION]
    asked = [row for row in likely.index if (row, stand_in.column) not in known]
    likely = likely.loc[asked]
    if not len(likely):
        return []
    places = rows.train.index.get_indexer(likely.index)
    given = rows.answers.iloc[places]
    suggested = np.asarray(train.values)[places]
    X = stand_in.encoded(rows.train.iloc[places])
    apart = stand_in.targets(pd.Series(suggested)) - stand_in.targets(given)
    distances = likely.to_numpy() * (apart**2).sum(axis=1)
    gains = stand_in.model.of_corrections(X, distances)
    found = []
    for place in np.argsort(-gains, kind="stable")[:most].tolist():
        wrong = float(likely.iloc[place])
        options = ((suggested[place], wrong), (given.iloc[place], 1.0 - wrong))
        item = Proposal(
            CHECK,
            likely.index[place],
            stand_in.column,
            float(gains[place]),
            given.iloc[place],
            options,
            "label-errors",
        )
        found.append(item)
    return [item for item in found if item.told > 0]


def _cells(
    stand_in: StandIn,
    rows: Rows,
    doubts: Relation,
    known: frozenset[tuple[Any, str]],
    most: int,
) -> list[Proposal]:
    """Return doubtful cells of train rows."""
    told = doubts.candidates()
    told = told[told["column"].isin(stand_in.columns) & told["row"].isin(rows.train.index)]
    asked = [pair not in known for pair in zip(told["row"], told["column"], strict=True)]
    if not any(asked):
        return []
    told = _most_doubtful(told[np.array(asked, bool)]).reset_index(drop=True)
    told["given"] = _values_at(rows.train, told)
    others = told[~_same(told["value"], told["given"])].reset_index(drop=True)
    if others.empty:
        return []
    stood = rows.train.loc[others["row"]]
    X, instead = map(stand_in.encoded, (stood, _with_values(stood, others)))
    Y = stand_in.targets(rows.answers.loc[others["row"]])
    others["gain"] = others["weight"] * stand_in.model.of_cells(X, Y, instead)
    gains = others.groupby("block", sort=False)["gain"].sum().nlargest(most)
    blocks = dict(list(told[told["block"].isin(gains.index)].groupby("block", sort=False)))
    found = []
    for block, gain in gains.items():
        lines = blocks[block].sort_values("weight", ascending=False, kind="stable")
        first = lines.iloc[0]
        options = tuple(zip(lines["value"], lines["weight"].astype(float), strict=True))
        found.append(
            Proposal(
                CELL,
                first["row"],
                first["column"],
                float(gain),
                first["given"],
                options,
                str(first["tool"]),
            )
        )
    return found


def _most_doubtful(told: Frame) -> Frame:
    """Return the candidates of the cells whose likeliest candidate is least likely."""
    surest = told.groupby("block", sort=False)["weight"].max()
    return told[told["block"].isin(surest.nsmallest(_CELLS).index)]


def _values_at(frame: Frame, told: Frame) -> Column:
    """Return the cells (n,) of a frame at rows and columns."""
    found = pd.Series(None, index=told.index, dtype=object)
    for column, lines in told.groupby("column", sort=False):
        values = frame[column].astype(object)
        found.loc[lines.index] = values.where(values.notna(), None).loc[lines["row"]].to_numpy()
    return found


def _with_values(frame: Frame, told: Frame) -> Frame:
    """Return the rows (n, columns), each with another value in one cell."""
    made = frame.reset_index(drop=True)
    for column, lines in told.groupby("column", sort=False):
        changed = made[column].astype(object)
        changed.loc[lines.index] = lines["value"].to_numpy()
        kind = frame[column].dtype
        made[column] = changed.astype(kind)
    return made


def _same(values: Column, others: Column) -> np.ndarray:
    return np.array([one == other for one, other in zip(values, others, strict=True)], bool)


def _ranked(classes: list[str], chances: np.ndarray) -> tuple[tuple[str, float], ...]:
    order = chances.argsort(kind="stable")[::-1]
    return tuple((classes[place], float(chances[place])) for place in order.tolist())
