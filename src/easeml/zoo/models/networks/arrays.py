"""What PyTorch keeps as NumPy arrays by name: files without pickle."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def arrays_of(network: torch.nn.Module) -> Arrays:
    """Return the weights and buffers of a network."""
    return {name: values.detach().cpu().numpy() for name, values in network.state_dict().items()}


def give(network: torch.nn.Module, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put weights and buffers into a network. Raises ``RuntimeError`` where they are another's."""
    device = next(network.parameters()).device
    tensors = {name: torch.from_numpy(values).to(device) for name, values in arrays.items()}
    network.load_state_dict(tensors)


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> Arrays:
    """Return what an optimizer knows of each parameter, as ``PARAMETER.NAME``."""
    found = {}
    for place, known in optimizer.state_dict()["state"].items():
        for name, value in known.items():
            found[f"{place}.{name}"] = value.detach().cpu().numpy()
    return found


def give_optimizer(optimizer: torch.optim.Optimizer, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put back what ``optimizer_arrays`` returned."""
    known: dict[int, dict[str, Any]] = {}
    for key, values in arrays.items():
        place, _, name = key.partition(".")
        known.setdefault(int(place), {})[name] = torch.from_numpy(np.asarray(values))
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": known, "param_groups": groups})
