"""Planted faults: is the fault named first, and does the first remedy correct more than a random one?

A model of scikit-learn learns from a table in which a fault was planted (``debugging_cases``): wrong
labels in a region, a broken column, a group that is missing in training, or a changed law. The tool
``debug`` is asked. Named first: the first slice is where the fault is (Jaccard index of .4 at least;
of a broken column also a slice of which 70 % are broken rows), its first cause is the fault, and of
cells, the column is right. Nulls: mistakes are spread by chance over all rows; none may be named. As
a check, tables as they are, without a fault: which causes are named there.

Then the first remedy is followed: labels are corrected, cells repaired, rows added, the model learns
anew, and mistakes are counted on future rows, beside those without it. So is a random remedy: any of
those kinds, about as many rows drawn from all.

    python benchmarks/debugging.py --data DIR [--cases 25] [--nulls 100]

Thresholds were looked at on ``planes`` and ``adult``; other generators and tables are a check.
"""

import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import debugging_cases as cases
from common import arguments, machine_line, read_options, write_table
from debugging_cases import TARGET, Case, Model, Parts
from easeml.lifecycle.debugging import Debugged, Diagnosis, case_of, debug
from easeml.lifecycle.held_out import Predicted
from easeml.lifecycle.tool_answer import Remedy

_SEEDS = 1000  # of cases: others than those that thresholds were looked at on
_JACCARD = 0.4
_BROKEN = 0.7
_RANDOM = 3  # remedies drawn for each case
_KINDS = ("check-labels", "repair-cells", "collect", "retrain", "search")
_MINUTES = {"check-labels": 0.2, "repair-cells": 0.5, "collect": 0.2}
_ITEMS = 50  # rows that a random remedy is about, where the first one says no number
_SEARCH_SECONDS = 60.0


@dataclass(frozen=True)
class Followed:
    """Mistakes less on future rows, and the cost in device seconds."""

    corrected: float
    cost: float


def asked(seen: Parts, model: Model, *, with_production: bool) -> Debugged:
    """Ask the tool's core about a model."""
    inputs, answers = _divided(seen.validation)
    newer = None
    if with_production:
        later, truth = _divided(seen.production)
        newer = Predicted(later, truth, {"model": model.predict(later)})
    case = case_of(
        inputs,
        answers,
        model.predict(inputs),
        train=Predicted(*_divided(seen.train), {}),
        newer=newer,
        predict=model.predict,
    )
    return debug(case, permutations=399)


def is_named_first(found: Debugged, case: Case) -> bool:
    """Is the planted fault the first that is named?"""
    if not found.diagnoses:
        return False
    first = found.diagnoses[0]
    cause = first.causes[0]
    if cause.kind != case.fault or not _is_there(first, case):
        return False
    return case.fault != "cells" or case.column in cause.columns


def _is_there(one: Diagnosis, case: Case) -> bool:
    judged = one.here.judged
    true = case.true.production if judged.name == "production" else case.true.validation
    region = case.region(true.loc[judged.inputs.index])
    inside = one.here.slice.holds(judged.inputs)
    common = float((region & inside).sum())
    if common / (region | inside).sum() >= _JACCARD:
        return True
    return case.fault == "cells" and common / inside.sum() >= _BROKEN


def followed(remedy: Remedy, case: Case, model: Model, seed: int) -> Followed:
    """Follow the remedy that was named first, and count."""
    train, future = case.seen.train, case.seen.future
    kind = "boosting"
    if remedy.kind in ("check-labels", "repair-cells"):
        train = train.copy()
        for item in remedy.items:
            column = TARGET if remedy.kind == "check-labels" else item.column
            train.loc[item.row, column] = case.sound.loc[item.row, column]
    elif remedy.kind == "repair-source":
        future = case.true.future
    elif remedy.kind == "retrain":
        rows = case.seen.production
        train = pd.concat([train, rows[_slice(remedy).holds(rows)]])
    elif remedy.kind == "collect":
        train = _with_more(train, case, _slice(remedy).holds(case.true.production), seed, remedy)
    else:
        kind = "forest"
    return _counted(case, model, train, future, remedy.cost, seed, kind, remedy.kind == "search")


def random_remedy(remedy: Remedy, case: Case, model: Model, seed: int) -> Followed:
    """Follow a remedy of a kind drawn at random, about rows drawn at random, and count."""
    random = np.random.default_rng(seed)
    kind = str(random.choice(_KINDS))
    count = len(remedy.items) or _ITEMS
    train = case.seen.train.copy()
    cost = _SEARCH_SECONDS + 60 * 20.0 * _MINUTES.get(kind, 0.0) * count
    chosen = random.permutation(len(train))[:count]
    if kind == "check-labels":
        at = train.index[chosen]
        train.loc[at, TARGET] = case.sound.loc[at, TARGET]
    elif kind == "repair-cells":
        at = train.index[chosen]
        column = str(random.choice([name for name in train if name != TARGET]))
        train.loc[at, column] = case.sound.loc[at, column]
    elif kind in ("collect", "retrain"):
        rows = case.true.production if kind == "collect" else case.seen.production
        drawn = random.permutation(len(rows))[:count]
        train = pd.concat([train, rows.iloc[drawn]])
    other = ("boosting", "forest")[int(random.integers(2))]
    is_search = kind == "search"
    return _counted(case, model, train, case.seen.future, cost, seed, other, is_search)


def _with_more(
    train: pd.DataFrame, case: Case, inside: np.ndarray, seed: int, remedy: Remedy
) -> pd.DataFrame:
    """Return the train rows and as many labelled rows of the slice as were asked for, if there are."""
    wanted = round(remedy.human_minutes / _MINUTES["collect"])
    rows = case.true.production[inside]
    return pd.concat([train, rows.sample(min(wanted, len(rows)), random_state=seed)])


