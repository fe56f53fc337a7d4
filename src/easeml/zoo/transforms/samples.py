"""Samples of any schema as numbers: the transform that fits where no other does."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.data import CELLS
from easeml.modules import Context
from easeml.modules.files import load_arrays, load_json, save_arrays, save_json
from easeml.zoo.transforms.cell_columns import cells_of, dim_of, kinds
from easeml.zoo.transforms.graph_features import GraphFeatures
from easeml.zoo.transforms.tensor_features import TensorFeatures

from .images import FittedImages, fit_images, load_images
from .onehot import FittedOneHot, TableOneHot

_FILE = "samples.json"
_PICTURES = {"size": 48, "cells": 4, "small": 8}


@dataclass(frozen=True, slots=True)
class FittedSamples:
    """The parts, each for some columns: single values, pictures, tensors, and all that has
    instances.
    """

    schema_in: dict[str, Any]
    table: FittedOneHot | None
    images: tuple[FittedImages, ...]
    tensors: tuple[tuple[str, TensorFeatures], ...]
    graph: tuple[str, GraphFeatures] | None
    notes: tuple[str, ...] = ()

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Return the features of every row."""
        parts = [] if self.table is None else [self.table.transform(data)]
        parts += [image.transform(data) for image in self.images]
        parts += [tensor.transform(list(cells_of(data, column))) for column, tensor in self.tensors]
        if self.graph is not None:
            column, graph = self.graph
            parts.append(np.stack([graph.transform(cell) for cell in cells_of(data, column)]))
        return np.concatenate(parts, axis=1)

    def save(self, folder: Path) -> None:
        """Write the parts."""
        tensors = [[column, part.rank, part.fill is not None] for column, part in self.tensors]
        document = {
            "schema_in": self.schema_in,
            "table": self.table is not None,
            "images": len(self.images),
            "tensors": tensors,
            "graph": None if self.graph is None else self.graph[0],
        }
        save_json(folder / _FILE, document)
        for name, part in _folders(self.table, self.images):
            (folder / name).mkdir()
            part.save(folder / name)
        fills = {
            f"fill{at}": part.fill
            for at, (_, part) in enumerate(self.tensors)
            if part.fill is not None
        }
        save_arrays(folder / "tensors.npz", **fills)


class Samples:
    """Single values as for tables, pictures as by Images, tensors by their elements or statistics,
    graphs by counts and means."""

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedSamples:
        """Learn each part."""
        found = kinds(schema_in)
        plain = _only(schema_in, [column for column, kind in found.items() if kind not in CELLS])
        table = TableOneHot().fit(data, plain, config, context) if plain["nodes"] else None
        images, tensors, graph = [], [], None
        for column, kind in found.items():
            if kind == "image":
                cells, dim = cells_of(data, column), dim_of(schema_in, column)
                images.append(fit_images(cells, column, kind, dim, _PICTURES))
            elif kind == "tensor":
                learnt = TensorFeatures.learn(
                    list(cells_of(data, column)), dim_of(schema_in, column)
                )
                tensors.append((column, learnt))
            elif kind == "graph":
                graph = column, GraphFeatures.of_schema(schema_in)
        notes = () if table is None else table.notes
        return FittedSamples(dict(schema_in), table, tuple(images), tuple(tensors), graph, notes)

    def load(self, folder: Path) -> FittedSamples:
        """Read what was saved."""
        document = load_json(folder / _FILE)
        fills = load_arrays(folder / "tensors.npz")
        tensors = [
            (column, TensorFeatures(fills[f"fill{at}"] if filled else None, rank))
            for at, (column, rank, filled) in enumerate(document["tensors"])
        ]
        schema_in, column = document["schema_in"], document["graph"]
        return FittedSamples(
            schema_in,
            TableOneHot().load(folder / "table") if document["table"] else None,
            tuple(load_images(folder / f"image-{at}") for at in range(document["images"])),
            tuple(tensors),
            None if column is None else (column, GraphFeatures.of_schema(schema_in)),
        )


def _folders(table: FittedOneHot | None, images: tuple[FittedImages, ...]) -> list[tuple[str, Any]]:
    made: list[tuple[str, Any]] = [] if table is None else [("table", table)]
    return made + [(f"image-{at}", image) for at, image in enumerate(images)]


def _only(schema_in: Mapping[str, Any], columns: list[str]) -> dict[str, Any]:
    nodes = schema_in["nodes"].items()
    kept = {
        name: node
        for name, node in nodes
        if node.get("singleton") and node.get("column", name) in columns
    }
    return {**schema_in, "nodes": kept}
