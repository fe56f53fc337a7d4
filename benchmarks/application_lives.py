"""The lives of applications: how often one of 50 promotions is what its condition forbids.

    python benchmarks/application_lives.py [--lives 1000] [--tests 50] [--reserve 12000]
                                           [--short]

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
* ``bought``: a service's gate without labelled test rows, that buys all labels, ten at a time; each
  model is fitted to those.
* ``gate, then bought``: few rows are labelled; where they cannot tell, the gate buys labels of
  others, and each model is fitted to those.
* ``small gate``: as ``gate``, on as many rows as show nearly all gains, not as many as settle every
  test: the others would only tell a model just within the tolerance from one just outside.
* ``retired``: as ``gate``; worn-out test rows are given to the developer, and the world does not
  drift, so that all that they told holds on the next test set.
* ``small, retired``: both.
* ``gate, back``, ``bought, back``: as these, and half of the models that passed are rolled back,
  and may be tested again.
* ``gate, edited``, ``bought, edited``: as these, and after five models the gate is set again, each
  time at half of the error, on what the gate before left.
* ``gate, erased``: as ``gate``, and after each test 3 % of the rows, drawn by chance, are erased.
* ``fitted to a gate``: as ``gate``, but the developer has seen the test labels, which nobody may.
  The promise is void there; the line shows that this simulation can find a broken one.

Lives are kept one by one in ``each.csv``; what is there is not run again, so a benchmark that
was ended goes on. ``wrong lives``: share of lives with a forbidden promotion, and its upper 95 %
limit; the promise is at most ``delta``. ``gains``: true gains that passed. ``labels``: of a life,
at the median, and as a share of the published plan of fixed size (``optimised``) for as many tests.
"""

import csv
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

import numpy as np

from common import arguments, machine_line, read_options, rows_before, write_table
from easeml.lifecycle.ci import (
    Examples,
    Ledger,
    clopper_pearson,
    commit_digest,
    open_ledger,
    plan,
    read_config,
    rows_that_show,
    score_examples,
)
from easeml.lifecycle.gates import (
    TWO_TESTS,
    Tested,
    examine,
    narrowed,
    open_gate,
    open_reserve,
    told_of,
)

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
WRONG["served"] = 1 - WRONG["gain"]  # a model that passed has mended its regions
REGIONS = {"boundary": 120, "gain": 80, "loss": 200}
KINDS = {"boundary": 0.6, "gain": 0.25, "loss": 0.15}
"""How often a model of each kind is tested."""
FORBIDDEN = ("boundary", "loss")
LABELLED_BEFORE = 500  # rows of a test set
FEW = 2000  # labelled rows of a gate that buys labels of others
ERASED = 0.03  # share of the rows, after a test
RESERVE = 12_000  # rows without labels of a gate that buys some; ten steps take fewer
SMALL_RESERVE = 6_000  # of the short form, for half of the steps
LIFE = ["route", "seed", "forbidden", "gains", "passed", "labels"]
HEAD = ["route", "lives", "wrong lives", "at most", "delta", "gains", "labels", "of published"]


@dataclass(frozen=True)
class Route:
    """How rows come to be labelled, and what the next model follows from."""

    before: str  # which rows are labelled when a test set is opened
    fitted: bool = False  # to the labels that its developer has seen
    buys: bool = False  # labels, as a gate of the service does
    retires: bool = False  # worn-out test rows are learned from, and the world stays as it is
    small: bool = False  # the rows show gains, and need not settle every test
    back: bool = False  # half of what passed is rolled back
    edits: bool = False  # the gate is set again after half of the steps
    erases: bool = False  # some rows after each test


