"""From a trace to what users felt: loss against what was spent, and the clairvoyant limit."""

from typing import NamedTuple

import numpy as np

from easeml.search.simulator.events import Run, Trace
from easeml.search.simulator.workload import Workload

LEVELS = (0.05, 0.02, 0.01, 0.005)
NEAR = 0.01  # loss within which a tenant is served well
_MOST_TENANTS = 0.95


class Curve(NamedTuple):
    """Loss after each run that ended.

    ``share`` of the cost of all runs spent, ``time`` in seconds, ``loss`` (t, n).

    The first row is the start, when every tenant has quality 0: its loss is the best that it can
    reach.
    """

    share: np.ndarray
    time: np.ndarray
    loss: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Average loss (t,) over tenants."""
        return self.loss.mean(axis=1)

    @property
    def area(self) -> float:
        """Area under the average loss from nothing to everything spent."""
        share = np.minimum(self.share, 1.0)
        return float(self.mean[:-1] @ np.diff(share) + self.mean[-1] * (1 - share[-1]))

    def share_to(self, loss: float) -> float:
        """Return the share of the cost from which the average loss is at most ``loss``; else 1."""
        return _first(self.mean <= loss, self.share, 1.0)

    def time_to(self, loss: float) -> float:
        """Return the seconds from which the average loss is at most ``loss``; else infinity."""
        return _first(self.mean <= loss, self.time, np.inf)

    @property
    def share_to_most(self) -> float:
        """The share of the cost from which 95 % of the tenants are near their best; else 1.

        Near is within 0.01.
        """
        near = (self.loss <= NEAR).mean(axis=1)
        return _first(near >= _MOST_TENANTS, self.share, 1.0)

    def at(self, shares: np.ndarray) -> np.ndarray:
        """Return the loss (G, n) at given shares of the cost."""
        return self.loss[np.searchsorted(self.share, shares, side="right") - 1]


def curve(trace: Trace, workload: Workload) -> Curve:
    """Return the losses of a trace.

    What is spent are device seconds, also of runs that have not ended.
    """
    runs = sorted(trace.runs, key=lambda run: run.end)
    starts = np.sort([run.start for run in runs])
    ends = np.array([run.end for run in runs])

    # At each end: the seconds since all starts so far, less those since all ends so far.
    before_start = np.append(0.0, np.cumsum(starts))
    before_end = np.append(0.0, np.cumsum(ends))
    begun = np.searchsorted(starts, ends, side="right")
    ended = np.searchsorted(ends, ends, side="right")
    spent = begun * ends - before_start[begun] - (ended * ends - before_end[ended])
    total = float(workload.cost.sum())
    share = np.append(0.0, np.maximum.accumulate(spent) / total)
    return Curve(share, np.append(0.0, ends), _losses(runs, workload))


def clairvoyant(workload: Workload) -> Curve:
    """Return the losses of a schedule that knows all qualities.

    At each step it runs what gains most per cost.

    One device, no run that gains nothing. It is what no policy without that knowledge can be
    expected to reach.
    """
    quality = np.nan_to_num(workload.quality, nan=-1.0)
    reached = np.zeros(len(quality))
    runs, now = [], 0.0
    while True:
        rates = np.maximum(quality - reached[:, None], 0.0) / workload.cost
        tenant, model = map(int, np.unravel_index(int(np.argmax(rates)), rates.shape))
        if rates[tenant, model] <= 0:
            return curve(Trace(tuple(runs), 0.0), workload)
        end = now + float(workload.cost[tenant, model])
        runs.append(Run(tenant, model, 0, now, end, float(quality[tenant, model])))
        reached[tenant], now = quality[tenant, model], end


def _losses(runs: list[Run], workload: Workload) -> np.ndarray:
    reached = np.zeros((len(runs) + 1, len(workload.tenants)))
    for step, run in enumerate(runs, start=1):
        reached[step, run.tenant] = np.fmax(run.quality, 0.0)  # 0 of a run that failed
    return workload.best - np.maximum.accumulate(reached, axis=0)


def _first(holds: np.ndarray, where: np.ndarray, otherwise: float) -> float:
    return float(where[int(np.argmax(holds))]) if holds.any() else otherwise
