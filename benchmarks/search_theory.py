"""Does the theory hold? Cumulative regret on draws from the prior beside the published bounds, and
SYN(sigma, alpha).

First table: tenants' qualities are drawn from a Gaussian process that the policies know. The
multi-tenant, cost-weighted regret (sum over steps of cost x sum over tenants of best less the
quality last run) is shown beside a bound of the form of Li et al., Ease.ml (PVLDB 2018), theorems 2
and 3, n sqrt(n c* beta_T T I 8 / ln(1 + 1/s2)), with the constant of Srinivas et al. (ICML 2010)
and the information I that the runs really gained; and the simple regret over time beside (MIU(T, K)
+ M) n^2 / M (Yu et al., AISTATS 2019, theorem 1, which holds up to a factor). The regret of the
best so far is sublinear where the exponent of T is below 1. Second table: policies on SYN(sigma,
alpha).
"""

import math

import numpy as np

from common import arguments, machine_line, read_options
from easeml.search import Posterior, Prior, policy_named
from easeml.search.policies.gp_ucb import exploration
from easeml.search.simulator import (
    Curve,
    Scenario,
    Trace,
    Workload,
    curve,
    half_width,
    simulate,
    split,
    synthetic,
)
from easeml.search.table_priors import angular_prior, empirical_prior

NOISE = 1e-4
POLICIES = ("gp-ucb-round-robin", "hybrid", "ei-rate", "default")
SYNTHETIC = ("cheapest-first", *POLICIES)


def drawn(tenants: int, models: int, generator: np.random.Generator) -> tuple[Workload, Prior]:
    """Return qualities drawn from a smooth process over models, with the prior they were drawn
    from.
    """
    places = np.sort(generator.random(models))
    covariance = 0.1**2 * np.exp(
        -((places[:, None] - places[None, :]) ** 2) / (2 * 0.1**2)
    ) + 1e-8 * np.eye(models)
    quality = 0.5 + generator.normal(size=(tenants, models)) @ np.linalg.cholesky(covariance).T
    names = tuple(f"t{i}" for i in range(tenants)), tuple(f"m{k}" for k in range(models))
    cost = generator.uniform(0.05, 1, quality.shape)
    return Workload(np.clip(quality, 0, 1), cost, *names), Prior(
        np.full(models, 0.5), covariance, NOISE
    )


def last_run_regret(trace: Trace, work: Workload) -> np.ndarray:
    """Return the cumulative cost-weighted regret after each step, by the quality of each tenant's
    last run.
    """
    apart = work.best - 0.0
    total, told = 0.0, []
    for run in trace.runs:
        apart[run.tenant] = work.best[run.tenant] - run.quality
        total += (run.end - run.start) * apart.sum()
        told.append(total)
    return np.array(told)


def ucb_bound(trace: Trace, work: Workload, prior: Prior) -> np.ndarray:
    """Return the bound of the paper after each step, with the information that the runs really
    gained.
    """
    beliefs = [Posterior.of(prior)] * len(work.tenants)
    information, runs, told = 0.0, np.zeros(len(work.tenants)), []
    most = float(work.cost.max())
    for step, run in enumerate(trace.runs, start=1):
        belief = beliefs[run.tenant]
        information += 0.5 * math.log1p(float(belief.spread[run.model]) / NOISE)
        beliefs[run.tenant] = belief.observe(run.model, run.quality)
        runs[run.tenant] += 1
        beta = exploration(len(beliefs), len(work.models), int(runs.max()), most)
        constant = 8 / math.log1p(1 / NOISE)
        told.append(
            len(beliefs) * math.sqrt(len(beliefs) * most * beta * step * information * constant)
        )
    return np.array(told)


def incremental_uncertainty(prior: Prior, models: int) -> float:
    """Return MIU: the sum of the largest conditional standard deviations, greedily, over ``models``
    runs.
    """
    belief, total = Posterior.of(prior), 0.0
    for _ in range(models):
        arm = int(np.argmax(belief.spread))
        total += math.sqrt(float(belief.spread[arm]))
        belief = belief.believe([arm])
    return total