ROUTES = {
    "gate": Route("all"),
    "asked": Route("nothing"),
    "margin": Route("margin"),
    "disagreement": Route("disagreement"),
    "time": Route("time"),
    "fitted": Route("nothing", fitted=True),
    "bought": Route("nothing", fitted=True, buys=True),
    "gate, then bought": Route("few", fitted=True, buys=True),
    "small gate": Route("all", small=True),
    "retired": Route("all", retires=True),
    "small, retired": Route("all", retires=True, small=True),
    "gate, back": Route("all", back=True),
    "bought, back": Route("nothing", fitted=True, buys=True, back=True),
    "gate, edited": Route("all", edits=True),
    "bought, edited": Route("nothing", fitted=True, buys=True, edits=True),
    "gate, erased": Route("all", erases=True),
    "fitted to a gate": Route("all", fitted=True),
}


@dataclass
class TestSet:
    """Rows (N,) drawn from the world: their region, and whether the served model is right.

    ``known``: its label is; ``hidden``: from the developer, as labelled test rows of a gate are.
    ``kind`` and ``belief`` are of each region: what a model that changes it is, and what the
    developer thinks of changing it.
    """

    cell: np.ndarray
    right: np.ndarray
    known: np.ndarray
    hidden: np.ndarray
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


@dataclass
class Tests:
    """The ledgers of a test set. ``own``: of the rows that ``is_own`` (N,), labelled beforehand in
    a gate. ``bought``: of the others, whose labels a gate buys; None where it buys none.
    """

    own: Ledger | None
    is_own: np.ndarray
    bought: Ledger | None = None


def lived(route: Route, rows: int, least: int, rng: np.random.Generator) -> Life:
    """Return what at least so many tests of a life come to, on test sets of ``rows`` rows."""
    life = Life()
    tests = 0
    test_set = None
    while tests < least:
        test_set = drawn(route, rows, rng, test_set)
        ledgers = opened(route, test_set, int(rng.integers(2**31)))
        for name in range(STEPS):
            if route.edits and name == STEPS // 2:
                ledgers = set_again(ledgers)
            kind, regions = proposed(route, test_set, rng)
            answer = answered(ledgers, test_set, regions, str(name))
            if answer == "exhausted":
                break
            tests += 1
            noted(life, kind, answer)
            followed(test_set, regions, answer)
            if route.back and answer == "pass" and rng.random() < 0.5:
                rolled_back(test_set, regions, kind)
            if route.erases:
                ledgers = erased(ledgers, test_set, rng)
        life.labels += int(test_set.known.sum())
    return life


def drawn(
    route: Route, rows: int, rng: np.random.Generator, before: TestSet | None = None
) -> TestSet:
    """Return a new test set, of a world that has drifted: other regions are wrong.

    Where worn-out rows are learned from, the world is that of ``before``, and so is what is
    believed of it: what changing each region won on all its rows.
    """
    kind = rng.permutation(np.repeat(list(REGIONS), list(REGIONS.values())))
    belief = np.zeros(CELLS)
    if route.retires and before is not None and len(before.regions("gain")) >= OF_A_MODEL:
        kind, belief = before.kind, wins(before, before.known)
    cell = rng.integers(CELLS, size=rows)
    wrong = np.array([WRONG[name] for name in kind])[cell]
    right = rng.random(rows) >= wrong
    known = labelled_before(route, wrong, rng)
    hidden = known & (route.buys or route.retires)
    return TestSet(cell, right, known, hidden, kind, belief)


