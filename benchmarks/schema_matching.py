"""How long matching takes where the matcher of the old prototype blew up, and on the public
examples.

Cases: a one singleton fits nothing; b all sizes have to be equal, one is not; c the only fitting
source comes first; d as a, with nodes of many instances; e as a, with fields of one node; f a
directed ring of nodes, one bound too wide; g identical singletons; ring a ring that matches; two
rings against one; distinct constants in opposite order; nested n nodes with n fields each, one
field fits nothing; nested equal the same with one size in all; hard n/2 sizes that each two nodes
share, a problem where a match is found by search.

The prototype's times are those published for CPython 3.11 on one core of an AMD EPYC; its time
grows by about a factor n with each further node, so beyond n = 10 it has none. Ours are times of
the processor, which other work on the machine disturbs little. Prints a table, and writes it as CSV
with ``--out``.
"""

import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.schema import Constraints, Field, Link, Node, Schema, Undecided, match, why_not

Pair = tuple[Schema, Schema]
PROTOTYPE = {
    "a": 284.2,
    "b": 180.0,
    "c": 5.15,
    "d": 207.5,
    "e": 41.5,
    "f": 32.8,
    "g": 0.00006,
}  # seconds at n = 10
PUBLIC = Path(__file__).resolve().parents[2] / "shared" / "conformance"


def single(name: str, *dim: int | str) -> Node:
    """A tensor."""
    return Node(name, "tensor", dim=dim)


def group(name: str, sizes: Sequence[int | str], *links: Link) -> Node:
    """A non-singleton with a tensor of each of these sizes."""
    return Node(
        name,
        fields=tuple(Field(f"f{i}", "tensor", dim=(size,)) for i, size in enumerate(sizes)),
        links=links,
    )


def schema(*nodes: Node, **flags: bool) -> Schema:
    """A schema of these nodes."""
    return Schema({node.name: node for node in nodes}, constraints=Constraints(**flags))


def ring(prefix: str, sizes: list[int], last: int = 1) -> Schema:
    """Directed rings of these sizes; the last link of each has the upper bound ``last``."""
    nodes = []
    for number, size in enumerate(sizes):
        for i in range(size):
            link = Link(f"{prefix}{number}_{(i + 1) % size}", 0, last if i == size - 1 else 1)
            nodes.append(group(f"{prefix}{number}_{i}", [16], link))
    return schema(*nodes, cyclic=True)


def several(n: int, make: Callable[[int], Node]) -> list[Node]:
    """``n`` nodes."""
    return [make(i) for i in range(n)]


