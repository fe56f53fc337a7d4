"""The models that a child holds, and which of them answers for which application."""

import time
from dataclasses import dataclass
from typing import Generic, TypeVar

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Assigned:
    """The model that answers for an application, and one that answers a share of its requests."""

    model_id: str
    challenger_id: str = ""
    share: float = 0.0


class Shelf(Generic[Model]):
    """Loaded models by id. One that was loaded and not assigned yet is kept: its turn will come."""

    def __init__(self) -> None:
        self._loaded: dict[str, Model] = {}
        self._serving: dict[str, Assigned] = {}  # by application
        self._asked: dict[str, float] = {}  # by application: when, last

    def put(self, model_id: str, model: Model) -> None:
        """Keep a loaded model."""
        self._loaded[model_id] = model

    def assign(self, application: str, assigned: Assigned) -> bool:
        """Let models answer for an application, and forget those that they replace.

        Returns false, and changes nothing, where one of them is not here.
        """
        wanted = _named(assigned)
        if not wanted <= self._loaded.keys():
            return False
        before = self._serving.get(application, assigned)
        self._serving[application] = assigned
        self._asked.setdefault(application, time.monotonic())
        self._forget(before)
        return True

    def withdraw(self, application: str) -> None:
        """Let nothing answer for an application any more, and forget what did."""
        before = self._serving.pop(application, None)
        self._asked.pop(application, None)
        if before is not None:
            self._forget(before)

    def of(self, application: str) -> Model | None:
        """The model that answers for an application, ``None`` before one was assigned."""
        assigned = self._serving.get(application)
        if assigned is None:
            return None
        self._asked[application] = time.monotonic()
        return self._loaded.get(assigned.model_id)

    def quiet_seconds(self) -> dict[str, float]:
        """For how long nobody has asked each application that is served here."""
        now = time.monotonic()
        return {application: now - asked for application, asked in self._asked.items()}

    def challenger_of(self, application: str) -> tuple[Model, float] | None:
        """The model that answers a share of an application's requests, and the share, if any."""
        assigned = self._serving.get(application)
        if assigned is None or not assigned.challenger_id:
            return None
        return self._loaded[assigned.challenger_id], assigned.share

    def _forget(self, assigned: Assigned) -> None:
        """Forget models that no application has any more."""
        in_use = set[str]().union(*map(_named, self._serving.values()))
        for model_id in _named(assigned) - in_use:
            self._loaded.pop(model_id, None)


def _named(assigned: Assigned) -> set[str]:
    return {assigned.model_id, assigned.challenger_id} - {""}
