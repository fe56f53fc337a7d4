"""The search of all tenants as one scheduling problem: values in, values out."""

from easeml.search.arms import Arm
from easeml.search.convergence import Remaining, remaining
from easeml.search.costs import predict_cost
from easeml.search.improvement import expected_improvement
from easeml.search.policies import POLICIES, Decision, Policy, policy_named
from easeml.search.prior import default_prior, learned_prior
from easeml.search.state import (
    Observation,
    SearchJob,
    SearchState,
    add_job,
    observed,
    released,
    remove_job,
    set_active,
    started,
)
from easeml.search.surrogates import Posterior, Prior

__all__ = [
    "POLICIES",
    "Arm",
    "Decision",
    "Observation",
    "Policy",
    "Posterior",
    "Prior",
    "Remaining",
    "SearchJob",
    "SearchState",
    "add_job",
    "default_prior",
    "expected_improvement",
    "learned_prior",
    "observed",
    "policy_named",
    "predict_cost",
    "released",
    "remaining",
    "remove_job",
    "set_active",
    "started",
]
