"""The lives of applications: how often one of 50 promotions is what its condition forbids.

    python benchmarks/application_lives.py [--lives 1000] [--short]

An application tests 50 models one after another, each against the one that serves, on test sets
that wear out after 10 and are renewed; then the world has drifted, and there are other mistakes to
mend. A model changes a tenth of all predictions. It may be better by exactly what the condition
does not allow (its true gain lies on the boundary, where errors are likeliest), better by three
tolerances more, or worse. What passes serves, and the next model is compared with it.

Routes differ in who labels what, and in what the next model follows from:

* ``gate``: all test rows are labelled, as the service's gate demands. Regions of the input that
  failed are left alone, those that passed are tried again.
* ``asked``: nothing is labelled; people label what the test asks for.
* ``margin``, ``disagreement``, ``time``: 500 rows are labelled beforehand: the hardest, those on which
  earlier models disagreed, or the oldest.
* ``fitted``: as ``asked``, and each model is fitted to all test labels that its developer has seen.
* ``fitted to a gate``: as ``gate``, but the developer has seen the test labels, which nobody may.
  The promise is void there; the line shows that this simulation can find a broken one.

``wrong lives``: share of lives with a forbidden promotion, and its upper 95 % limit; the promise is
at most ``delta``. ``gains``: true gains that passed. ``labels``: of a life, at the median, and as a
share of the published plan of fixed size (``optimised``) for as many tests.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.ci import (
    Examples,
    Ledger,
    clopper_pearson,
    open_ledger,
    plan,
    read_config,
)
from easeml.lifecycle.gates import open_gate

TESTS, STEPS = 50, 10
SETS = TESTS // STEPS
DELTA = 0.1  # of a whole life; each test set has its share
CHANGED = 0.1  # share of the rows that a model changes
CONFIG = read_config(
    {
        "condition": "n - o > 0.02 +/- 0.02",
        "reliability": 1 - DELTA / SETS,
        "adaptivity": "full",
        "steps": STEPS,
        "difference": 1.2 * CHANGED,
    }
)
CELLS = 400
"""Regions of the input, equally likely; a model changes the predictions in a tenth of them."""
OF_A_MODEL = round(CHANGED * CELLS)
WRONG = {"boundary": 0.6, "gain": 0.9, "loss": 0.05}
"""How often the served model is wrong in the regions that a model of each kind changes."""
REGIONS = {"boundary": 120, "gain": 80, "loss": 200}
KINDS = {"boundary": 0.6, "gain": 0.25, "loss": 0.15}
"""How often a model of each kind is tested."""
FORBIDDEN = ("boundary", "loss")
LABELLED_BEFORE = 500  # rows of a test set
HEAD = ["route", "wrong lives", "at most", "delta", "gains", "labels", "of published"]


@dataclass(frozen=True)
class Route:
    """How rows come to be labelled, and what the next model follows from."""

    before: str  # which rows are labelled when a test set is opened
    fitted: bool = False  # to the labels that its developer has seen


ROUTES = {
    "gate": Route("all"),
    "asked": Route("nothing"),
    "margin": Route("margin"),
    "disagreement": Route("disagreement"),
    "time": Route("time"),
    "fitted": Route("nothing", fitted=True),
    "fitted to a gate": Route("all", fitted=True),
}


@dataclass
class TestSet:
    """Rows (N,) drawn from the world: their region, and whether the served model is right.

    ``kind`` and ``belief`` are of each region: what a model that changes it is, and what the
    developer thinks of changing it.
    """

    cell: np.ndarray
    right: np.ndarray
    known: np.ndarray
    kind: np.ndarray
    belief: np.ndarray = field(default_factory=lambda: np.zeros(CELLS))

    def regions(self, kind: str) -> np.ndarray:
        """Return the regions that a model of a kind may change."""
        return np.flatnonzero(self.kind == kind)

    def changed(self, regions: np.ndarray) -> np.ndarray:
        """Tell for each row (N,) whether a model that changes ``regions`` predicts otherwise."""
        return np.isin(self.cell, regions)


@dataclass
class Life:
    """What came of a life. ``gains`` true gains were tested, of which ``passed`` were let in."""

    forbidden: int = 0
    gains: int = 0
    passed: int = 0
    labels: int = 0


def lived(route: Route, rows: int, rng: np.random.Generator) -> Life:
    """Return what 50 tests of a life come to, on test sets of ``rows`` rows."""
    life = Life()
    tests = 0
    while tests < TESTS:
        test_set = drawn(route, rows, rng)
        ledger = opened(route, test_set, int(rng.integers(2**31)))
        for name in range(STEPS):
            kind, regions = proposed(route, test_set, rng)
            answer, ledger = answered(ledger, test_set, regions, str(name))
            if answer == "exhausted":
                break
            tests += 1
            noted(life, kind, answer)
            followed(test_set, regions, answer)
        life.labels += int(test_set.known.sum())
    return life


def drawn(route: Route, rows: int, rng: np.random.Generator) -> TestSet:
    """Return a new test set, of a world that has drifted: other regions are wrong."""
    kind = rng.permutation(np.repeat(list(REGIONS), list(REGIONS.values())))
    cell = rng.integers(CELLS, size=rows)
    wrong = np.array([WRONG[name] for name in kind])[cell]
    right = rng.random(rows) >= wrong
    return TestSet(cell, right, labelled_before(route, wrong, rng), kind)


def labelled_before(route: Route, wrong: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Tell which rows (N,) are labelled when the test set is opened, as people choose by inputs."""
    rows = len(wrong)
    if route.before in ("all", "nothing"):
        return np.full(rows, route.before == "all")
    noise = rng.random(rows)
    doubt = -np.abs(wrong - 0.5)
    order = {
        "margin": doubt + 0.01 * noise,
        "disagreement": wrong + 0.1 * noise,
        "time": -doubt + noise,  # the hard rows came later
    }[route.before]
    return order >= np.sort(order)[-LABELLED_BEFORE]


