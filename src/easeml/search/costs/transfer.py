"""Which few runs on a new device kind teach most about the costs of all others there.

For those who use the library (``benchmarks/search_costs.py`` measures it). The service learns a new
kind from the runs that its searches choose, and chooses none for what it teaches of costs.
"""

from collections.abc import Sequence

import numpy as np

from easeml.search.costs.model import CostModel, Feature, Work, features_of


def most_telling(model: CostModel, works: Sequence[Work], count: int) -> list[int]:
    """Return which of ``works`` to measure, in order, to learn the costs of all of them.

    These are at most ``count`` indices.

    Each is the one whose measurement takes most from the summed variance of all logarithmic costs
    (A-optimal design, greedily: Krause, Singh, Guestrin, JMLR 2008; guided sampling of Iqbal et
    al., Transfer learning for performance modeling of deep neural network systems, USENIX OpML
    2019, chooses by the regression of the source environment likewise). ``works`` should name the
    new device: what is unknown of it is what there is to learn. O(count n^2 + n D^2) for n works
    and D features.
    """
    design, covariance = _with_unseen(model, works)
    between = design @ covariance @ design.T
    chosen: list[int] = []
    for _ in range(min(count, len(works))):
        own = np.diagonal(between) + model.noise
        gain = (between * between).sum(axis=1) / own
        gain[chosen] = -1.0
        best = int(np.argmax(gain))
        chosen.append(best)
        between = between - np.outer(between[best], between[best]) / own[best]
    return chosen


def _with_unseen(model: CostModel, works: Sequence[Work]) -> tuple[np.ndarray, np.ndarray]:
    """Return the features (n, D) of some works and the covariance of their weights.

    Works that were never seen have features of their own.
    """
    size = model.mean.size
    known = model.lines_of(works).design(size)
    features = [dict(features_of(work)) for work in works]
    new = set[Feature]().union(*features).difference(model.places)
    places = {feature: place for place, feature in enumerate(sorted(new))}
    extra = np.zeros((len(works), len(places)))
    for row, of_work in enumerate(features):
        for feature in new.intersection(of_work):
            extra[row, places[feature]] = of_work[feature]

    covariance = np.zeros((size + len(places),) * 2)
    covariance[:size, :size] = model.covariance
    np.fill_diagonal(covariance[size:, size:], [model.variances[name] for name, *_ in places])
    return np.hstack([known, extra]), covariance