def growth(regret: np.ndarray) -> float:
    """Return the exponent of T in the regret over the second half of the steps."""
    steps = np.arange(1, regret.size + 1)
    half = regret.size // 2
    return float(np.polyfit(np.log(steps[half:]), np.log(regret[half:]), 1)[0])


def theory(seeds: int, tenants: int, models: int) -> None:
    """Print the first table.

    Only the first half of all runs counts: later, every policy must take what is left.
    """
    print(
        f"\n{tenants} tenants x {models} models from the prior, {seeds} draws, first half of the runs"
    )
    print(
        f"{'policy':<20}{'regret':>10}{'bound':>12}{'largest ratio':>15}{'exponent of T':>15}{'simple/(MIU+1)n^2':>19}"
    )
    for name in POLICIES:
        regrets, bounds, ratios, exponents, simple = [], [], [], [], []
        for seed in range(seeds):
            work, prior = drawn(tenants, models, np.random.default_rng(seed))
            trace = simulate(work, policy_named(name), prior)
            half = len(trace.runs) // 2
            regret, bound = (
                last_run_regret(trace, work)[:half],
                ucb_bound(trace, work, prior)[:half],
            )
            told = curve(trace, work)
            integral = float(told.loss.sum(axis=1)[:-1] @ np.diff(told.time))
            regrets.append(regret[-1])
            bounds.append(bound[-1])
            ratios.append((regret / bound).max())
            exponents.append(
                growth(
                    np.cumsum(told.loss.sum(axis=1)[1 : half + 1] * np.diff(told.time[: half + 1]))
                )
            )
            simple.append(integral / ((incremental_uncertainty(prior, models) + 1) * tenants**2))
        print(
            f"{name:<20}{np.mean(regrets):>10.2f}{np.mean(bounds):>12.1f}{np.max(ratios):>15.3f}"
            f"{np.mean(exponents):>15.2f}{np.mean(simple):>19.4f}"
        )


def synthetic_table(seeds: int) -> None:
    """Print the second table: area under the loss, cost to two losses, and the difference to the
    default.
    """
    print(
        f"\nSYN(sigma, alpha): 10 tenants of 110 x 100 models, {seeds} draws; area under the average loss, cost to a "
        "loss of 0.02 and 0.005,\narea less that of the default with its 95 % interval (paired, not corrected)"
    )
    for sigma, alpha in ((0.01, 0.1), (0.01, 1.0), (0.5, 0.1), (0.5, 1.0)):
        told = {
            name: [synthetic_curve(name, sigma, alpha, seed) for seed in range(seeds)]
            for name in SYNTHETIC
        }
        areas = {name: np.array([each.area for each in curves]) for name, curves in told.items()}
        for name, curves in told.items():
            first, second = (
                100 * np.mean([each.share_to(level) for each in curves]) for level in (0.02, 0.005)
            )
            line = f"SYN({sigma}, {alpha}) {name:<20}{areas[name].mean():>10.5f}{first:>9.2f} %{second:>9.2f} %"
            apart = areas[name] - areas["default"]
            half = float(half_width(apart)) if seeds > 1 and name != "default" else 0.0
            print(line + (f"{apart.mean():>+11.5f} +- {half:.5f}" if half else ""), flush=True)


def synthetic_curve(name: str, sigma: float, alpha: float, seed: int) -> Curve:
    """Return how the loss of 10 tenants falls under a policy that learned from 100 others."""
    generator = np.random.default_rng(seed)
    past, work = split(synthetic(sigma, alpha, generator, tenants=110), 10, generator)
    prior = angular_prior(past) if name == "default" else empirical_prior(past)
    return curve(simulate(work, policy_named(name), prior, Scenario(until_best=True)), work)


def main() -> None:
    """Print both tables."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tenants", type=int, default=5)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--synthetic-seeds", type=int, default=2)
    options = read_options(parser, seeds=1, tenants=2, models=5, synthetic_seeds=0)
    print(machine_line("numpy"))
    if options.seeds:
        theory(options.seeds, options.tenants, options.models)
    if options.synthetic_seeds:
        synthetic_table(options.synthetic_seeds)


if __name__ == "__main__":
    main()
