"""Partly labelled test sets: how often ``ci`` errs, however the labels that exist were chosen.

    python benchmarks/ci_partly_labelled.py [--runs 300] [--short]

Each line plays one thing that users do, ``--runs`` times, in worlds where an error is likeliest: a
commit exactly at the edge of its condition (false pass), or one that holds by more than twice the
tolerance (false fail). Where labels are asked for, the truth answers, until there is a verdict.
``old order`` is the rate if what is labelled already comes first, as easeml did once. ``delta`` is
promised for all steps together. What the last lines show is not promised: ``ci`` cannot see it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.ci import Config, Examples, Ledger, clopper_pearson, open_ledger, read_config
from easeml.lifecycle.labeling import next_to_label
from easeml.lifecycle.picking import pick

ROWS, DELTA, SHARE = 2000, 0.1, 0.2
GAIN = read_config(
    {"condition": "n - o > 0.02 +/- 0.05", "reliability": 1 - DELTA, "difference": 0.35}
)
LEVEL = read_config({"condition": "n > 0.8 +/- 0.05", "reliability": 1 - DELTA})


@dataclass(frozen=True)
class World:
    """Rows with a difficulty in [0, 1]; where both models are right, and where they differ."""

    difficulty: np.ndarray
    new: np.ndarray
    old: np.ndarray

    @property
    def differ(self) -> np.ndarray:
        """Where one model is right and the other wrong."""
        return self.new != self.old

    def shown(self, known: np.ndarray) -> Examples:
        """Return what ``ci`` sees where ``known`` rows are labelled."""
        return Examples(self.new * 1.0, self.old * 1.0, self.differ, known.copy())


Choice = Callable[[World, np.random.Generator], np.ndarray]


def worthless(rng: np.random.Generator) -> World:
    """``n - o = .02`` in truth, the edge of the condition: better on hard rows, worse on easy ones."""
    difficulty = rng.random(ROWS)
    changed = rng.random(ROWS) < 0.3
    wins = rng.random(ROWS) < 0.5 + 0.02 / 0.6 + 0.9 * (difficulty - 0.5)
    new = np.where(changed, wins, rng.random(ROWS) < 0.8)
    return World(difficulty, new, np.where(changed, ~new, new))


def good(rng: np.random.Generator) -> World:
    """``n = .91`` in truth; on changed rows, which another condition asks for, only .5."""
    difficulty = rng.random(ROWS)
    changed = difficulty > 0.8
    new = np.where(changed, rng.random(ROWS) < 0.53, rng.random(ROWS) < 1.005)
    return World(difficulty, new, np.where(changed, ~new, new))


def nothing(world: World, rng: np.random.Generator) -> np.ndarray:
    return np.zeros(ROWS, dtype=bool)


def at_random(world: World, rng: np.random.Generator) -> np.ndarray:
    return rng.random(ROWS) < SHARE


def by_margin(world: World, rng: np.random.Generator) -> np.ndarray:
    """The hardest rows, as uncertainty sampling labels them."""
    return world.difficulty > 1 - SHARE


def by_disagreement(world: World, rng: np.random.Generator) -> np.ndarray:
    return world.differ & by_margin(world, rng)


def by_time(world: World, rng: np.random.Generator) -> np.ndarray:
    """The first rows, where difficulty falls over time: labelling began at the beginning."""
    time = np.argsort(np.argsort(-world.difficulty + rng.normal(0, 0.2, ROWS)))
    return time < SHARE * ROWS


def by_label_next(world: World, rng: np.random.Generator) -> np.ndarray:
    """Rows that ``easeml label next`` proposes, from their inputs."""
    inputs = np.column_stack([world.difficulty, rng.random(ROWS)])
    train = rng.random((60, 2))
    labels = (train[:, 0] > 0.5).astype(int)
    valid = np.column_stack([0.5 + 0.5 * rng.random(40), rng.random(40)])
    true = (valid[:, 0] > 0.75).astype(int)
    queue = next_to_label(train, labels, inputs, valid, true, n=100)
    known = np.zeros(ROWS, dtype=bool)
    known[np.asarray(queue.rows)] = True
    return known


def by_pick(world: World, rng: np.random.Generator) -> np.ndarray:
    """Rows that ``easeml pick`` asks for, to choose between these two models."""
    known = np.zeros(ROWS, dtype=bool)

    def answer(row: int) -> int:
        known[row] = True
        return 1

    pick(np.column_stack([world.new, world.old]).astype(int), answer, budget=200, seed=0)
    return known


def by_monitor(world: World, rng: np.random.Generator) -> np.ndarray:
    """Rows drawn as ``easeml monitor score --choose`` draws them: half uniformly, half by doubt."""
    doubt = np.sqrt(world.difficulty * (1 - world.difficulty / 2))
    chances = 0.5 / ROWS + 0.5 * doubt / doubt.sum()
    known = np.zeros(ROWS, dtype=bool)
    known[rng.choice(ROWS, int(SHARE * ROWS), p=chances)] = True
    return known


CHOICES: dict[str, Choice] = {
    "no labels": nothing,
    "at random": at_random,
    "by margin": by_margin,
    "by disagreement": by_disagreement,
    "by time": by_time,
    "by label next": by_label_next,
    "by pick": by_pick,
    "by monitor": by_monitor,
}


SLOW = ("labels by label next", "labels by pick")


class LabelledFirst(Ledger):
    """A ledger with the order that easeml once had: what is labelled comes first."""

    def order(self) -> np.ndarray:
        order = super().order()
        first = self.labelled_first()[order]
        return np.concatenate([order[first], order[~first]])


def settle(ledger: Ledger, world: World, known: np.ndarray, name: str) -> tuple[str, Ledger]:
    """Test one commit, and label what is asked for until there is an answer; changes ``known``."""
    while True:
        verdict, ledger = ledger.test(name, world.shown(known))
        if verdict.answer != "unknown" or not verdict.labels_wanted:
            return verdict.answer, ledger
        known[list(verdict.labels_wanted)] = True


def opened(config: Config, known: np.ndarray, seed: int, old_order: bool, **more) -> Ledger:
    ledger = open_ledger(replace(config, seed=seed), known, **more)
    return LabelledFirst(**vars(ledger)) if old_order else ledger


def choosing(choose: Choice, config: Config, make: Callable) -> Callable[[int, bool], str]:
    """One commit on labels that were chosen beforehand."""

    def run(seed: int, old_order: bool) -> str:
        rng = np.random.default_rng(seed)
        world = make(rng)
        known = choose(world, rng)
        return settle(opened(config, known, seed, old_order), world, known, "a")[0]

    return run


def second_configuration(seed: int, old_order: bool) -> str:
    """``n - o`` first, then ``n > .8`` on the labels that it asked for."""
    world = good(np.random.default_rng(seed))
    known = np.zeros(ROWS, dtype=bool)
    _, first = settle(opened(GAIN, known, seed, old_order), world, known, "a")
    spent = None if old_order else first.given_away()
    return settle(opened(LEVEL, known, seed, old_order, spent=spent), world, known, "a")[0]


def begun_anew(seed: int, old_order: bool) -> str:
    """Five equal commits, one step each; the ledger is deleted after each (not if ``old_order`` is
    False: then the record beside the labels brings it back). Pass if any passes.
    """
    rng = np.random.default_rng(seed)
    config = replace(GAIN, steps=5)
    kept = open_ledger(replace(config, seed=seed), np.zeros(ROWS, dtype=bool))
    answers = []
    for number in range(5):
        world = worthless(rng)
        known = np.zeros(ROWS, dtype=bool)
        if old_order:
            kept = open_ledger(replace(GAIN, seed=seed), known)
        answer, kept = settle(kept, world, known, str(number))
        answers.append(answer)
    return "pass" if "pass" in answers else "fail"


def reordered(seed: int, old_order: bool) -> str:
    """Rows sorted by difficulty in the file, the hardest first."""
    rng = np.random.default_rng(seed)
    world = worthless(rng)
    order = np.argsort(-world.difficulty)
    world = World(world.difficulty[order], world.new[order], world.old[order])
    known = np.arange(ROWS) < SHARE * ROWS
    return settle(opened(GAIN, known, seed, old_order), world, known, "a")[0]


def repeated_rows(seed: int, old_order: bool) -> str:
    """Each row four times under other ids."""
    rng = np.random.default_rng(seed)
    world = worthless(rng)
    rows = np.tile(np.arange(ROWS // 4), 4)
    world = World(world.difficulty[rows], world.new[rows], world.old[rows])
    known = np.zeros(ROWS, dtype=bool)
    return settle(opened(GAIN, known, seed, old_order), world, known, "a")[0]


def chosen_rows_alone(seed: int, old_order: bool) -> str:
    """Only the hard rows are given, as if they were the whole test set."""
    world = worthless(np.random.default_rng(seed))
    rows = np.flatnonzero(world.difficulty > 0.5)
    rows = np.resize(rows, ROWS)
    world = World(world.difficulty[rows], world.new[rows], world.old[rows])
    known = np.ones(ROWS, dtype=bool)
    return settle(opened(GAIN, known, seed, old_order), world, known, "a")[0]


def picked_on_the_test_set(seed: int, old_order: bool) -> str:
    """The best of 30 equal models by 400 test labels is the new one."""
    rng = np.random.default_rng(seed)
    worlds = [worthless(rng) for _ in range(30)]
    looked = rng.permutation(ROWS)[:400]
    world = max(worlds, key=lambda each: float((each.new * 1.0 - each.old)[looked].mean()))
    known = np.zeros(ROWS, dtype=bool)
    known[looked] = True
    return settle(opened(GAIN, known, seed, old_order), world, known, "a")[0]


def lines() -> list[tuple[str, str, Callable[[int, bool], str], bool]]:
    """Return what is played: name, the answer that is an error, how, and whether it is promised."""
    found = []
    for name, choose in CHOICES.items():
        found.append((f"labels {name}", "pass", choosing(choose, GAIN, worthless), True))
        if name in ("by margin", "by disagreement", "by pick"):
            found.append((f"labels {name}", "fail", choosing(choose, LEVEL, good), True))
    found.append(("second configuration, same labels", "fail", second_configuration, True))
    found.append(("ledger deleted after each of 5 commits", "pass", begun_anew, True))
    found.append(("file sorted, hardest rows labelled", "pass", reordered, True))
    found.append(("not seen: rows four times, other ids", "pass", repeated_rows, False))
    found.append(("not seen: only chosen rows given", "pass", chosen_rows_alone, False))
    found.append(("not seen: model picked on these labels", "pass", picked_on_the_test_set, False))
    return found


def measure(runs: int, *, slow: bool = True) -> list[dict]:
    """Return a row a line: error rates now and with the old order, and the interval of the first.

    ``slow``: with the lines that take long.
    """
    rows = []
    for name, wrong, play, promised in lines():
        if name in SLOW and not slow:
            continue
        # Our own tools take seconds to choose: they are played less often.
        times = max(1, runs // 10) if name in SLOW else runs
        now = sum(play(seed, False) == wrong for seed in range(times))
        before = sum(play(seed, True) == wrong for seed in range(times))
        low, high = clopper_pearson(now, times, 0.05)
        rows.append(
            {
                "labels and use": name,
                "error": f"false {wrong}",
                "delta": DELTA,
                "runs": times,
                "rate": now / times,
                "low": round(low, 4),
                "high": round(high, 4),
                "old order": before / times,
                "promised": promised,
                "kept": low <= DELTA,
            }
        )
    return rows


def main() -> None:
    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--fast", action="store_true", help="leave out the lines that take long")
    options = read_options(parser, runs=2, fast=True)
    print(machine_line("numpy", "easeml"), f"{options.runs} runs a line")
    rows = measure(options.runs, slow=not options.fast)
    print("  ".join(rows[0]))
    for row in rows:
        print("  ".join(str(value) for value in row.values()))
    write_table(options.out / "rates.csv", list(rows[0]), [list(row.values()) for row in rows])


if __name__ == "__main__":
    main()
