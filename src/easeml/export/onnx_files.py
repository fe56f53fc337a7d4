"""An ONNX model of what an endpoint serves, written only where it predicts alike."""

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.errors import InvalidInput
from easeml.export.exported import ExportedModel
from easeml.export.smaller import Sizes
from easeml.modules.ensemble import TrainedEnsemble, load_model
from easeml.modules.pipeline import TrainedPipeline

if TYPE_CHECKING:
    import pandas as pd

FILE = "model.onnx"


def write_graph(exported: ExportedModel, rows: "pd.DataFrame", out: Path) -> dict[str, Any]:
    """Write ``model.onnx`` into the folder ``out``; return how well it agrees on typed ``rows``.

    Raises ``InvalidInput`` where the extra ``onnx`` is not installed, a part has no graph, or a row
    is predicted otherwise; the message has the reason, or the row.
    """
    content = _graph(exported.trained)
    from easeml.export.graphs import LARGEST, agreement

    path = out / FILE
    path.write_bytes(content)
    found = agreement(path, rows, exported.trained.predict(rows))
    if found.worst > LARGEST:
        said = (
            f"The ONNX graph predicts {found.found} where the model predicts {found.expected}: "
            f"they differ by {found.worst:.2g}, and at most {LARGEST:g} is accepted."
        )
        remedy = "Export as python or oci, which run the model itself."
        raise InvalidInput(said, where=f"row {found.row}", remedy=remedy)
    return {"rows": found.rows, "worst": found.worst, "accepted": LARGEST}


def sizes_of_graph(model: Path) -> Sizes:
    """Return the sizes of the graph of a trained model in its folder. Raises as ``write_graph``."""
    content = _graph(load_model(model))
    return Sizes(len(content), len(zlib.compress(content, 6)))


def _graph(trained: TrainedPipeline | TrainedEnsemble) -> bytes:
    try:
        from easeml.export.graphs import convert
    except ModuleNotFoundError as error:
        remedy = "Install them: pip install 'easeml[onnx]'."
        raise InvalidInput("ONNX needs libraries of its own.", remedy=remedy) from error
    return convert(trained).SerializeToString()