def opened(route: Route, test_set: TestSet, seed: int) -> Ledger:
    """Return the ledger of a new test set: that of a gate where all rows are labelled."""
    config = replace(CONFIG, seed=seed)
    if route.before == "all":
        return open_gate(config, len(test_set.cell))
    return open_ledger(config, test_set.known)


def proposed(route: Route, test_set: TestSet, rng: np.random.Generator) -> tuple[str, np.ndarray]:
    """Return the kind of the next model, and the regions that it changes."""
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    free = test_set.regions(kind)
    if len(free) < OF_A_MODEL:
        kind, free = "loss", test_set.regions("loss")
    belief = test_set.belief[free]
    if route.fitted and kind == "boundary":
        belief = wins_seen(test_set)[free]
    # Among regions that are believed to be alike, chance decides.
    order = np.lexsort((rng.random(len(free)), -belief))
    return kind, free[order[:OF_A_MODEL]]


def wins_seen(test_set: TestSet) -> np.ndarray:
    """Return what changing each region would bring on the rows whose label has been seen."""
    gains = np.where(test_set.right, -1.0, 1.0) * test_set.known
    return np.bincount(test_set.cell, weights=gains, minlength=CELLS)


def answered(
    ledger: Ledger, test_set: TestSet, regions: np.ndarray, name: str
) -> tuple[str, Ledger]:
    """Test one model; whatever is asked for is labelled until there is an answer."""
    changed = test_set.changed(regions)
    new = np.where(changed, ~test_set.right, test_set.right)
    while True:
        examples = Examples(
            new * 1.0,
            test_set.right * 1.0,
            changed,
            test_set.known.copy(),
        )
        verdict, ledger = ledger.test(name, examples)
        if verdict.answer != "unknown" or not verdict.labels_wanted:
            return verdict.answer, ledger
        test_set.known[list(verdict.labels_wanted)] = True


def noted(life: Life, kind: str, answer: str) -> None:
    """Count what a test came to."""
    passed = answer == "pass"
    if kind in FORBIDDEN:
        life.forbidden += passed
    else:
        life.gains += 1
        life.passed += passed


def followed(test_set: TestSet, regions: np.ndarray, answer: str) -> None:
    """Let what passed serve, and the developer learn from the answer."""
    passed = answer == "pass"
    test_set.belief[regions] += 1 if passed else -1
    if passed:
        changed = test_set.changed(regions)
        test_set.right[changed] = ~test_set.right[changed]
        test_set.kind[regions] = "served"  # what it mended is not there to be mended again


def rows_of(route: Route) -> int:
    """Return how many rows a test set has: what its plan asks for, labelled or not."""
    methods = {method.name: method for method in plan(CONFIG).methods}
    shared = route.before == "all"
    return methods["sequential, shared examples" if shared else "sequential, fresh examples"].pool


def lines(lives: int) -> Iterator[list[str]]:
    published = plan(CONFIG).optimised
    if published is None:
        raise AssertionError("the published plan has no pattern for this condition")
    for name, route in ROUTES.items():
        rows = rows_of(route)
        found = [lived(route, rows, np.random.default_rng([seed, 7])) for seed in range(lives)]
        wrong = sum(life.forbidden > 0 for life in found)
        gains = sum(life.gains for life in found)
        passed = sum(life.passed for life in found)
        labels = float(np.median([life.labels for life in found]))
        yield [
            name,
            f"{wrong / lives:.4f}",
            f"{clopper_pearson(wrong, lives, 0.05)[1]:.4f}",
            f"{DELTA:g}",
            f"{passed / max(gains, 1):.3f}",
            f"{labels:,.0f}",
            f"{labels / (SETS * published):.2f}",
        ]


def main() -> None:
    parser = arguments(__file__, __doc__)
    parser.add_argument("--lives", type=int, default=1000)
    options = read_options(parser, lives=1)
    print(machine_line("numpy"))
    print(*(f"{title:>18}" for title in HEAD))
    rows = []
    for line in lines(options.lives):
        print(*(f"{cell:>18}" for cell in line), flush=True)
        rows.append(line)
    write_table(options.out / "lives.csv", HEAD, rows)


if __name__ == "__main__":
    main()
