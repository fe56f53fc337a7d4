"""What every policy must keep, as checks that any policy can be run through.

``check(policy)`` plays small random searches (fixed seeds); an ``AssertionError`` says what was
broken, and where.
"""

import json

import numpy as np

from easeml.search.arms import Arm
from easeml.search.policies.base import Decision, Policy
from easeml.search.prior import default_prior
from easeml.search.state import Observation, SearchState, add_job, released, set_active, started

_MODELS = ("baseline", "logistic", "random-forest", "lightgbm")


def check(policy: Policy, *, seeds: int = 5, steps: int = 60) -> None:
    """Play ``seeds`` searches of ``steps`` rounds with 1 to 4 free devices.

    Runs fail and are cancelled, and jobs rest. What the policy says of the longest wait of a tenant
    is held against it.
    """
    check_nothing_to_do(policy)
    for seed in range(seeds):
        check_played(policy, seed, steps)
        check_starvation(policy, seed)


def check_nothing_to_do(policy: Policy) -> None:
    """No jobs, no devices, or no arms: no decisions."""
    assert policy.decide(SearchState(), 4) == [], f"{policy.name}: decides without jobs"
    state = random_state(0, tenants=1)
    assert policy.decide(state, 0) == [], f"{policy.name}: decides without devices"
    for job in state.jobs:
        state = set_active(state, job, False)
    assert policy.decide(state, 4) == [], f"{policy.name}: decides for jobs that rest"


def check_played(policy: Policy, seed: int, steps: int) -> None:
    """Every decision is allowed, deterministic and explained.

    States are left alone, and at last every arm was run.
    """
    generator = np.random.default_rng(seed)
    state = random_state(seed, tenants=4)

    for step in range(steps):
        where = f"{policy.name}, seed {seed}, step {step}"
        free = int(generator.integers(1, 5))

        before = _picture(state)
        decisions = policy.decide(state, free)
        assert before == _picture(state), f"{where}: changed the state"

        again = policy.decide(state, free)
        assert decisions == again, f"{where}: decides differently when asked again"
        _check_allowed(policy, state, decisions, free, where)

        for decision in decisions:
            state = started(state, decision.job, decision.arm)
        state = _happen(policy, state, generator)

    state = _finish(policy, state)
    left = [job.name for job in state.jobs.values() if job.untried.size]
    assert not left, f"{policy.name}, seed {seed}: never tried all arms of {left}"


def check_starvation(policy: Policy, seed: int, tenants: int = 5) -> None:
    """Every tenant with something to start is served within the promised number of decisions.

    One has many more jobs than the others, and no run ever gains anything.
    """
    bound = policy.longest_wait(tenants)
    if bound is None:
        return

    state = random_state(seed, tenants=tenants)
    arms = _arms(8)
    for extra in range(10):
        state = add_job(state, f"more-{extra}", "tenant-0", arms, default_prior(arms))

    unserved = dict.fromkeys(state.waiting, 0)
    while state.waiting:
        decision = policy.decide(state, 1)[0]
        served = state.job(decision.job).tenant
        quality = 0.9 if served == "tenant-0" else 0.1
        ended = Observation(decision.job, decision.arm, quality, 1.0)
        state = policy.observe(started(state, decision.job, decision.arm), ended)

        unserved = {tenant: unserved.get(tenant, 0) + 1 for tenant in state.waiting}
        if served in unserved:
            unserved[served] = 0
        starved = [tenant for tenant, turns in unserved.items() if turns >= bound]
        assert not starved, (
            f"{policy.name}, seed {seed}: {starved} not served within {bound} decisions"
        )


def random_state(seed: int, tenants: int) -> SearchState:
    """Return a state of 1 to 3 jobs a tenant, of 1 to 12 arms each, without any run."""
    generator = np.random.default_rng(seed)
    state = SearchState()
    for tenant in range(tenants):
        for number in range(int(generator.integers(1, 4))):
            count = 12 if number == 0 else int(generator.integers(1, 12))
            arms = _arms(count)
            name = f"job-{tenant}-{number}"
            state = add_job(state, name, f"tenant-{tenant}", arms, default_prior(arms))
    return state


def _arms(count: int) -> list[Arm]:
    arms = []
    for number in range(count):
        model = _MODELS[number % len(_MODELS)]
        cost = 0.5 * (number % 5)
        features = (number / count,)
        arms.append(Arm(f"arm-{number}", model, cost, features))
    return arms


def _check_allowed(
    policy: Policy, state: SearchState, decisions: list[Decision], free: int, where: str
) -> None:
    assert len(decisions) <= free, f"{where}: {len(decisions)} decisions for {free} devices"
    startable = sum(job.startable.size for job in state.jobs.values())
    assert len(decisions) == min(free, startable), f"{where}: leaves a device idle while arms wait"

    chosen = [(decision.job, decision.arm) for decision in decisions]
    assert len(set(chosen)) == len(chosen), f"{where}: starts an arm twice"

    for decision in decisions:
        arm = f"{where}: job {decision.job}, arm {decision.arm}"
        allowed = state.job(decision.job).startable
        assert decision.arm in allowed, f"{arm}: under way, ended, failed or at rest"
        assert decision.policy == policy.name, f"{arm}: decided in another policy's name"
        told = json.loads(json.dumps(decision.explanation, allow_nan=False))
        assert told == decision.explanation, f"{arm}: the explanation is not plain JSON"


def _happen(policy: Policy, state: SearchState, generator: np.random.Generator) -> SearchState:
    """Let some runs end, fail or be cancelled, and some jobs rest or wake."""
    for job in list(state.jobs.values()):
        for arm in job.running:
            fate = generator.random()
            if fate < 0.5:
                ended = Observation(job.name, arm, float(generator.random()), job.arms[arm].cost)
                state = policy.observe(state, ended)
            elif fate < 0.6:
                state = policy.observe(state, Observation(job.name, arm, None, 0.1))
            elif fate < 0.7:
                state = released(state, job.name, arm)
        state = set_active(state, job.name, generator.random() < 0.9)
    return state


def _finish(policy: Policy, state: SearchState) -> SearchState:
    """Run everything that is left, one run after the other."""
    for job in list(state.jobs.values()):
        state = set_active(state, job.name, True)
        for arm in job.running:
            state = policy.observe(state, Observation(job.name, arm, 0.5, 1.0))
    for _ in range(sum(len(job.arms) for job in state.jobs.values())):
        for decision in policy.decide(state, 1):
            state = policy.observe(state, Observation(decision.job, decision.arm, 0.5, 1.0))
    return state


def _picture(state: SearchState) -> object:
    """Return what a policy must leave as it was."""
    jobs = []
    for job in state.jobs.values():
        runs = (job.name, job.active, job.running, job.finished, job.failed, job.best)
        belief = job.posterior
        arrays = [belief.mean.tobytes(), belief.variance.tobytes(), belief.factor.tobytes()]
        jobs.append((runs, arrays))
    return jobs, dict(state.turns), state.step