def halves(n: int, size: Callable[[int, int], int | str]) -> Schema:
    """Two nodes for each of n/2 numbers, told apart by a second dim."""
    return schema(*(single(f"n{i}_{k}", size(i, k), k) for i in range(n // 2) for k in (1, 2)))


CASES: dict[str, Callable[[int], Pair]] = {
    "a": lambda n: (
        schema(*several(n, lambda i: single(f"d{i}", 16))),
        schema(*several(n - 1, lambda i: single(f"s{i}", 16)), single("odd", 17)),
    ),
    "b": lambda n: (
        schema(*several(n, lambda i: single(f"d{i}", "a"))),
        schema(*several(n - 1, lambda i: single(f"s{i}", 16)), single("odd", 32)),
    ),
    "c": lambda n: (
        schema(*several(n - 1, lambda i: single(f"d{i}", f"a{i}")), single("last", 17)),
        schema(single("first", 17), *several(n - 1, lambda i: single(f"s{i}", 16))),
    ),
    "d": lambda n: (
        schema(*several(n, lambda i: group(f"d{i}", [16]))),
        schema(*several(n - 1, lambda i: group(f"s{i}", [16])), group("odd", [17])),
    ),
    "e": lambda n: (schema(group("d", [16] * n)), schema(group("s", [16] * (n - 1) + [17]))),
    "f": lambda n: (ring("d", [n]), ring("s", [n], last=2)),
    "g": lambda n: (
        schema(*several(n, lambda i: single(f"d{i}", 16))),
        schema(*several(n, lambda i: single(f"s{i}", 16))),
    ),
    "ring": lambda n: (ring("d", [n]), ring("s", [n])),
    "two rings": lambda n: (ring("d", [n]), ring("s", [n // 2, n - n // 2])),
    "distinct": lambda n: (
        schema(*several(n, lambda i: single(f"d{i}", i + 1))),
        schema(*several(n, lambda i: single(f"s{i}", n - i))),
    ),
    "hard": lambda n: (halves(n, lambda i, _: f"v{i}"), halves(n, lambda i, _: i + 1)),
}
NESTED: dict[str, Callable[[int], Pair]] = {
    "nested": lambda n: (
        schema(*several(n, lambda i: group(f"d{i}", [16] * n))),
        schema(
            *several(n - 1, lambda i: group(f"s{i}", [16] * n)), group("odd", [16] * (n - 1) + [17])
        ),
    ),
    "nested equal": lambda n: (
        schema(*several(n, lambda i: group(f"d{i}", ["a"] * n))),
        schema(
            *several(n - 1, lambda i: group(f"s{i}", [16] * n)), group("odd", [16] * (n - 1) + [17])
        ),
    ),
}


def timed(pair: Pair, repetitions: int) -> tuple[str, float, float, float]:
    """The answer, median and largest milliseconds of a match, and milliseconds of the reason where
    there is none.
    """
    taken, answer = [], ""
    for _ in range(repetitions):
        begin = time.process_time()
        try:
            answer = "no match" if match(*pair) is None else "match"
        except Undecided:
            answer = "undecided"
        taken.append((time.process_time() - begin) * 1e3)
    begin = time.process_time()
    if answer == "no match":
        why_not(*pair)
    return answer, float(np.median(taken)), max(taken), (time.process_time() - begin) * 1e3


def public_examples(repetitions: int) -> list[tuple[str, float, float]]:
    """Medians of seconds for all public examples of a kind together, beside the prototype's for its
    own number.
    """
    index = json.loads((PUBLIC / "index.json").read_text("utf-8"))["examples"]

    def documents(kinds: tuple[str, ...], *keys: str) -> list[list[dict]]:
        paths = [[PUBLIC / e["files"][key] for key in keys] for e in index if e["kind"] in kinds]
        return [[json.loads(path.read_text("utf-8")) for path in row] for row in paths]

    pairs = documents(("match-positive", "match-negative"), "destination", "source")
    loaded = [(Schema.from_json(a), Schema.from_json(b)) for a, b in pairs]
    single_documents = documents(("validate-positive", "validate-negative"), "schema")

    def validate() -> None:
        for [document] in single_documents:
            try:
                Schema.from_json(document)
            except ValueError:
                continue

    work: list[tuple[str, Callable[[], object], float]] = [
        (
            f"match, {len(pairs)} pairs, loaded",
            lambda: [match(a, b) for a, b in loaded],
            0.00044 / 50,
        ),
        (
            f"load + match, {len(pairs)} pairs",
            lambda: [match(Schema.from_json(a), Schema.from_json(b)) for a, b in pairs],
            0.00173 / 50,
        ),
        (f"validate, {len(single_documents)} schemas", validate, 0.00099 / 105),
    ]
    rows = []
    for name, do, each in work:
        taken = []
        for _ in range(repetitions):
            begin = time.process_time()
            do()
            taken.append(time.process_time() - begin)
        count = len(single_documents) if "validate" in name else len(pairs)
        rows.append((name, float(np.median(taken)), each * count))
    return rows


def main() -> None:
    """Print the tables."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--nested", type=int, nargs="+", default=[5, 10, 50])
    parser.add_argument("--repetitions", type=int, default=7)
    options = read_options(parser, sizes=[10], nested=[5], repetitions=1)
    warnings.simplefilter("ignore")
    print(machine_line("numpy"))
    rows = []
    for cases, sizes in ((CASES, options.sizes), (NESTED, options.nested)):
        for name, make in cases.items():
            for n in sizes:
                published = PROTOTYPE.get(name, float("nan")) if n == 10 else float("nan")
                rows.append((name, n, *timed(make(n), options.repetitions), published * 1e3))
    head = ("case", "n", "answer", "median [ms]", "most [ms]", "reason [ms]", "prototype [ms]")
    print(f"{head[0]:<14}{head[1]:>6} {head[2]:<10}" + "".join(f"{name:>15}" for name in head[3:]))
    for name, n, answer, *numbers in rows:
        shown = "".join(
            f"{'-' if np.isnan(number) else f'{number:,.3f}':>15}" for number in numbers
        )
        print(f"{name:<14}{n:>6} {answer:<10}{shown}")
    if (PUBLIC / "index.json").exists():
        print("\npublic examples (prototype: its published time for each, times their number here)")
        for name, ours, theirs in public_examples(options.repetitions):
            print(f"  {name:<30}{ours * 1e3:>10.3f} ms {theirs * 1e3:>10.3f} ms")
    write_table(options.out / "cases.csv", head, rows)


if __name__ == "__main__":
    main()
