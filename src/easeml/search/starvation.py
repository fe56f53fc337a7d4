"""How long tenants with something to start have waited, and who has waited too long."""

from collections.abc import Mapping
from typing import NamedTuple

from easeml.search.policies import Policy
from easeml.search.state import SearchState

_SECONDS = 60.0  # that a tenant may wait for in any case
_USUAL_TURNS = 9  # decisions for each waiting tenant, where a policy promises no bound


class Wait(NamedTuple):
    """Since when a tenant waits: the decision after which, and the moment at which it began.

    ``served``: the decision at which it was last served by then, None for never.
    """

    step: int
    moment: float
    served: int | None


def waits(known: Mapping[str, Wait], state: SearchState) -> dict[str, Wait]:
    """Return since when each tenant waits that has something to start.

    ``known``: what was returned for the state before. A wait begins when a tenant comes, when it
    has something to start again, and when it was served.
    """
    found = {}
    for tenant in state.waiting:
        began = Wait(state.step, state.now, state.turns.get(tenant))
        wait = known.get(tenant, began)
        found[tenant] = wait if wait.served == began.served else began
    return found


def starving(waiting: Mapping[str, Wait], state: SearchState, policy: Policy) -> list[str]:
    """Return the tenants that have waited for more decisions than their policy promises.

    Where it promises nothing, that is nine decisions for each tenant that waits. A tenant of p
    times the mean priority may wait for a p-th of them; nobody starves within a minute.
    """
    if not waiting:
        return []
    bound = policy.longest_wait(len(waiting)) or _USUAL_TURNS * len(waiting)
    mean = sum(map(state.priority, waiting)) / len(waiting)
    long = [name for name, wait in waiting.items() if state.now - wait.moment >= _SECONDS]
    found = []
    for tenant in long:
        patience = bound * mean / state.priority(tenant)
        if state.step - waiting[tenant].step > patience:
            found.append(tenant)
    return found
