"""The overfitting meter beside other ways to reuse a test set: examples needed, and promises under
attack.

    python benchmarks/overfitting_meter.py [--runs 1000] [--tolerance 0.1] [--delta 0.05]

Part 1: test examples for T reports at +-0.02, delta 0.01, five ranges: published counts, easeml's
modes. Part 2: simulated developers attack each keeper of a test set of the planned size in
``--runs`` worlds of coin tosses (where every model is right half the time, so the true gap is
known): share of runs with any wrong answer, its 95 % Clopper-Pearson interval, and whether a
one-sided test at 5 % rejects "at most delta". Smaller test sets than planned show how much of the
size is slack. Raw reuse and Thresholdout get the same examples and questions. Part 3: drift on a
validation set of 2,000 examples that is guaranteed after k rounds, and the drift that the boosting
attack of Blum and Hardt reaches against full scores and against the Ladder (greatest of the runs).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from common import RESULTS, arguments, machine_line, read_options, write_table
from easeml.figures.overfitting import attacked, round_bounds
from easeml.lifecycle.overfitting import (
    DEVELOPERS,
    Answer,
    Attacked,
    Keeper,
    Ladder,
    Meter,
    Mode,
    Thresholdout,
    attack,
    bounds_after,
    keep_with_meter,
    keep_with_thresholdout,
    keep_without_care,
    ladder_bound,
    plan,
)

EDGES = (0.04, 0.1, 0.16, 0.22)


def write(path: Path, rows: list[dict]) -> None:
    write_table(path, list(rows[0]), [list(row.values()) for row in rows])


def show(title: str, rows: list[dict]) -> None:
    print(f"\n{title}")
    print("  ".join(rows[0]))
    for row in rows:
        print(
            "  ".join(
                f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()
            )
        )


def sizes() -> list[dict]:
    rows = []
    for reports in (1, 10, 30, 100, 300, 1000):
        found = plan(reports=reports)
        own = {f"easeml {option.mode}": option.size for option in found.options}
        changed = plan(reports=reports, changes=1).options[0].size
        good = plan(reports=reports, accuracy=0.9).options[0].size
        published = {
            "non-adaptive": found.non_adaptive,
            "plain": found.plain,
            "monotone": found.monotone,
        }
        rows.append(
            {
                "reports": reports,
                **published,
                **own,
                "easeml coded, one change": changed,
                "easeml coded, accuracy .9": good,
            }
        )
    return rows


def attacks(runs: int, tolerance: float, delta: float, horizons: Sequence[int]) -> list[Attacked]:
    found = []

    def one(
        name: str,
        make: Callable[[np.random.Generator], Keeper],
        examples: int,
        rounds: int,
        developer: str,
    ) -> None:
        found.append(
            attack(
                name,
                make,
                examples=examples,
                rounds=rounds,
                delta=delta,
                developer=developer,
                aim=EDGES[0] + 1.001 * tolerance,
                runs=runs,
                seed=1,
            )
        )

    def meter(examples: int, rounds: int, mode: Mode) -> Callable[[np.random.Generator], Keeper]:
        return lambda rng: keep_with_meter(Meter(examples, EDGES, tolerance, delta, rounds, mode))

    for rounds in horizons:
        planned = {option.mode: option.size for option in plan(5, rounds, tolerance, delta).options}
        for developer in DEVELOPERS:
            for mode, examples in planned.items():
                one(
                    f"easeml {mode} T={rounds} N={examples}",
                    meter(examples, rounds, mode),
                    examples,
                    rounds,
                    developer,
                )
        examples = planned["monotone"]
        name = f"T={rounds} N={examples}"
        one(f"test score {name}", lambda rng, n=examples, k=rounds: keep_without_care(n, k, delta), examples, rounds,
            "sign voter")  # fmt: skip
        one(f"thresholdout ±{tolerance} {name}", lambda rng: keep_with_thresholdout(Thresholdout(rng), tolerance),
            examples, rounds, "sign voter")  # fmt: skip
    return found


def slack(runs: int, tolerance: float, delta: float) -> list[dict]:
    """Claim the tolerance on smaller test sets than planned (the meter itself would refuse)."""
    rows = []
    planned = next(
        option.size for option in plan(5, 20, tolerance, delta).options if option.mode == "plain"
    )
    for share in (1.0, 0.5, 0.25, 0.1, 0.05):
        examples = int(planned * share)
        loose = min(0.99, tolerance / share**0.5 + 0.01)

        def keeper(
            rng: np.random.Generator, examples: int = examples, loose: float = loose
        ) -> Keeper:
            meter = Meter(examples, EDGES, loose, delta, 20, "plain")
            now = meter

            def claim(quality: float, scores: np.ndarray) -> Answer | None:
                nonlocal now
                reading, now = now.read(quality, scores)
                if reading.signal is None:
                    return None
                gap = min(max(reading.low, EDGES[0]), EDGES[-1])
                return Answer(gap, reading.low - tolerance, reading.high + tolerance)

            return claim

        result = attack(
            f"share {share}", keeper, examples=examples, rounds=20, delta=delta, runs=runs, seed=2
        )
        rows.append({"share of planned size": share, "examples": examples, "rate": result.rate, "delta": delta,
                     "rate_low": result.rate_low, "rate_high": result.rate_high})  # fmt: skip
    return rows


def boosting(examples: int, rounds: int, runs: int) -> dict:
    """Greatest distance from the truth that the boosting attack reaches against full scores and the
    Ladder.
    """
    bound, step = ladder_bound(examples, rounds, 0.05)
    free, kept = [], []
    for source in np.random.SeedSequence(7).spawn(runs):
        rng = np.random.default_rng(source)
        right = rng.integers(0, 2, size=(rounds - 1, examples), dtype=np.int8)
        means = right.mean(axis=1)
        free.append(float((right[means > 0.5].mean(axis=0) > 0.5).mean()) - 0.5)
        ladder = Ladder(step)
        shown = np.array([ladder.submit(float(mean)) for mean in means])
        rose = np.flatnonzero(np.diff(shown, prepend=shown[0]) > 0)
        vote = right[[0, *rose]].mean(axis=0)
        final = np.where(vote == 0.5, rng.integers(0, 2, examples), vote > 0.5)
        kept.append(ladder.submit(float(final.mean())) - 0.5)
    return {
        "rounds": rounds,
        "full scores": max(free),
        "ladder": max(kept),
        "ladder bound": bound,
        "ladder step": step,
    }


def main() -> None:
    parser = arguments(__file__, __doc__)
    parser.set_defaults(out=RESULTS / "overfitting")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--delta", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, nargs="+", default=[10, 30], help="of an attack")
    parser.add_argument(
        "--boosts", type=int, nargs="+", default=[10, 50, 200, 500], help="rounds of boosting"
    )
    given = read_options(parser, runs=2, rounds=[3], boosts=[5])
    out = given.out
    print(machine_line("easeml", "numpy"))
    table = sizes()
    show("Test examples (±0.02, delta 0.01, 5 ranges; coded: no change)", table)
    write(out / "sizes.csv", table)
    found = attacks(given.runs, given.tolerance, given.delta, given.rounds)
    rows = []
    for result in found:
        columns = result.to_json()
        del columns["advice"]
        rows.append(columns)
    show(f"Promises under attack (tolerance {given.tolerance:g}, {given.runs} runs)", rows)
    write(out / "attacks.csv", rows)
    rest = slack(given.runs, given.tolerance, given.delta)
    show("The same claim on fewer examples (plain, T=20, sign voter)", rest)
    write(out / "slack.csv", rest)
    bounds = bounds_after(2000, (1, 2, 5, 10, 20, 50, 100, 200, 500))
    print("\nGuaranteed drift on 2,000 validation examples, delta 0.05")
    by_round = bounds.to_frame().pivot(index="answers", columns="rounds", values="±")
    print(by_round.round(3).to_string())
    reached = [boosting(2000, rounds, min(given.runs, 200)) for rounds in given.boosts]
    show("Drift reached by boosting", reached)
    write(out / "boosting.csv", reached)
    figure = attacked([result.to_json() for result in found])
    (out / "attacks.svg").write_text(figure.to_svg(), encoding="utf-8")
    figure = round_bounds(bounds.to_json())
    (out / "rounds.svg").write_text(figure.to_svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
