"""Rolling out by balanced accuracy on simulated requests: how often each rule errs, how long it takes.

    python benchmarks/rollouts_balanced.py [--runs 100] [--requests 8000] [--short]

A world is a pair of models: worse by exactly the tolerance by balanced accuracy, but better on one
class (an error is to let it serve); as good, but worse on one class (an error is to take it back);
or better or worse on both. Truth comes of each request; of the rare class first and of the other
later; of ever more rows of the rare class; or of wrong answers mostly. Beside easeml's rounds, by a
shadow and by shares: the same bets on which model is right more often, as roll-outs were until now,
and on each row as it comes, weighed by the shares of the classes in training.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle import rollout
from easeml.lifecycle.rollout import GOES_ON, LIVE, TAKEN_BACK, Evidence, Outcome, Plan
from easeml.lifecycle.rounds import Row, told

COMMON, RARE = "common", "rare"
TRAINED = {COMMON: 0.9, RARE: 0.1}  # shares of the classes in training
SHADOW = Plan()
SHARES = Plan(shares=(0.1, 0.25, 0.5))
RIGHT = 0.75  # of each class, by the old model; and so it was validated
DIFFER = 0.4  # of the rows, at least: there one model alone is right
WORLDS = {  # by how much the new model is right more often: of the common class, of the rare one
    "worse by the tolerance": (0.08, -0.12),
    "as good": (-0.1, 0.1),
    "better by .05": (0.05, 0.05),
    "worse by .05": (-0.05, -0.05),
}


@dataclass(frozen=True)
class Seen:
    """A request whose truth came."""

    of: str
    new: bool
    old: bool
    share: float
    by_new: bool


class Rounds:
    """easeml's rule."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.evidence = Evidence()

    @property
    def share(self) -> float:
        """The share of the requests that the new model answers."""
        return rollout.share_now(self.plan, self.evidence)

    def after(self, seen: Seen) -> str:
        """Return the verdict after one more truth."""
        row = Row(seen.of, seen.new, seen.old, seen.share, seen.by_new)
        self.evidence = told(self.plan, self.evidence, [row], (COMMON, RARE))
        return rollout.verdict(self.plan, self.evidence, RIGHT)


class EachRow(Rounds):
    """The same bets on each row. ``by_class``: weighed by the shares of the classes in training."""

    def __init__(self, plan: Plan, *, by_class: bool):
        super().__init__(plan)
        self.by_class = by_class

    def after(self, seen: Seen) -> str:
        """Return the verdict after one more truth."""
        gain = float(seen.new) - float(seen.old)
        part = min(TRAINED.values()) / TRAINED[seen.of] if self.by_class else 1.0
        outcome = Outcome(gain, float(seen.old), seen.share, seen.by_new, part=part)
        self.evidence = rollout.told(self.plan, self.evidence, [outcome])
        return rollout.verdict(self.plan, self.evidence, RIGHT)


RULES: dict[str, Callable[[], Rounds]] = {
    "rounds, shadow": lambda: Rounds(SHADOW),
    "rounds, shares": lambda: Rounds(SHARES),
    "right more often": lambda: EachRow(SHADOW, by_class=False),
    "weighed as in training": lambda: EachRow(SHADOW, by_class=True),
}


@dataclass(frozen=True)
class Truth:
    """How truth comes. ``rare``: share of the rare class, by the place of the request in [0, 1);
    ``right``: the chance that the truth of a right answer comes, where that of a wrong one does.
    """

    rare: Callable[[float], float] = lambda place: TRAINED[RARE]
    right: float = 1.0


TRUTHS = {
    "all": Truth(),
    "the rare class first": Truth(lambda place: 0.9 if place < 0.1 else 0.05),
    "the rare class grows": Truth(lambda place: 0.1 + 0.6 * place),
    "mostly complaints": Truth(right=0.1),
}


def life(
    rng: np.random.Generator,
    rule: Rounds,
    gains: tuple[float, float],
    truth: Truth,
    requests: int,
) -> tuple[str, int]:
    """Return how a roll-out ends, and how many truths it took."""
    answer, truths = GOES_ON, 0
    for number, (of_rare, who, turn, chance) in enumerate(rng.random((requests, 4))):
        is_rare = bool(of_rare < truth.rare(number / requests))
        only_new = (DIFFER + gains[is_rare]) / 2
        only_old = (DIFFER - gains[is_rare]) / 2
        both = RIGHT - only_old
        new = who < both + only_new
        old = who < both or both + only_new <= who < both + only_new + only_old
        share = rule.share
        by_new = turn < share
        is_right = new if by_new else old
        if chance >= (truth.right if is_right else 1.0):
            continue
        truths += 1
        answer = rule.after(Seen(RARE if is_rare else COMMON, new, old, share, by_new))
        if answer != GOES_ON:
            break
    return answer, truths


def main() -> None:
    """Print and write the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--requests", type=int, default=8000)
    options = read_options(parser, runs=2, requests=200)
    rows = []
    print(f"{'truth':21} {'rule':23} {'world':23} serves  taken back  goes on   truths")
    for truth, comes in TRUTHS.items():
        for rule, new_rule in RULES.items():
            for world, gains in WORLDS.items():
                rng = np.random.default_rng(0)
                found = []
                for _ in range(options.runs):
                    found.append(life(rng, new_rule(), gains, comes, options.requests))
                ends = [end for end, _ in found]
                shares = [ends.count(end) / len(ends) for end in (LIVE, TAKEN_BACK, GOES_ON)]
                truths = math.floor(np.median([number for _, number in found]))
                rows.append([truth, rule, world, *shares, truths])
                said = "      ".join(f"{share:6.3f}" for share in shares)
                print(f"{truth:21} {rule:23} {world:23} {said} {truths:8}", flush=True)
    columns = ["truth", "rule", "world", "serves", "taken_back", "goes_on", "truths"]
    write_table(options.out / "rollouts_balanced.csv", columns, rows)
    print(f"{options.runs} runs each, at most {options.requests} requests")
    print(machine_line("numpy"))


if __name__ == "__main__":
    main()
