"""easeml's own default."""

from collections.abc import Callable
from operator import attrgetter

from easeml.search.jobs import SearchJob
from easeml.search.policies.base import (
    Decision,
    OneByOne,
    Scored,
    decided,
    never_run,
    waiting_jobs,
)
from easeml.search.policies.expected_improvement import RULE
from easeml.search.state import SearchState

_PATIENCE = 8  # turns that others may have for each of a tenant's own
LONGEST_WAIT = "the tenant has waited longest"
NEWCOMER = "the tenant is new and was never served"
_BEST_RATE = attrgetter("best_gain_rate")
_FIRST = "jobs without any run first, expected quality per device second"


class GainPerCost(OneByOne):
    """The run of any tenant with the highest expected gain per device second.

    The seconds are those of the run and of handing it over: see ``SearchJob.overhead``.
    Gains are weighed by the tenant's priority. The expected gain is the expected improvement over
    the best quality of its job, which is 0 before the first run, less what such expectations turned
    out to promise too much: see ``SearchJob.gains``. A job without any run comes first:
    nobody gets a better model while somebody has none. For tenants that do not touch each other,
    spending each device second where the gain per second is highest is optimal as far as one run
    looks ahead (for known gains: Smith's rule, 1956). What makes it better than ``EIRate`` is the
    belief: see ``easeml.search.learned_prior``.

    Starvation bound: among n tenants of equal priority with something to start, each is served
    within any 9 n decisions; one that has waited for 8 n decisions comes next, the longest wait
    first. A tenant of p times the mean priority waits for 8 n / p decisions.
    """

    name = "gain-per-cost"
    own_prior = True

    def next(self, state: SearchState) -> Decision:
        """See ``OneByOne``."""
        best, rule = _chosen(state)
        return decided(self.name, state, [Scored(best, best.startable, best.gain_rates, rule)])

    def longest_wait(self, tenants: int) -> int | None:
        """See ``Policy``."""
        return (_PATIENCE + 1) * tenants


def _chosen(state: SearchState) -> tuple[SearchJob, str]:
    """Return the job that is served next, and by which rule."""
    overdue = _overdue(state)
    if overdue is not None:
        rule = LONGEST_WAIT if overdue in state.turns else NEWCOMER
        return max(state.waiting[overdue], key=_BEST_RATE), rule

    jobs = waiting_jobs(state)
    fresh = never_run(jobs)
    if fresh:
        return max(fresh, key=_weighed(state)), _FIRST
    return max(jobs, key=_weighed(state)), RULE


def _weighed(state: SearchState) -> Callable[[SearchJob], float]:
    if not state.terms:
        return _BEST_RATE
    return lambda job: job.best_gain_rate * state.priority(job.tenant)


def _overdue(state: SearchState) -> str | None:
    """Return the tenant that must be served now, if any."""
    # Those that wait are in the order in which they are due.
    tenant = next(iter(state.waiting))
    total = sum(map(state.priority, state.waiting)) if state.terms else len(state.waiting)
    waited = state.step - state.turns.get(tenant, 0)
    patience = _PATIENCE * total / state.priority(tenant)
    return tenant if waited >= patience else None


POLICIES = (GainPerCost(),)
