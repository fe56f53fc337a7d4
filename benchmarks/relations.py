"""What a relation costs: memory beside Arrow alone, keys, steps, and the work around operators.

- memory of a table with a few cells in doubt, beside the same table in Arrow;
- the key of a frame, first and from its cache;
- appending a step, and evaluating a chain of steps that do nothing, a node;
- the sum of real cells in doubt;
- what feasibility, cleaning plan and labelling order take anew, after one cell was repaired, and
  after batches of repaired cells and of new labels.

Times are seconds of this process's processor: who else uses the machine does not count.

    python benchmarks/relations.py
    python benchmarks/relations.py --short
"""

import copy
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options, write_table
from easeml.lineage import StagedRelation, operator
from easeml.lineage.deltas import FOLLOWING
from easeml.relation import Relation, RowCandidates, cell_candidates

SEED = 7


@operator(name="nothing")
def nothing(relation: Relation, number: int = 0) -> Relation:
    """Return what came in."""
    return relation


def frame_of(rows: int, columns: int) -> pd.DataFrame:
    rng = np.random.default_rng(SEED)
    return pd.DataFrame(
        rng.normal(size=(rows, columns)), columns=[f"c{number}" for number in range(columns)]
    )


def seconds(work: Callable[[], object]) -> float:
    """Return what some work takes, in seconds of the processor."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def with_doubts(relation: Relation, count: int) -> Relation:
    """Give ``count`` cells of the first column two candidates each."""
    rng = np.random.default_rng(SEED)
    rows = rng.choice(len(relation), count, replace=False)
    values = rng.normal(size=(count, 2))
    told = []
    for row, (low, high) in zip(rows.tolist(), values.tolist(), strict=True):
        told.append(cell_candidates(row, "c0", {low: 0.5, high: 0.5}))
    return relation.with_all(told)


def bytes_of(relation: Relation) -> int:
    """Bytes of the certain cells and of all arrays of candidates."""
    content = relation.content
    blocks = content.blocks
    arrays = (
        blocks.row,
        blocks.variable,
        blocks.first,
        blocks.weight,
        blocks.present,
        blocks.source,
    )
    total = content.table.nbytes + sum(array.nbytes for array in arrays)
    for cells in blocks.cells.values():
        total += cells.place.nbytes + cells.values.nbytes
    return total


def chain(relation: StagedRelation, nodes: int) -> StagedRelation:
    for number in range(nodes):
        relation = nothing(relation, number)
    return relation


def half_labelled(rows: int, more: int = 0) -> StagedRelation:
    """Return rows with cells in doubt: eight tenths to train, up to 1,000 to validate, a pool.

    ``more``: rows at the end of the pool that have their labels, and are train rows.
    """
    frame = frame_of(rows, 8)
    noise = np.random.default_rng(SEED + 1).normal(size=rows) / 2
    labels = np.where(frame["c0"] + frame["c1"] / 2 + noise > 0, "high", "low")
    roles = np.full(rows, "pool", dtype=object)
    roles[: rows * 8 // 10] = "train"
    roles[rows * 8 // 10 :][: min(1000, rows // 10)] = "validation"
    roles[rows - more :] = "train"
    frame["level"] = np.where(roles == "pool", None, labels)
    relation = StagedRelation.from_frame(frame, target="level", roles=list(roles))
    return relation.with_all([doubt(row) for row in doubted(rows)]).eval()


def doubted(rows: int) -> list[int]:
    """Return train rows with a cell in doubt: 1 % of all, and two at least."""
    return list(range(5, 5 + 2 * max(2, rows // 100), 2))


def doubt(row: int) -> RowCandidates:
    return cell_candidates(row, "c0", {0.1: 0.5, 2.0: 0.5})


def mended(relation: StagedRelation, count: int) -> StagedRelation:
    """Return rows of which some doubts are settled."""
    rows = doubted(len(relation))[:count]
    return relation.with_all([cell_candidates(row, "c0", {2.0: 1.0}) for row in rows]).eval()


def labelled(relation: StagedRelation, count: int) -> StagedRelation:
    """Return rows of which the last ones got their labels, and are train rows now."""
    return half_labelled(len(relation), count)


ANALYSES = ("feasibility", "plan_cleaning", "label_next")


def repaired(rows: int) -> list[tuple[str, float, str, str]]:
    """Return what each analysis takes, and what it takes again after answers of people."""
    small = half_labelled(400)
    for name in ANALYSES:
        getattr(small, name)().eval()  # loads and compiles what is loaded and compiled once
        getattr(mended(small, 1), name)().eval()
    found = []
    for name in ANALYSES:
        found += followed(name, rows)
    return found


def followed(name: str, rows: int) -> list[tuple[str, float, str, str]]:
    """Return what one analysis takes anew, and after batches, each beside that."""
    relation = half_labelled(rows)
    anew = seconds(getattr(relation, name)().eval)
    found = [(f"{name}, {rows:,} rows", anew, "s", "")]
    kept = list(FOLLOWING._kept)
    for told, change in (("repaired cells", mended), ("new labels", labelled)):
        for count in (1, 10, 100, 1000):
            if count > rows // 100:
                continue
            FOLLOWING._kept[:] = copy.deepcopy(kept)  # each batch follows the first answer
            asked = getattr(change(relation, count), name)()
            answer: dict[str, Any] = {}
            again = seconds(lambda asked=asked, answer=answer: answer.update(asked.eval()))
            how = "" if "updated" in answer else " (anew)"
            most = f"{anew / 20:.3f}" if count == 1 and change is mended else ""
            found.append((f"{name}, {count} {told}{how}", again, "s", most))
            found.append((f"{name}, {count} {told}{how}, anew beside", anew / again, "times", ""))
    return found


def main() -> None:
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--doubts", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--repaired", type=int, default=100_000)
    options = read_options(parser, rows=2000, doubts=100, nodes=20, repaired=400)
    frame = frame_of(options.rows, 20)
    plain = Relation.from_frame(frame)
    doubtful = with_doubts(plain, options.doubts)
    rows: list[tuple[str, float, str, str]] = []

    share = bytes_of(doubtful) / plain.content.table.nbytes - 1
    rows.append((f"memory beyond Arrow, {options.doubts:,} doubts", share, "share", "0.1"))

    staged = StagedRelation(plain.content)
    rows.append(("key of the frame", seconds(lambda: staged.node.key), "s", "0.5"))
    rows.append(("the same key again", seconds(lambda: staged.node.key), "s", ""))

    small = StagedRelation.from_frame(frame_of(100, 2))
    long = chain(small, options.nodes)
    appended = seconds(lambda: chain(small, options.nodes)) / options.nodes
    rows.append(("append a step", 1000 * appended, "ms", "0.1"))
    evaluated = seconds(long.eval) / options.nodes
    rows.append(("evaluate a step that does nothing", 1000 * evaluated, "ms", "1"))

    cells = Relation.from_frame(frame_of(options.doubts, 1))
    cells = with_doubts(cells, options.doubts)
    rows.append(("sum of real cells in doubt", seconds(lambda: cells.sum("c0")), "s", "1"))

    rows += repaired(options.repaired)

    print(machine_line("numpy", "pandas", "pyarrow"))
    print(f"{options.rows:,} rows of 20 columns; chains of {options.nodes:,} steps")
    for name, value, unit, most in rows:
        print(f"{name:<56} {value:10.5f} {unit:<6} at most {most or '-'}")
    write_table(options.out / "costs.csv", ["what", "value", "unit", "at most"], rows)


if __name__ == "__main__":
    main()
