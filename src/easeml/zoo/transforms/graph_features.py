"""Numbers of a graph: how many instances and links, their fields, and two rounds of what neighbours
hold.

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
    """What the nodes with instances of an input schema hold: ``fields`` by node, and kinds of
    ``links``.
    """

    fields: Mapping[
        str, Mapping[str, int | list[str]]
    ]  # the width of a tensor, or the labels of a category
    links: tuple[tuple[str, str], ...]

    @classmethod
    def of_schema(cls, schema_in: Mapping[str, Any]) -> "GraphFeatures":
        """Read the JSON form of an input schema."""
        groups = {
            name: node for name, node in schema_in["nodes"].items() if not node.get("singleton")
        }
        classes = schema_in.get("classes", {})
        fields = {
            name: {
                field: prod(held["dim"])
                if held["type"] == "tensor"
                else list(classes[held["class"]]["labels"])
                for field, held in node.get("fields", {}).items()
            }
            for name, node in groups.items()
        }
        links = [
            (name, target) for name, node in groups.items() for target in node.get("links", {})
        ]
        return cls(fields, tuple(links))

    def transform(self, graph: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the features of a graph, as many for every graph of the schema."""
        held = {name: self._instances(name, graph[name]) for name in self.fields}
        ends = self._ends(graph[_LINKS], held)
        parts = [np.concatenate([[float(len(rows))], *_pooled(rows)]) for rows in held.values()]
        for (start, target), (i, j) in ends.items():
            parts += [_counts(i, len(held[start])), _counts(j, len(held[target]))]
        first = self._neighbours(held, ends)
        for name, rows in held.items():
            parts += _pooled(first[name])[:2] if len(rows) else [np.zeros(2 * first[name].shape[1])]
            if rows.shape[1] * first[name].shape[1] <= _MOST_PRODUCTS:
                pairs = rows.T @ first[name] / max(1, len(rows))
                parts.append(pairs.reshape(-1))
        if max(rows.shape[1] for rows in first.values()) <= _MOST_WIDTH:
            second = self._neighbours(first, ends)
            parts += [
                rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1])
                for rows in second.values()
            ]
        return np.concatenate(parts)

    def _instances(self, name: str, values: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return what the instances of a node hold: (instances, numbers and indicators of labels);
        NaN counts as 0.
        """
        count = len(next(iter(values.values()), ()))
        parts: list[NDArray[np.float64]] = []
        for field, held in self.fields[name].items():
            if isinstance(held, int):
                parts.append(
                    np.nan_to_num(np.asarray(values[field], np.float64)).reshape(count, held)
                )
            else:
                known = np.array(
                    [held.index(label) if label in held else -1 for label in values[field]],
                    dtype=int,
                )
                parts.append((known[:, None] == np.arange(len(held))).astype(np.float64))
        return np.concatenate(parts, axis=1) if parts else np.zeros((count, 0))

    def _ends(
        self, links: Any, held: _Held
    ) -> dict[tuple[str, str], tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return for each kind of link where its links start and where they end."""
        if links is None:
            links = [
                (name, i, name, i + 1) for name, rows in held.items() for i in range(len(rows) - 1)
            ]
        made: dict[tuple[str, str], list[tuple[int, int]]] = {kind: [] for kind in self.links}
        for start, i, end, j in links:
            made[start, end].append((i, j))
        pairs = {
            kind: np.array(found, dtype=np.intp).reshape(-1, 2) for kind, found in made.items()
        }
        return {kind: (found[:, 0], found[:, 1]) for kind, found in pairs.items()}

    def _neighbours(self, held: _Held, ends: Mapping[tuple[str, str], tuple[Any, Any]]) -> _Held:
        """Return for each instance the means of those it links to, and of those that link to it, by
        kind of link.
        """
        made: dict[str, list[NDArray[np.float64]]] = {
            name: [np.zeros((len(rows), 0))] for name, rows in held.items()
        }
        for (start, target), (i, j) in ends.items():
            made[start].append(_means(i, held[target][j], len(held[start])))
            made[target].append(_means(j, held[start][i], len(held[target])))
        return {name: np.concatenate(parts, axis=1) for name, parts in made.items()}


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
