"""How long one decision of the default policy takes: what happens when a run ends and its device is
given out again.

A round conditions one job on a result, decides for the free device and notes the start; every
tenant has one job with five results already. The second table gives every job 10 to 1,000,000
observations, of at most 50 arms, before the rounds: their number must not matter. "explained": with
the explanation that the service writes down beside it. Prints milliseconds, with the machine and
the versions.
"""

import time
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from common import arguments, machine_line, read_options
from easeml.search import (
    Arm,
    Observation,
    SearchState,
    add_job,
    default_prior,
    policy_named,
    started,
)
from easeml.search.surrogates.gaussian import exact

MODELS = 20
DISTINCT = 50


def warmed_state(tenants: int, arms: int, generator: np.random.Generator) -> SearchState:
    """Return a state of ``tenants`` jobs of ``arms`` arms, five results each, one prior for all."""
    candidates = [
        Arm(
            f"arm-{i}",
            f"model-{i % MODELS}",
            float(generator.uniform(0.1, 10)),
            tuple(generator.random(4)),
        )
        for i in range(arms)
    ]
    prior, policy, state = default_prior(candidates), policy_named(), SearchState()
    for tenant in range(tenants):
        state = add_job(state, f"job-{tenant}", f"tenant-{tenant}", candidates, prior)
        for arm in generator.choice(arms, 5, replace=False).tolist():
            state = policy.observe(
                state, Observation(f"job-{tenant}", arm, float(generator.random()), 1.0)
            )
    return state


def with_observations(
    state: SearchState, count: int, generator: np.random.Generator
) -> SearchState:
    """Return the state after ``count`` observations of each job in place of those it has, of at
    most 50 arms.
    """
    jobs = {}
    for name, job in state.jobs.items():
        arms = generator.choice(len(job.arms), min(count, DISTINCT), replace=False)
        counts = np.zeros(len(job.arms))
        counts[arms] = count // arms.size
        posterior = exact(job.posterior.prior, counts, counts * generator.random(len(job.arms)))
        jobs[name] = replace(job, posterior=posterior, finished=frozenset(arms.tolist()))
    return replace(state, jobs=MappingProxyType(jobs))


def measure(
    tenants: int, arms: int, devices: int, rounds: int, observations: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return milliseconds of each decision, of each with its explanation, and of each whole round."""
    generator = np.random.default_rng(0)
    policy, state = policy_named(), warmed_state(tenants, arms, generator)
    if observations:
        state = with_observations(state, observations, generator)
    for job in state.jobs.values():
        _ = job.best_rate  # as in a scheduler that has decided before
    running: list[tuple[str, int]] = []
    decisions, explained, whole = [], [], []
    for number in range(rounds + devices):
        begin = time.perf_counter()
        if len(running) == devices:
            job, arm = running.pop(0)
            state = policy.observe(
                state, Observation(job, arm, float(generator.uniform(0.5, 0.9)), 1.0)
            )
        middle = time.perf_counter()
        (decision,) = policy.decide(state, 1)
        decided = time.perf_counter()
        _ = decision.explanation
        told = time.perf_counter()
        running.append((decision.job, decision.arm))
        state = started(state, *running[-1])
        if number >= devices:
            decisions.append(decided - middle)
            explained.append(told - middle)
            whole.append(time.perf_counter() - begin)
    return np.array(decisions) * 1e3, np.array(explained) * 1e3, np.array(whole) * 1e3


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--devices", type=int, default=16)
    parser.add_argument(
        "--observations", type=int, nargs="+", default=[10, 1_000, 100_000, 1_000_000]
    )
    options = read_options(parser, rounds=5, observations=[10, 1_000])
    print(machine_line("numpy", "scipy"))
    print(f"{options.devices} devices, one prior")
    print(f"{'tenants':>8} {'arms':>6}" + _TITLES)
    for tenants in (10, 100):
        for arms in (100, 1000):
            rounds = min(options.rounds, tenants * (arms - 5) - options.devices)
            print(
                f"{tenants:>8} {arms:>6}" + _cells(measure(tenants, arms, options.devices, rounds)),
                flush=True,
            )
    print(f"{'observations':>15}" + _TITLES + "   of each of 100 jobs of 1,000 arms")
    for observations in options.observations:
        found = measure(100, 1000, options.devices, options.rounds, observations)
        print(f"{observations:>15}" + _cells(found), flush=True)


_TITLES = "".join(f"{title:>20}" for title in ("decide: median, p99", "explained", "whole round"))


def _cells(times: tuple[np.ndarray, ...]) -> str:
    return "".join(f"{np.median(one):>11.3f}{np.quantile(one, 0.99):>9.3f}" for one in times)


if __name__ == "__main__":
    main()
