"""The models that a child holds, and which of them answers for which application."""

from typing import Generic, TypeVar

Model = TypeVar("Model")


class Shelf(Generic[Model]):
    """Loaded models by id. One that was loaded and not assigned yet is kept: its turn will come."""

    def __init__(self) -> None:
        self._loaded: dict[str, Model] = {}
        self._serving: dict[str, str] = {}  # application to model

    def put(self, model_id: str, model: Model) -> None:
        """Keep a loaded model."""
        self._loaded[model_id] = model

    def assign(self, application: str, model_id: str) -> bool:
        """Let a model answer for an application, and forget the one it replaces.

        Returns false, and changes nothing, where the model is not here.
        """
        if model_id not in self._loaded:
            return False
        replaced = self._serving.get(application)
        self._serving[application] = model_id
        if replaced is not None and replaced not in self._serving.values():
            del self._loaded[replaced]
        return True

    def of(self, application: str) -> Model | None:
        """The model that answers for an application, ``None`` before one was assigned."""
        return self._loaded.get(self._serving.get(application, ""))
