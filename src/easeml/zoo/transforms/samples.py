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
    """The parts, each for some columns: single values, pictures, tensors, all with instances."""

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
        for column, tensor in self.tensors:
            cells = list(cells_of(data, column))
            parts.append(tensor.transform(cells))

        if self.graph is not None:
            column, graph = self.graph
            rows = list(map(graph.transform, cells_of(data, column)))
            parts.append(np.stack(rows))

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

        fills = {}
        for at, (_, part) in enumerate(self.tensors):
            if part.fill is not None:
                fills[f"fill{at}"] = part.fill
        save_arrays(folder / "tensors.npz", **fills)


class Samples:
    """Samples of any schema.

    Single values are taken as from tables, pictures as by Images, tensors by their elements or
    statistics, graphs by counts and means.
    """

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedSamples:
        """Learn each part."""
        found = kinds(schema_in)
        single = [column for column, kind in found.items() if kind not in CELLS]
        plain = _only(schema_in, single)
        table = TableOneHot().fit(data, plain, config, context) if plain["nodes"] else None

        images = []
        tensors = []
        graph = None
        for column, kind in found.items():
            if kind == "image":
                dim = dim_of(schema_in, column)
                images.append(fit_images(cells_of(data, column), column, kind, dim, _PICTURES))
            elif kind == "tensor":
                cells = list(cells_of(data, column))
                learnt = TensorFeatures.learn(cells, dim_of(schema_in, column))
                tensors.append((column, learnt))
            elif kind == "graph":
                graph = column, GraphFeatures.of_schema(schema_in)

        return FittedSamples(
            dict(schema_in),
            table=table,
            images=tuple(images),
            tensors=tuple(tensors),
            graph=graph,
            notes=() if table is None else table.notes,
        )

    def load(self, folder: Path) -> FittedSamples:
        """Read what was saved."""
        document = load_json(folder / _FILE)
        fills = load_arrays(folder / "tensors.npz")
        tensors = []
        for at, (column, rank, has_fill) in enumerate(document["tensors"]):
            fill = fills[f"fill{at}"] if has_fill else None
            tensors.append((column, TensorFeatures(fill, rank)))

        schema_in = document["schema_in"]
        graph = None
        if document["graph"] is not None:
            graph = (document["graph"], GraphFeatures.of_schema(schema_in))

        images = [load_images(folder / f"image-{at}") for at in range(document["images"])]
        return FittedSamples(
            schema_in,
            table=TableOneHot().load(folder / "table") if document["table"] else None,
            images=tuple(images),
            tensors=tuple(tensors),
            graph=graph,
        )


def _folders(table: FittedOneHot | None, images: tuple[FittedImages, ...]) -> list[tuple[str, Any]]:
    """Return the parts with folders of their own, by the folders' names."""
    made: list[tuple[str, Any]] = []
    if table is not None:
        made.append(("table", table))
    for at, image in enumerate(images):
        made.append((f"image-{at}", image))
    return made


def _only(schema_in: Mapping[str, Any], columns: list[str]) -> dict[str, Any]:
    """Return the schema with the singletons of some columns only."""
    kept = {}
    for name, node in schema_in["nodes"].items():
        column = node.get("column", name)
        if node.get("singleton") and column in columns:
            kept[name] = node
    return {**schema_in, "nodes": kept}
