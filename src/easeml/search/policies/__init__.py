"""Policies: who is served next, and with which arm."""

from easeml.errors import InvalidInput
from easeml.search.policies.base import Decision, Policy, TakingTurns
from easeml.search.policies.cheapest_first import CheapestFirst
from easeml.search.policies.ei_per_cost_round_robin import EIPerCostRoundRobin
from easeml.search.policies.random import Random

__all__ = [
    "POLICIES",
    "CheapestFirst",
    "Decision",
    "EIPerCostRoundRobin",
    "Policy",
    "Random",
    "TakingTurns",
    "policy_named",
]

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (EIPerCostRoundRobin(), Random(), CheapestFirst())}
DEFAULT = EIPerCostRoundRobin.name


def policy_named(name: str = DEFAULT) -> Policy:
    """Return the policy called ``name``; ``default`` is the default one. Raises ``InvalidInput``."""
    found = POLICIES.get(DEFAULT if name == "default" else name)
    if found is None:
        raise InvalidInput(
            f"There is no policy {name!r}.", where="policy", remedy=f"Use one of: {', '.join(POLICIES)}."
        )
    return found