def labelled_before(route: Route, wrong: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Tell which rows (N,) are labelled when the test set is opened, as people choose by inputs."""
    rows = len(wrong)
    if route.before in ("all", "nothing"):
        return np.full(rows, route.before == "all")
    if route.before == "few":
        return np.arange(rows) < FEW
    noise = rng.random(rows)
    doubt = -np.abs(wrong - 0.5)
    order = {
        "margin": doubt + 0.01 * noise,
        "disagreement": wrong + 0.1 * noise,
        "time": -doubt + noise,  # the hard rows came later
    }[route.before]
    return order >= np.sort(order)[-LABELLED_BEFORE]


def opened(route: Route, test_set: TestSet, seed: int) -> Tests:
    """Return the ledgers of a new test set: those of a gate where rows are labelled, or bought."""
    config = replace(CONFIG, seed=seed)
    if route.edits:
        config = replace(config, reliability=1 - DELTA / SETS / 2, steps=STEPS // 2)
    known = test_set.known
    if route.buys:
        own = open_gate(config, int(known.sum()), TWO_TESTS) if known.any() else None
        return Tests(own, known.copy(), open_reserve(config, int((~known).sum())))
    everything = np.full(len(known), True)
    if route.before == "all":
        return Tests(open_gate(config, len(known)), everything)
    return Tests(open_ledger(config, known), everything)


def proposed(route: Route, test_set: TestSet, rng: np.random.Generator) -> tuple[str, np.ndarray]:
    """Return the kind of the next model, and the regions that it changes."""
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    free = test_set.regions(kind)
    if len(free) < OF_A_MODEL:
        kind, free = "loss", test_set.regions("loss")
    belief = test_set.belief[free]
    if route.fitted and kind == "boundary":
        belief = wins(test_set, test_set.known & ~test_set.hidden)[free]
    # Among regions that are believed to be alike, chance decides.
    order = np.lexsort((rng.random(len(free)), -belief))
    return kind, free[order[:OF_A_MODEL]]


def wins(test_set: TestSet, rows: np.ndarray) -> np.ndarray:
    """Return what changing each region would bring on some rows (a mask)."""
    gains = np.where(test_set.right, -1.0, 1.0) * rows
    return np.bincount(test_set.cell, weights=gains, minlength=CELLS)


def answered(ledgers: Tests, test_set: TestSet, regions: np.ndarray, name: str) -> str:
    """Test one model; whatever is asked for is labelled until there is an answer."""
    if ledgers.bought is None:
        return asked(ledgers, test_set, regions, name)
    answer = "unknown"
    if ledgers.own is not None and not ledgers.own.is_exhausted:
        new, old, truth = predicted(test_set, regions, ledgers.is_own)
        verdict, ledgers.own = examine(ledgers.own, Tested(new, old, truth))
        answer = verdict.answer
    return answer if answer != "unknown" else bought(ledgers, test_set, regions)


def asked(ledgers: Tests, test_set: TestSet, regions: np.ndarray, name: str) -> str:
    """Test one model by the one ledger that there is, which may ask for labels of any row."""
    assert ledgers.own is not None
    changed = test_set.changed(regions)
    new = np.where(changed, ~test_set.right, test_set.right)
    while True:
        examples = Examples(
            new * 1.0,
            test_set.right * 1.0,
            changed,
            test_set.known.copy(),
        )
        verdict, ledgers.own = ledgers.own.test(name, examples)
        if verdict.answer != "unknown" or not verdict.labels_wanted:
            return verdict.answer
        test_set.known[list(verdict.labels_wanted)] = True


def bought(ledgers: Tests, test_set: TestSet, regions: np.ndarray) -> str:
    """Test one model by labels that a gate buys, in the order and the numbers in which it does.

    As ``examine_reserve`` with a budget that is never used up, but for the forecast of labels to
    come, which decides nothing and takes nearly all the time.
    """
    assert ledgers.bought is not None
    rows = np.flatnonzero(~ledgers.is_own)
    new, old, _ = predicted(test_set, regions, ~ledgers.is_own)
    before = ledgers.bought
    commit = commit_digest(new, old)
    while True:
        truth = [1 if known else None for known in test_set.known[rows]]
        examples = score_examples(new, old, truth, before.config)
        verdict, ledgers.bought = before.test(commit, examples)
        if not verdict.labels_wanted:
            return verdict.answer
        before = ledgers.bought
        test_set.known[rows[list(verdict.labels_wanted)]] = True


def predicted(
    test_set: TestSet, regions: np.ndarray, rows: np.ndarray
) -> tuple[list[int], list[int], list[int]]:
    """Return what the new and the served model say of some rows, and what is true: always 1."""
    right = test_set.right[rows]
    changed = test_set.changed(regions)[rows]
    return (right ^ changed).astype(int).tolist(), right.astype(int).tolist(), [1] * len(right)


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


def rolled_back(test_set: TestSet, regions: np.ndarray, kind: str) -> None:
    """Let what served before a model serve again; the model may be tested once more."""
    changed = test_set.changed(regions)
    test_set.right[changed] = ~test_set.right[changed]
    test_set.kind[regions] = kind


def set_again(ledgers: Tests) -> Tests:
    """Return the ledgers of a gate that takes the place of another, as a service opens them.

    Labelled rows are used on, and count what was answered; of the others none is that was shown.
    """
    if ledgers.bought is None:
        before = ledgers.own
        assert before is not None
        own = open_gate(before.config, before.examples, told_of(before))
        return Tests(own, ledgers.is_own)
    before = ledgers.bought
    rows = np.flatnonzero(~ledgers.is_own)
    given = before.given_away()
    taken = ledgers.is_own.copy()
    taken[rows[before.order()[: given.rows]]] = True
    left = int((~taken).sum())
    return Tests(None, taken, open_reserve(before.config, left, given.nats))


def erased(ledgers: Tests, test_set: TestSet, rng: np.random.Generator) -> Tests:
    """Erase some rows of a gate that has all labels, for a reason that lies elsewhere."""
    assert ledgers.own is not None
    stays = rng.random(len(test_set.cell)) >= ERASED
    for name in ("cell", "right", "known", "hidden"):
        setattr(test_set, name, getattr(test_set, name)[stays])
    rows = len(test_set.cell)
    return Tests(narrowed(ledgers.own, rows), np.full(rows, True))


def rows_of(route: Route, reserve: int) -> int:
    """Return how many rows a test set has: what its plan asks for, labelled or not.

    Where a gate buys labels these are nearly always enough for ten steps.
    """
    if route.buys:
        return reserve + (FEW if route.before == "few" else 0)
    if route.small:
        return rows_that_show(CONFIG, CHANGED) or 0
    methods = {method.name: method for method in plan(CONFIG).methods}
    shared = route.before == "all"
    return methods["sequential, shared examples" if shared else "sequential, fresh examples"].pool


def run(path: Path, lives: int, tests: int, reserve: int) -> None:
    """Run the lives that are not kept yet, those of one seed one after another; keep each."""
    done = {(route, int(seed)) for route, seed, *_ in rows_before(path)}
    sizes = {name: rows_of(route, reserve) for name, route in ROUTES.items()}
    if not done:
        write_table(path, LIFE, [])
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for seed in range(lives):
            for name in [one for one in ROUTES if (one, seed) not in done]:
                rng = np.random.default_rng([seed, 7])
                life = lived(ROUTES[name], sizes[name], tests, rng)
                writer.writerow([name, seed, *astuple(life)])
                file.flush()


def lines(path: Path) -> Iterator[list[str]]:
    """Return what all lives that were kept come to, a line a route."""
    published = plan(CONFIG).optimised
    if published is None:
        raise AssertionError("the published plan has no pattern for this condition")
    for name in ROUTES:
        found = [Life(*map(int, row[2:])) for row in rows_before(path) if row[0] == name]
        lives = max(len(found), 1)
        wrong = sum(life.forbidden > 0 for life in found)
        gains = sum(life.gains for life in found)
        passed = sum(life.passed for life in found)
        labels = float(np.median([life.labels for life in found]))
        yield [
            name,
            str(len(found)),
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
    parser.add_argument("--tests", type=int, default=TESTS, help="of a life; the promise is of 50")
    parser.add_argument("--reserve", type=int, default=RESERVE, help="rows of a gate that buys")
    two_sets = STEPS + 1
    options = read_options(parser, lives=1, tests=two_sets, reserve=SMALL_RESERVE)
    print(machine_line("numpy"))
    run(options.out / "each.csv", options.lives, options.tests, options.reserve)
    rows = list(lines(options.out / "each.csv"))
    for line in [HEAD, *rows]:
        print(*(f"{cell:>18}" for cell in line))
    write_table(options.out / "lives.csv", HEAD, rows)


if __name__ == "__main__":
    main()
