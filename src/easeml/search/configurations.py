"""Configurations of one model: how alike two are, and what past ones say of a new one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from easeml.search.arms import Arm

_LENGTH = 0.3  # of the kernel, in the unit cube of features
_Kind = tuple[str, int]  # model, number of features


def kernel(arms: Sequence[Arm], others: Sequence[Arm]) -> np.ndarray:
    """Return how alike the configurations of ``arms`` and ``others`` are: (N, M), in [0, 1].

    exp(-d^2 / (2 l^2)) for arms of one model, where d is the root mean square distance of their
    features and l = 0.3; 1 for an arm and itself, and 0 where features are unknown or of another
    number.
    """
    found = np.zeros((len(arms), len(others)))
    rows = _by_kind(arms)
    columns = _by_kind(others)
    for kind in rows.keys() & columns.keys():
        _, features = kind
        if not features:
            continue
        points = _features(arms, rows[kind])
        other_points = _features(others, columns[kind])
        near = _rbf(points[:, None] - other_points[None, :])
        found[np.ix_(rows[kind], columns[kind])] = near

    if arms is others:
        np.fill_diagonal(found, 1.0)
    return found


@dataclass(frozen=True, eq=False)
class Past:
    """Past configurations by (model, number of features).

    ``points``: their features (n, d), and how far their quality was from the mean of their model
    (n,). ``weight``: how many of them at distance 0 count as much as knowing nothing.
    """

    points: Mapping[_Kind, tuple[np.ndarray, np.ndarray]]
    weight: float

    @classmethod
    def of(
        cls, runs: Iterable[tuple[str, tuple[float, ...], float]], unit: float, weight: float
    ) -> "Past":
        """Return the past of ``runs``: (model, features, deviation), with deviations in ``unit``."""
        kinds: dict[_Kind, list[tuple[tuple[float, ...], float]]] = {}
        for model, features, deviation in runs:
            kind = (model, len(features))
            kinds.setdefault(kind, []).append((features, deviation / unit))

        points = {}
        for kind, told in kinds.items():
            features, deviations = zip(*told, strict=True)
            points[kind] = (np.array(features), np.array(deviations))
        return cls(points, weight)

    def smoothed(self, arms: Sequence[Arm]) -> np.ndarray:
        """Return the deviation (N,) to expect of each arm.

        It is the mean of its neighbours', shrunk towards 0.
        """
        found = np.zeros(len(arms))
        for kind, places in _by_kind(arms).items():
            if kind not in self.points:
                continue
            points, deviations = self.points[kind]
            near = _rbf(_features(arms, places)[:, None] - points[None, :])
            counted = near.sum(axis=1) + self.weight
            found[places] = near @ deviations / counted
        return found


def _by_kind(arms: Sequence[Arm]) -> dict[_Kind, list[int]]:
    kinds: dict[_Kind, list[int]] = {}
    for place, arm in enumerate(arms):
        kinds.setdefault((arm.model, len(arm.features)), []).append(place)
    return kinds


def _features(arms: Sequence[Arm], places: list[int]) -> np.ndarray:
    return np.array([arms[place].features for place in places])


def _rbf(differences: np.ndarray) -> np.ndarray:
    return np.exp(-np.mean(differences**2, axis=-1) / (2 * _LENGTH**2))
