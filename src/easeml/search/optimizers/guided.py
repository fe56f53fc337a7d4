"""easeml's own optimizer: quasi-random at first, then guided by a surrogate of what was tried."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice, product
from typing import Any

import numpy as np

from easeml.search import spaces
from easeml.search.optimizers.base import Tried, fresh
from easeml.search.optimizers.plain import QuasiRandom, uniform_draw
from easeml.search.spaces import Choice, Config, Number
from easeml.search.surrogates import Posterior, Prior

_FIRST = 4  # results from which the surrogate is asked
_EVEN, _NEAR = 96, 64  # configurations looked at: spread evenly, and near the best ones
_BEST = 3
_STEP = 0.12  # of a number, as a share of its range
_CHANGED = 0.4  # chance that a parameter of a neighbour is changed
_LENGTHS = (0.15, 0.3, 0.6)  # root mean square distance of coordinates
_NOISES = (0.01, 0.1)  # variance, as a share of that of the qualities
_LEAST_SPREAD = 1e-4


class Guided:
    """Expected improvement under a Gaussian process over the configurations tried.

    Proposals are made one after the other. Source: Jones, Schonlau, Welch (1998); the batch
    believes the mean of what it proposed before (Ginsbourger, Le Riche, Carraro, 2010). The kernel
    is exp(-d^2 / (2 l^2)) with d the root mean square distance of the coordinates of
    ``spaces.features``; l and the noise are the likeliest of a few (Rasmussen and Williams, 2006,
    section 5.4). Looked at are evenly spread configurations and neighbours of the best three. The
    first four results are quasi-random.
    """

    name = "guided"

    def propose(
        self, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[Config]:
        """See ``Optimizer``."""
        done = [one for one in tried if one.quality is not None]
        if len(done) < _FIRST:
            return QuasiRandom().propose(space, tried, n, seed)

        generator = np.random.default_rng([seed, len(tried)])
        near = list(islice(_neighbours(space, done, generator), _NEAR))
        even = islice(spaces.draws(space, seed + len(tried)), _EVEN)
        pool = fresh([*near, *even], tried, _NEAR + _EVEN)
        running = [one.config for one in tried if one.quality is None]
        return [pool[place] for place in _chosen(space, done, running, pool, n)]


def _chosen(
    space: Mapping[str, Any],
    done: Sequence[Tried],
    running: Sequence[Config],
    pool: Sequence[Config],
    n: int,
) -> list[int]:
    """Return the places in ``pool`` of the most promising configurations."""
    configs = [*(one.config for one in done), *running, *pool]
    points = np.array([spaces.features(space, config) for config in configs])
    qualities = np.array([one.quality for one in done], dtype=float)
    middle = float(qualities.mean())
    spread = max(float(qualities.std()), _LEAST_SPREAD)
    standard = (qualities - middle) / spread

    length, noise = _likeliest(points[: len(done)], standard)
    belief = Posterior.of(Prior(np.zeros(len(points)), _kernel(points, length), noise))
    for place, value in enumerate(standard.tolist()):
        belief = belief.observe(place, value)
    start = len(done) + len(running)
    belief = belief.believe(range(len(done), start))

    # In standard units 1 is no limit of qualities; what lies above the real one is cut off by hand.
    limit = (1.0 - middle) / spread
    best = float(belief.mean[: len(done)].max())
    chosen: list[int] = []
    while len(chosen) < min(n, len(pool)):
        mean = np.minimum(belief.mean[start:], limit)
        gain = _improvement(mean, belief.variance[start:], best)
        gain[chosen] = -1.0
        place = int(np.argmax(gain))
        chosen.append(place)
        belief = belief.believe([start + place])
    return chosen


def _likeliest(points: np.ndarray, standard: np.ndarray) -> tuple[float, float]:
    """Return the length and the noise under which the standardised qualities are likeliest."""

    def likelihood(pair: tuple[float, float]) -> float:
        length, noise = pair
        return _log_likelihood(_kernel(points, length), standard, noise)

    return max(product(_LENGTHS, _NOISES), key=likelihood)


def _improvement(mean: np.ndarray, variance: np.ndarray, best: float) -> np.ndarray:
    from scipy.special import ndtr

    deviation = np.sqrt(np.maximum(variance, 1e-12))
    u = (mean - best) / deviation
    return deviation * (u * ndtr(u) + np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi))


def _kernel(points: np.ndarray, length: float) -> np.ndarray:
    squares = np.mean((points[:, None, :] - points[None, :, :]) ** 2, axis=2)
    return np.exp(-squares / (2 * length**2))


def _log_likelihood(kernel: np.ndarray, values: np.ndarray, noise: float) -> float:
    lower = np.linalg.cholesky(kernel + noise * np.eye(values.size))
    white = np.linalg.solve(lower, values)
    return float(-0.5 * white @ white - np.log(np.diagonal(lower)).sum())


def _neighbours(
    space: Mapping[str, Any], done: Sequence[Tried], generator: np.random.Generator
) -> Iterator[Config]:
    """Yield the best configurations by turns with some of their parameters changed a little."""
    root = spaces.parse(space)
    best = sorted(done, key=lambda one: -(one.quality or 0.0))[:_BEST]
    known = [spaces.parameters(space, one.config) for one in best]
    for values in cycle(known):
        yield root.build(partial(_changed, values, generator), "")


def _changed(
    values: Mapping[str, tuple[Number | Choice, Any]],
    generator: np.random.Generator,
    path: str,
    parameter: Number | Choice,
) -> Any:
    """Return the value of a parameter, as it is in ``values`` or changed a little."""
    # A parameter of another option is drawn anew.
    if path not in values:
        return uniform_draw(generator, path, parameter)

    _, kept = values[path]
    if isinstance(parameter, Choice):
        is_changed = generator.random() < _CHANGED / 2
        return uniform_draw(generator, path, parameter) if is_changed else kept
    if generator.random() >= _CHANGED:
        return kept
    here = parameter.features(kept)[0]
    there = np.clip(here + generator.normal(0, _STEP), 0.0, 1.0)
    return parameter.at(float(there))


OPTIMIZERS = (Guided(),)
