"""What a relation costs: memory beside Arrow alone, keys, steps, and the work around operators.

- memory of a table with a few cells in doubt, beside the same table in Arrow;
- the key of a frame, first and from its cache;
- appending a step, and evaluating a chain of steps that do nothing, a node;
- the sum of real cells in doubt.

    python benchmarks/relations.py
    python benchmarks/relations.py --short
"""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options, write_table
from easeml.lineage import StagedRelation, operator
from easeml.relation import Relation, cell_candidates

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
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


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


def main() -> None:
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--doubts", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=1000)
    options = read_options(parser, rows=2000, doubts=100, nodes=20)
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

    print(machine_line("numpy", "pandas", "pyarrow"))
    print(f"{options.rows:,} rows of 20 columns; chains of {options.nodes:,} steps")
    for name, value, unit, most in rows:
        print(f"{name:<44} {value:10.5f} {unit:<6} at most {most or '-'}")
    write_table(options.out / "costs.csv", ["what", "value", "unit", "at most"], rows)


if __name__ == "__main__":
    main()
