"""The search of all tenants as one scheduling problem: values in, values out."""

from easeml.search.arms import Arm
from easeml.search.convergence import Remaining, remaining, settled
from easeml.search.costs import (
    CostBelief,
    CostModel,
    Costs,
    Work,
    hinted_cost,
    learn_costs,
    most_telling,
)
from easeml.search.evidence import learned_beside
from easeml.search.improvement import expected_improvement
from easeml.search.jobs import Budget, SearchJob, Terms
from easeml.search.policies import (
    Decision,
    Policy,
    installed_policies,
    policy_named,
)
from easeml.search.prior import (
    Learned,
    PastRun,
    default_prior,
    learned,
    learned_prior,
    worth_learning,
)
from easeml.search.promising import models_to_extend
from easeml.search.state import (
    Observation,
    SearchState,
    add_arms,
    add_job,
    observed,
    released,
    remember,
    remove_job,
    renew_job,
    set_active,
    set_budget,
    set_costs,
    set_deadline,
    set_now,
    set_prior,
    set_resting,
    set_terms,
    started,
)
from easeml.search.surrogates import Posterior, Prior, Scales

__all__ = [
    "Arm",
    "Budget",
    "CostBelief",
    "CostModel",
    "Costs",
    "Decision",
    "Learned",
    "Observation",
    "PastRun",
    "Policy",
    "Posterior",
    "Prior",
    "Remaining",
    "Scales",
    "SearchJob",
    "SearchState",
    "Terms",
    "Work",
    "add_arms",
    "add_job",
    "default_prior",
    "expected_improvement",
    "hinted_cost",
    "installed_policies",
    "learn_costs",
    "learned",
    "learned_beside",
    "learned_prior",
    "models_to_extend",
    "most_telling",
    "observed",
    "policy_named",
    "released",
    "remaining",
    "remember",
    "remove_job",
    "renew_job",
    "set_active",
    "set_budget",
    "set_costs",
    "set_deadline",
    "set_now",
    "set_prior",
    "set_resting",
    "set_terms",
    "settled",
    "started",
    "worth_learning",
]
