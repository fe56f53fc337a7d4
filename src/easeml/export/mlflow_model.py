"""What MLflow calls to load an exported folder: its flavour "python_function".

https://mlflow.org/docs/latest/ml/traditional-ml/python-function ("loader_module").
"""

from easeml.export.exported import ExportedModel, load_exported


class PythonFunction:
    """A model as MLflow asks it."""

    def __init__(self, model: ExportedModel):
        self._model = model

    def predict(self, model_input, params=None):  # MLflow's names
        """Return the frame of ``ExportedModel.predict``; there are no parameters."""
        return self._model.predict(model_input)


def _load_pyfunc(path: str) -> PythonFunction:  # pyright: ignore[reportUnusedFunction]
    """Load the model below ``path``; MLflow calls this by name."""
    return PythonFunction(load_exported(path))
