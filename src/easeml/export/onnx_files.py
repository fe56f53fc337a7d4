"""An ONNX model of what an endpoint serves, written only where it predicts alike."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.errors import InvalidInput
from easeml.export.exported import ExportedModel

if TYPE_CHECKING:
    import pandas as pd

FILE = "model.onnx"


def write_graph(exported: ExportedModel, rows: "pd.DataFrame", out: Path) -> dict[str, Any]:
    """Write ``model.onnx`` into the folder ``out``; return how well it agrees on typed ``rows``.

    Raises ``InvalidInput`` where the extra ``onnx`` is not installed, a part has no graph, or a row
    is predicted otherwise; the message has the reason, or the row.
    """
    try:
        from easeml.export.graphs import LARGEST, agreement, convert
    except ModuleNotFoundError as error:
        remedy = "Install them: pip install 'easeml[onnx]'."
        raise InvalidInput("ONNX needs libraries of its own.", remedy=remedy) from error
    path = out / FILE
    path.write_bytes(convert(exported.trained).SerializeToString())
    found = agreement(path, rows, exported.trained.predict(rows))
    if found.worst > LARGEST:
        said = (
            f"The ONNX graph predicts {found.found} where the model predicts {found.expected}: "
            f"they differ by {found.worst:.2g}, and at most {LARGEST:g} is accepted."
        )
        remedy = "Export as python or oci, which run the model itself."
        raise InvalidInput(said, where=f"row {found.row}", remedy=remedy)
    return {"rows": found.rows, "worst": found.worst, "accepted": LARGEST}
