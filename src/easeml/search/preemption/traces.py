"""Tasks that arrive over time, and the cluster they share."""

from dataclasses import dataclass

import numpy as np

from easeml.search.checks import require

PAPER_NODES, PAPER_LOAD = 84, 2.0
_MINUTE = 60.0


@dataclass(frozen=True, eq=False)
class Cluster:
    """``nodes`` equal nodes; resources are told as shares of a node."""

    nodes: int

    def __post_init__(self) -> None:
        require(
            self.nodes >= 1,
            f"{self.nodes} nodes are no cluster.",
            where="nodes",
            remedy="Give at least 1.",
        )


@dataclass(frozen=True, eq=False)
class Tasks:
    """n tasks in the order in which they are submitted.

    ``submit`` (n,) seconds; ``seconds`` (n,) of running, above 0; ``demand`` (n, R) shares of a
    node in [0, 1]; ``interactive`` (n,); ``grace`` (n,) seconds that a suspension takes. Raises
    ``InvalidInput`` where that does not hold.
    """

    submit: np.ndarray
    seconds: np.ndarray
    demand: np.ndarray
    interactive: np.ndarray
    grace: np.ndarray

    def __post_init__(self) -> None:
        columns = (self.submit, self.seconds, self.demand, self.interactive, self.grace)
        lengths = set(map(len, columns))
        require(
            len(lengths) == 1 and 0 not in lengths,
            "There are no tasks, or their columns differ in length.",
            where="tasks",
        )
        numbers = np.column_stack([self.submit, self.seconds, self.demand, self.grace])
        require(
            ((numbers >= 0) & (numbers < np.inf)).all() and (self.seconds > 0).all(),
            "Times and demands must be numbers of at least 0.",
            where="tasks",
        )
        require(
            (self.demand <= 1 + 1e-9).all(),
            "A task asks for more than a node has.",
            where="tasks",
            remedy="Leave it out.",
        )
        require(
            (np.diff(self.submit) >= 0).all(),
            "Tasks must be in the order of their submission.",
            where="tasks",
        )

    def nodes_in_use(self, share: float) -> int:
        """Return how many nodes would do if nobody ever waited.

        ``share`` of the tasks would find them enough on submission.
        """
        times = np.concatenate([self.submit, self.submit + self.seconds])
        steps = np.concatenate([self.demand, -self.demand])
        order = np.argsort(times, kind="stable")
        level = np.cumsum(steps[order], axis=0).max(axis=1)
        on_submission = level[order < len(self.submit)]
        return max(1, int(np.ceil(np.quantile(on_submission, share))))


def paper_tasks(count: int, generator: np.random.Generator, interactive: float = 0.3) -> Tasks:
    """Return tasks like those of Yabuuchi et al. (USENIX OpML 2019).

    They are for 84 nodes of 32 CPUs, 256 GB and 8 GPUs.

    Best-effort tasks run for 30 minutes in the mean (at most 24 hours), interactive ones for 5 (at
    most 30); grace periods last 3 minutes in the mean (at most 20): normal, cut at 0 and at the
    bounds, as are the demands. Where the short paper does not tell a standard deviation or a mean
    demand, it is ours. They are submitted so that under FIFO what runs and waits asks for twice
    what the cluster has: ``replay`` finds those times, so ``submit`` is 0 here.
    """
    urgent = generator.random(count) < interactive
    seconds = np.where(
        urgent,
        _cut(generator, 5 * _MINUTE, 5 * _MINUTE, 30 * _MINUTE, count),
        _cut(generator, 30 * _MINUTE, 60 * _MINUTE, 24 * 60 * _MINUTE, count),
    )
    demand = np.column_stack(
        [
            np.ceil(_cut(generator, 6, 6, 32, count)) / 32,
            np.ceil(_cut(generator, 48, 48, 256, count)) / 256,
            np.floor(_cut(generator, 1.5, 2, 8.99, count)) / 8,
        ]
    )
    return Tasks(
        np.zeros(count),
        seconds,
        demand,
        urgent,
        _cut(generator, 3 * _MINUTE, 3 * _MINUTE, 20 * _MINUTE, count),
    )


def _cut(
    generator: np.random.Generator, mean: float, deviation: float, most: float, count: int
) -> np.ndarray:
    """Return normal draws, drawn again while outside of (0, ``most``].

    The centre is moved so that the mean is right.
    """
    from scipy.optimize import brentq
    from scipy.stats import truncnorm

    def draws(centre: float) -> object:
        return truncnorm(-centre / deviation, (most - centre) / deviation, centre, deviation)

    centre = brentq(lambda at: draws(at).mean() - mean, mean - 20 * deviation, most)  # pyright: ignore
    return np.maximum(draws(float(centre)).rvs(count, random_state=generator), 1e-3)  # pyright: ignore
