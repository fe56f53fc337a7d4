"""Policies: who is served next, and with which arm.

Each is declared in ``POLICIES`` of a file here, or of a file that an entry point of the group
``easeml.policies`` names.
"""

from functools import cache

from easeml.search.installed import Installed, find_installed
from easeml.search.policies.base import Decision, OneByOne, Policy, Scored, TakingTurns, decided

__all__ = [
    "DEFAULT",
    "Decision",
    "OneByOne",
    "Policy",
    "Scored",
    "TakingTurns",
    "decided",
    "installed_policies",
    "policy_named",
]

DEFAULT = "gain-per-cost"


@cache
def installed_policies() -> Installed[Policy]:
    """Return every policy that is installed; looked for once a process."""
    return find_installed("policy", DEFAULT, __name__, "easeml.policies", "POLICIES")


def policy_named(name: str = "default") -> Policy:
    """Return the policy called ``name``; ``default`` is easeml's own. Raises ``InvalidInput``."""
    return installed_policies().named(name)
