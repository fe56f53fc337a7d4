"""Numbers of a graph: counts of instances and links, their fields, and what neighbours hold.

Neighbours are looked at in two rounds.

The rounds are those of message passing with means and without weights (W. Hamilton, R. Ying and J.
Leskovec, Inductive representation learning on large graphs, NeurIPS 2017, algorithm 1, with a mean
aggregator); products of an instance's fields with its neighbours' count pairs of labels, as a step
of Weisfeiler and Lehman does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LINKS = "links"
_MOST_PRODUCTS = 400
_MOST_WIDTH = 512  # of what an instance holds after a round

_Held = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class GraphFeatures:
    """What the nodes with instances of an input schema hold.

    ``fields``: by node and field the width of a tensor, or the labels of a category. ``links``:
    the kinds of links, each from a node to a node.
    """

    fields: Mapping[str, Mapping[str, int | list[str]]]
    links: tuple[tuple[str, str], ...]

    @classmethod
    def of_schema(cls, schema_in: Mapping[str, Any]) -> "GraphFeatures":
        """Read the JSON form of an input schema."""
        classes = schema_in.get("classes", {})
        fields = {}
        links = []
        for name, node in schema_in["nodes"].items():
            if node.get("singleton"):
                continue
            fields[name] = _held_by(node, classes)
            links += [(name, target) for target in node.get("links", {})]
        return cls(fields, tuple(links))

    def transform(self, graph: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the features of a graph, as many for every graph of the schema."""
        held = {name: self._instances(name, graph[name]) for name in self.fields}
        ends = self._ends(graph[_LINKS], held)
        parts = []
        for rows in held.values():
            parts += [np.array([float(len(rows))]), *_pooled(rows)]
        for (start, target), (i, j) in ends.items():
            parts.append(_counts(i, len(held[start])))
            parts.append(_counts(j, len(held[target])))

        first = self._neighbours(held, ends)
        for name, rows in held.items():
            parts += self._beside_neighbours(rows, first[name])

        widest = max(rows.shape[1] for rows in first.values())
        if widest <= _MOST_WIDTH:
            second = self._neighbours(first, ends)
            parts += list(map(_mean, second.values()))
        return np.concatenate(parts)

    def _beside_neighbours(
        self, rows: NDArray[np.float64], neighbours: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        """Return mean and deviation of what neighbours hold, and products with the own fields."""
        if len(rows):
            parts = _pooled(neighbours)[:2]
        else:
            parts = [np.zeros(2 * neighbours.shape[1])]

        products = rows.shape[1] * neighbours.shape[1]
        if products <= _MOST_PRODUCTS:
            pairs = rows.T @ neighbours / max(1, len(rows))
            parts.append(pairs.reshape(-1))
        return parts

    def _instances(self, name: str, values: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return what the instances of a node hold: (instances, numbers and indicators of labels).

        NaN counts as 0.
        """
        count = len(next(iter(values.values()), ()))
        parts = [np.zeros((count, 0))]
        for field, held in self.fields[name].items():
            if isinstance(held, int):
                numbers = np.asarray(values[field], np.float64)
                parts.append(np.nan_to_num(numbers).reshape(count, held))
                continue

            places = {label: place for place, label in enumerate(held)}
            known = np.array([places.get(label, -1) for label in values[field]], dtype=int)
            indicators = known[:, None] == np.arange(len(held))
            parts.append(indicators.astype(np.float64))
        return np.concatenate(parts, axis=1)

    def _ends(
        self, links: Any, held: _Held
    ) -> dict[tuple[str, str], tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return for each kind of link where its links start and where they end."""
        if links is None:
            links = _chains(held)

        made: dict[tuple[str, str], list[tuple[int, int]]] = {kind: [] for kind in self.links}
        for start, i, end, j in links:
            made[start, end].append((i, j))

        ends = {}
        for kind, found in made.items():
            pairs = np.array(found, dtype=np.intp).reshape(-1, 2)
            ends[kind] = (pairs[:, 0], pairs[:, 1])
        return ends

    def _neighbours(self, held: _Held, ends: Mapping[tuple[str, str], tuple[Any, Any]]) -> _Held:
        """Return for each instance the means of those it links to, and of those that link to it.

        They stand side by side, by kind of link.
        """
        made: dict[str, list[NDArray[np.float64]]] = {}
        for name, rows in held.items():
            made[name] = [np.zeros((len(rows), 0))]
        for (start, target), (i, j) in ends.items():
            made[start].append(_means(i, held[target][j], len(held[start])))
            made[target].append(_means(j, held[start][i], len(held[target])))
        return {name: np.concatenate(parts, axis=1) for name, parts in made.items()}


def _held_by(node: Mapping[str, Any], classes: Mapping[str, Any]) -> dict[str, int | list[str]]:
    """Return the width of each tensor, and the labels of each category, of a node."""
    held: dict[str, int | list[str]] = {}
    for name, field in node.get("fields", {}).items():
        if field["type"] == "tensor":
            held[name] = prod(field["dim"])
        else:
            held[name] = list(classes[field["class"]]["labels"])
    return held


def _chains(held: _Held) -> list[tuple[str, int, str, int]]:
    """Return links from each instance to the next, for a graph that says nothing of links."""
    links = []
    for name, rows in held.items():
        for place in range(len(rows) - 1):
            links.append((name, place, name, place + 1))
    return links


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(rows) == 0:
        return np.zeros(rows.shape[1])
    return rows.mean(axis=0)


def _pooled(rows: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    if len(rows) == 0:
        return [np.zeros(4 * rows.shape[1])]
    return [rows.mean(axis=0), rows.std(axis=0), rows.min(axis=0), rows.max(axis=0)]


def _counts(ends: NDArray[np.intp], instances: int) -> NDArray[np.float64]:
    """Return number of links, and mean, deviation and largest number at an instance."""
    degrees = np.bincount(ends, minlength=max(1, instances))
    return np.array([len(ends), degrees.mean(), degrees.std(), degrees.max()], dtype=np.float64)


def _means(
    at: NDArray[np.intp], values: NDArray[np.float64], instances: int
) -> NDArray[np.float64]:
    total = np.zeros((instances, values.shape[1]))
    np.add.at(total, at, values)
    return total / np.maximum(np.bincount(at, minlength=instances), 1)[:, None]
