"""Policies: who is served next, and with which arm."""

from easeml.errors import InvalidInput
from easeml.search.policies.base import Decision, Policy, TakingTurns
from easeml.search.policies.cheapest_first import CheapestFirst
from easeml.search.policies.default import GainPerCost
from easeml.search.policies.ei_per_cost_round_robin import EIPerCostRoundRobin
from easeml.search.policies.expected_improvement import EIRate, MaxMinFair
from easeml.search.policies.gittins import Gittins
from easeml.search.policies.given_order import Fifo, RoundRobin
from easeml.search.policies.gp_ucb import GPUCBRoundRobin
from easeml.search.policies.greedy import Greedy, Hybrid
from easeml.search.policies.popularity import MostCited, MostRecent
from easeml.search.policies.random import Random

__all__ = [
    "DEFAULT",
    "POLICIES",
    "CheapestFirst",
    "Decision",
    "EIPerCostRoundRobin",
    "EIRate",
    "Fifo",
    "GPUCBRoundRobin",
    "GainPerCost",
    "Gittins",
    "Greedy",
    "Hybrid",
    "MaxMinFair",
    "MostCited",
    "MostRecent",
    "Policy",
    "Random",
    "RoundRobin",
    "TakingTurns",
    "policy_named",
]

POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        GainPerCost(),
        EIPerCostRoundRobin(),
        EIRate(),
        Gittins(),
        Hybrid(),
        Greedy(),
        GPUCBRoundRobin(),
        MaxMinFair(),
        MostCited(),
        MostRecent(),
        CheapestFirst(),
        RoundRobin(),
        Random(),
        Fifo(),
    )
}
DEFAULT = GainPerCost.name


def policy_named(name: str = "default") -> Policy:
    """Return the policy called ``name``; ``default`` is easeml's own. Raises ``InvalidInput``."""
    found = POLICIES.get(DEFAULT if name == "default" else name)
    if found is None:
        raise InvalidInput(
            f"There is no policy {name!r}.",
            where="policy",
            remedy=f"Use default or one of: {', '.join(POLICIES)}.",
        )
    return found
