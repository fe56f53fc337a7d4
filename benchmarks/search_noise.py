"""Should the belief know how few rows qualities are measured on? Searches on validation sets of 4
to 300 rows.

    python benchmarks/search_noise.py [--seeds 100]

A job of 37 candidates of ten models; all are measured on the same rows, of which some are hard for
all models: whether a candidate is right on a row is a threshold on a normal variable of which a
part is common to all candidates, so that their errors correlate as those of the good models of the
four modelpicker workloads (0.43 to 0.65). *As it is*: the belief takes a quality for what it is.
*Variance*: noise grows by (1 - r) / (4 n), the variance of the angle of a share of n rows (Anscombe
1948) less what is common to all, r = 0.5. *Expected best*: also, improvement is counted from the
best expected and not from the best seen quality (Picheny, Wagner, Ginsbourger 2013, section 3.2).
Each rests under an expected improvement of 0.001. Prints the tasks until then and the true loss of
the candidate that looked best, with the 95 % interval of its paired difference to *as it is*.
"""

import csv
from dataclasses import replace

import numpy as np
from scipy.stats import norm

from common import arguments, machine_line, read_options
from easeml.search import (
    Arm,
    Observation,
    SearchState,
    add_job,
    default_prior,
    policy_named,
    settled,
)
from easeml.search.simulator import half_width

MODELS = (
    *("baseline", "logistic", "svm", "random-forest", "lightgbm"),
    *("knn", "naive-bayes", "decision-tree", "extra-trees", "mlp"),
)
KINDS = ("as it is", "variance", "expected best")
COMMON = 0.6  # of what makes a row hard
SHARED = 0.5  # of the noise
TOLERANCE = 0.001


def drawn(seed: int, rows: int) -> tuple[list[Arm], np.ndarray, np.ndarray]:
    """Return candidates with their true qualities and those measured on so many rows."""
    generator = np.random.default_rng(seed)
    effects = generator.normal(0.8, 0.03, len(MODELS))
    effects[0] = 0.55
    arms = [
        Arm(f"{model}-{k}", model, 1.0, (k / 3,))
        for model in MODELS
        for k in range(1 if model == "baseline" else 4)
    ]
    own = np.array([effects[MODELS.index(arm.model)] for arm in arms])
    true = np.clip(own + generator.normal(0, 0.01, len(arms)), 0.05, 0.995)
    hard, luck = generator.normal(size=rows), generator.normal(size=(len(arms), rows))
    right = np.sqrt(COMMON) * hard + np.sqrt(1 - COMMON) * luck < norm.ppf(true)[:, None]
    return arms, true, right.mean(axis=1)


def searched(kind: str, arms: list[Arm], measured: np.ndarray, rows: int) -> list[int]:
    """Return the arms that are run until the job rests."""
    prior, policy, runs = default_prior(arms), policy_named(), []
    if kind != "as it is":
        prior = replace(prior, noise=prior.noise + (1 - SHARED) / (4 * rows))
    state = add_job(SearchState(), "job", "tenant", arms, prior)
    while state.waiting:
        arm = policy.decide(state, 1)[0].arm
        runs.append(arm)
        state = policy.observe(state, Observation("job", arm, float(measured[arm]), 1.0))
        if kind == "expected best":
            job = state.job("job")
            expected = replace(job, best=float(job.posterior.mean[runs].max()))
            state = replace(state, jobs={"job": expected})
        state = settled(state, "job", TOLERANCE)
    return runs


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--seeds", type=int, default=100)
    options = read_options(parser, seeds=1)
    print(machine_line("numpy", "scipy"))
    print(f"{options.seeds} seeds")
    print(f"{'rows':>6}" + "".join(f"{kind + ': tasks, loss':>36}" for kind in KINDS))
    lines: list[list[object]] = []
    for rows in (4, 10, 30, 100, 300):
        tasks, losses = np.zeros((len(KINDS), options.seeds)), np.zeros((len(KINDS), options.seeds))
        for seed in range(options.seeds):
            arms, true, measured = drawn(seed, rows)
            for place, kind in enumerate(KINDS):
                runs = searched(kind, arms, measured, rows)
                tasks[place, seed] = len(runs)
                losses[place, seed] = true.max() - true[runs[int(np.argmax(measured[runs]))]]
                lines.append([rows, kind, seed, len(runs), round(losses[place, seed], 5)])
        cells = f"{tasks[0].mean():>26.1f}{losses[0].mean():>10.4f}"
        for place in (1, 2):
            apart = losses[place] - losses[0]
            told = f"{losses[place].mean():.4f} ({apart.mean():+.4f} +- {float(half_width(apart)):.4f})"
            cells += f"{tasks[place].mean():>8.1f}{told:>28}"
        print(f"{rows:>6}{cells}", flush=True)
    with (options.out / "searches.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["rows", "belief", "seed", "tasks", "loss"])
        writer.writerows(lines)


if __name__ == "__main__":
    main()