def _counted(
    case: Case,
    model: Model,
    train: pd.DataFrame,
    future: pd.DataFrame,
    cost: float,
    seed: int,
    kind: str,
    is_search: bool,
) -> Followed:
    """Count the mistakes less; a search keeps what is better on validation rows."""
    learned = Model(train, seed, kind if is_search else cases.kind_of(seed))
    if is_search:
        rows = case.seen.validation
        if learned.wrong(rows).sum() >= model.wrong(rows).sum():
            learned = model
    before = model.wrong(case.seen.future).sum()
    return Followed(float(before - learned.wrong(future).sum()), cost)


def _slice(remedy: Remedy):
    from easeml.lifecycle.debugging import Slice

    return Slice.from_json(remedy.conditions)


def _divided(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    return rows.drop(columns=TARGET), rows[TARGET]


def measure_faults(options) -> None:
    """Plant faults, ask, follow the first remedy and a random one; write a line a case."""
    tables = options.tables.split(",")
    lines = []
    named: dict[str, list[bool]] = defaultdict(list)
    first, other = [], []
    for fault in options.faults.split(","):
        turn = 0
        while len(named[fault]) < options.cases:
            table, seed = tables[turn % len(tables)], _SEEDS + turn
            turn += 1
            case = cases.planted(fault, table, options.data, seed)
            if case is None:
                continue
            model = cases.model_of(case, seed)
            began = time.monotonic()
            found = asked(case.seen, model, with_production=case.is_late or fault == "drift")
            seconds = time.monotonic() - began
            is_first = is_named_first(found, case)
            named[fault].append(is_first)
            told, remedy = "nothing", found.remedies[0] if found.remedies else None
            if found.diagnoses:
                one = found.diagnoses[0]
                told = f"{one.causes[0].kind}: {one.here}"
            cells = ["", "", "", "", ""]
            if remedy is not None:
                best = followed(remedy, case, model, seed)
                drawn = [random_remedy(remedy, case, model, 10 * seed + k) for k in range(_RANDOM)]
                first.append(best)
                other += drawn
                chance = float(np.mean([one.corrected for one in drawn]))
                cells = [remedy.kind, f"{remedy.corrected:.1f}", best.corrected, best.cost, chance]
            kept = "tuned on" if table in cases.TUNED_ON else "kept aside"
            line = [fault, table, kept, seed, case.told, is_first, told, *cells, f"{seconds:.1f}"]
            lines.append(line)
            print(*line, sep="; ", flush=True)
            _write(options.out / "faults.csv", lines)
    for fault, results in named.items():
        print(f"{fault}: named first in {sum(results)} of {len(results)}")
    every = [one for results in named.values() for one in results]
    aside = [line[5] for line in lines if line[2] == "kept aside"]
    print(f"all: {sum(every)} of {len(every)}; kept aside {sum(aside)} of {len(aside)}")
    print(
        f"corrected for the cost of an hour of a person: first remedy {_worth(first):.1f}, "
        f"random remedy {_worth(other):.1f}"
    )


def _worth(found: list[Followed]) -> float:
    cost = sum(one.cost for one in found)
    return sum(one.corrected for one in found) / max(cost, 1.0) * 3600 * 20


def _write(path: Path, lines: list[list]) -> None:
    columns = [
        *("fault", "table", "set", "seed", "planted", "named_first", "first_named", "remedy"),
        *("expected", "corrected", "cost", "random_corrected", "seconds"),
    ]
    write_table(path, columns, lines)


def measure_nulls(options) -> None:
    """Count how often a slice is named where mistakes are spread by chance, and without a fault."""
    tables = options.tables.split(",")
    lines, slices, faults = [], 0, 0
    for turn in range(options.nulls):
        table, seed = tables[turn % len(tables)], 2 * _SEEDS + turn
        with_production = turn % 2 == 0
        even, model = cases.without_fault(table, options.data, seed)
        found = asked(even, model, with_production=with_production)
        slices += bool(found.diagnoses)
        as_it_is = cases.parts_of(cases.rows_of(table, options.data, seed))
        plain = asked(as_it_is, model, with_production=with_production)
        causes = {str(one.causes[0].kind) for one in plain.diagnoses} - {"hard"}
        faults += bool(causes)
        lines.append([table, seed, len(found.diagnoses), len(plain.diagnoses), " ".join(causes)])
        columns = ["table", "seed", "named_at_random", "named_as_it_is", "causes_as_it_is"]
        write_table(options.out / "nulls.csv", columns, lines)
    print(f"spread by chance: something is named in {slices} of {options.nulls}")
    print(f"as it is, without a planted fault: a cause is named in {faults} of {options.nulls}")


def main() -> None:
    """Measure both."""
    warnings.filterwarnings("ignore")
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--cases", type=int, default=25, help="of each fault")
    parser.add_argument("--faults", default=",".join(cases.FAULTS), help="names, with commas")
    parser.add_argument("--nulls", type=int, default=100)
    every = ",".join((*cases.GENERATED, *cases.TABLES))
    parser.add_argument("--tables", default=every, help="names, with commas")
    two_faults = ",".join(list(cases.FAULTS)[:2])
    options = read_options(parser, cases=1, faults=two_faults, nulls=1, tables="planes")
    print(machine_line("numpy", "scikit-learn"))
    if options.cases:
        measure_faults(options)
    measure_nulls(options)


if __name__ == "__main__":
    main()
