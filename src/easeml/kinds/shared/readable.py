"""Inputs as tools see them that call no model: numbers in place of pictures, series and graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from easeml.data import Declared

_COMPONENTS = 20  # columns that stand for all cells beside other columns


def readable(version: Declared, frame: Any) -> Any:
    """Return a frame of inputs with numbers in place of cells that hold many values.

    They are those that models of tables see (``sample-features``), which look at no answers. Where
    there are only such cells, that is a matrix (rows, features); beside other columns, their
    principal components.
    """
    import numpy as np
    import pandas as pd

    from easeml.data import CELLS, kinds_of

    columns = [name for name, kind in kinds_of(version.schema_in).items() if kind in CELLS]
    if not columns:
        return frame
    features = _features(version, frame, columns)
    others = frame.drop(columns=columns)
    if others.columns.empty:
        return features
    spread = features - features.mean(axis=0)
    left, sizes, _ = np.linalg.svd(spread, full_matrices=False)
    components = (left * sizes)[:, :_COMPONENTS]
    made = pd.DataFrame(components, index=frame.index).add_prefix("component ")
    return others.join(made)


def _features(version: Declared, frame: Any, columns: list[str]) -> Any:
    """Return the features (rows, D) of the cells of some columns."""
    from easeml.modules import load_registry
    from easeml.modules.contract import Context

    schema = version.schema_in.to_json()
    nodes = schema["nodes"].items()
    held = {
        name: node
        for name, node in nodes
        if not node.get("singleton") or node.get("column", name) in columns
    }
    transform = load_registry().get("sample-features").make()
    fitted = transform.fit(frame, {**schema, "nodes": held}, {}, Context())
    return fitted.transform(frame)
