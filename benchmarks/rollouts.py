"""Rolling a model out on simulated requests: how often each rule errs, however the truth comes.

    python benchmarks/rollouts.py [--runs 100] [--requests 4000] [--short]

A world is a pair of models: worse by exactly the tolerance (an error is to let it serve), alike (an
error is to take it back), better or worse by more. The truth comes of every request, or by what
people do: they complain of wrong answers, or mostly of these; only rows on which the models differ
are labelled. Beside easeml's shadow and shares the same bets without weights, and what one finds in
practice: after every 100 truths, a test of two proportions on the rows that each model answered, at
the same level. ``truths``: how many were used, at the median of all runs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.rollout import (
    GOES_ON,
    LIVE,
    TAKEN_BACK,
    Evidence,
    Outcome,
    Plan,
    share_now,
    told,
    verdict,
)

SHADOW = Plan()
SHARES = Plan(shares=(0.1, 0.25, 0.5))
LOOK_EVERY = 100
EXPECTED = 0.75  # quality of the old model where it was validated
CRITICAL = 1.645  # one-sided, at the level of .05
WORLDS = {  # chances that both are right, only the new one, only the old one
    "worse by the tolerance": (0.70, 0.05, 0.07),
    "alike": (0.70, 0.05, 0.05),
    "better by .03": (0.70, 0.08, 0.05),
    "worse by .05": (0.70, 0.03, 0.08),
}
TRUTHS: dict[str, Callable[[bool, bool], float]] = {  # right, differ -> chance that it comes
    "all": lambda right, differ: 1.0,
    "complaints": lambda right, differ: 0.0 if right else 1.0,
    "mostly complaints": lambda right, differ: 0.1 if right else 1.0,
    "differences": lambda right, differ: float(differ),
}


@dataclass(frozen=True)
class Asked:
    """A request whose truth came: who was right, and whether the new model answered."""

    new: bool
    old: bool
    by_new: bool
    share: float

    @property
    def gain(self) -> float:
        """Quality of the new model less that of the old."""
        return float(self.new) - float(self.old)


class Bets:
    """easeml's rule; ``weighs``: whether rare answers count more."""

    def __init__(self, plan: Plan, *, weighs: bool = True):
        self.plan = plan
        self.weighs = weighs
        self.evidence = Evidence()

    @property
    def share(self) -> float:
        """The share of the requests that the new model answers."""
        return share_now(self.plan, self.evidence)

    def after(self, asked: Asked) -> str:
        """Return the verdict after one more truth."""
        outcome = Outcome(asked.gain, float(asked.old))
        if self.weighs:
            outcome = Outcome(asked.gain, float(asked.old), asked.share, asked.by_new)
        self.evidence = told(self.plan, self.evidence, [outcome])
        return verdict(self.plan, self.evidence, EXPECTED)


class TwoGroups:
    """A test of two proportions, looked at again and again, at a share of .1."""

    share = 0.1

    def __init__(self) -> None:
        self.rows = {True: 0, False: 0}
        self.right = {True: 0, False: 0}

    def after(self, asked: Asked) -> str:
        """Return the verdict after one more truth."""
        self.rows[asked.by_new] += 1
        self.right[asked.by_new] += asked.new if asked.by_new else asked.old
        if sum(self.rows.values()) % LOOK_EVERY or not all(self.rows.values()):
            return GOES_ON
        new, old = (self.right[side] / self.rows[side] for side in (True, False))
        variance = sum(p * (1 - p) / self.rows[side] for p, side in ((new, True), (old, False)))
        error = math.sqrt(variance) or math.inf
        if (new - old + SHADOW.tolerance) / error > CRITICAL:
            return LIVE
        return TAKEN_BACK if (old - new) / error > CRITICAL else GOES_ON


RULES: dict[str, Callable[[], Bets | TwoGroups]] = {
    "easeml, shadow": lambda: Bets(SHADOW),
    "easeml, shares": lambda: Bets(SHARES),
    "shares, no weights": lambda: Bets(SHARES, weighs=False),
    "two groups, z-test": TwoGroups,
}


def life(
    rng: np.random.Generator,
    rule: Bets | TwoGroups,
    world: tuple[float, float, float],
    comes: Callable[[bool, bool], float],
    requests: int,
) -> tuple[str, int]:
    """Return how a roll-out ends, and how many truths it took."""
    both, only_new, only_old = world
    answer, truths = GOES_ON, 0
    for place, turn, chance in rng.random((requests, 3)):
        new = place < both + only_new
        old = place < both or both + only_new <= place < both + only_new + only_old
        share = rule.share
        by_new = turn < share
        if chance >= comes(new if by_new else old, new != old):
            continue
        truths += 1
        answer = rule.after(Asked(new, old, by_new, share))
        if answer != GOES_ON:
            break
    return answer, truths


def main() -> None:
    """Print and write the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--requests", type=int, default=4000)
    options = read_options(parser, runs=3, requests=300)
    rows = []
    print(f"{'truth':18} {'rule':20} {'world':24} serves  taken back  goes on   truths")
    for truth, comes in TRUTHS.items():
        for rule, new_rule in RULES.items():
            for world, chances in WORLDS.items():
                rng = np.random.default_rng(0)
                found = []
                for _ in range(options.runs):
                    found.append(life(rng, new_rule(), chances, comes, options.requests))
                ends = [end for end, _ in found]
                shares = [ends.count(end) / len(ends) for end in (LIVE, TAKEN_BACK, GOES_ON)]
                truths = float(np.median([number for _, number in found]))
                rows.append([truth, rule, world, *shares, truths])
                told_shares = "      ".join(f"{share:6.3f}" for share in shares)
                print(f"{truth:18} {rule:20} {world:24} {told_shares} {truths:8.0f}", flush=True)
    columns = ["truth", "rule", "world", "serves", "taken_back", "goes_on", "truths"]
    write_table(options.out / "rollouts.csv", columns, rows)
    print(f"{options.runs} runs each, at most {options.requests} requests")
    print(machine_line("numpy"))


if __name__ == "__main__":
    main()
