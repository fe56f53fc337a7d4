"""A network as a model of the contract."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from numpy.typing import NDArray

from easeml.errors import Damaged
from easeml.modules import Context, Data
from easeml.modules.estimators import ended_early, target_scale
from easeml.modules.files import load_arrays, load_json, save_arrays, save_json

from .arrays import arrays_of, give
from .training import Augment, Recipe, threads, train

_DESCRIPTION, _WEIGHTS = "network.json", "weights.npz"
_ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class TrainedNetwork:
    """A trained network. ``shape``: what it was built by; ``inputs``: of a row, as ``predict`` gets it.

    Numbers were learnt as (y - centre) / scale; both are one each, or one an element.
    """

    network: Any
    shape: dict[str, Any]
    classes: int
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class probabilities or values."""
        with threads(1), torch.inference_mode():
            rows = torch.from_numpy(np.ascontiguousarray(X, np.float32))
            parts = [self.network(part).double() for part in rows.split(_ROWS_AT_ONCE)]
        said = torch.cat(parts)
        if self.classes:
            return _together(torch.softmax(said, dim=-1)).numpy()
        values = _together(said).numpy()
        values = values[:, 0] if self.centre.ndim == 0 else values
        return values * self.scale + self.centre

    def save(self, folder: Path) -> None:
        """Write how the network is built, and its weights."""
        held = [self.shape, self.classes, self.centre.tolist(), self.scale.tolist()]
        save_json(folder / _DESCRIPTION, held)
        save_arrays(folder / _WEIGHTS, **arrays_of(self.network))


class NetworkModel(ABC):
    """A model whose network is built from the shape of a row and a configuration."""

    @abstractmethod
    def shape(
        self, row: tuple[int, ...], outputs: int, config: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return what ``build`` takes: names and numbers that JSON can hold."""

    @abstractmethod
    def build(self, **shape: Any) -> Any:
        """Return an untrained network."""

    @abstractmethod
    def augment(self, config: Mapping[str, Any]) -> Augment:
        """Return what is done to the inputs of a batch."""

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedNetwork:
        """Build a network, and train it."""
        X = np.ascontiguousarray(data.X, np.float32)
        centre, scale = (np.asarray(part, np.float64) for part in target_scale(data))
        outputs = data.classes or centre.size
        shape = self.shape(X.shape[1:], outputs, config)
        with threads(context.threads), torch.random.fork_rng(devices=()):
            torch.manual_seed(context.seed)
            network = self.build(**shape)
            network.look_at(torch.from_numpy(X))
            epochs = train(
                network,
                torch.from_numpy(X),
                _answers(data, centre, scale),
                Recipe.of(config),
                self.augment(config),
                context,
            )
        notes = ended_early(epochs, config["epochs"]) if epochs < config["epochs"] else ()
        return TrainedNetwork(network, shape, data.classes, centre, scale, notes)

    def load(self, folder: Path) -> TrainedNetwork:
        """Read what was saved. Raises ``Damaged``."""
        shape, classes, centre, scale = load_json(folder / _DESCRIPTION)
        network = self.build(**shape)
        try:
            give(network, load_arrays(folder / _WEIGHTS))
        except RuntimeError as error:
            raise Damaged("The weights are another network's.", where=str(folder)) from error
        return TrainedNetwork(network.eval(), shape, classes, np.asarray(centre), np.asarray(scale))


def _together(said: Any) -> Any:
    """Return the means (rows, outputs) of what the members of a network say, where it has any."""
    return said.mean(dim=1) if said.ndim == 3 else said


def _answers(data: Data, centre: NDArray[np.float64], scale: NDArray[np.float64]) -> Any:
    if data.classes:
        return torch.from_numpy(np.asarray(data.y, np.int64))
    values = np.asarray((data.y - centre) / scale, np.float32)
    return torch.from_numpy(values.reshape(len(values), -1))
