"""A residual network of series."""

from collections.abc import Mapping
from typing import Any

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]

from .blocks import Residual, Standardised
from .model import NetworkModel
from .training import Augment, as_they_are

_KERNELS = (9, 5, 3)  # steps, of each stage
_NOISE = 0.1  # deviations of a channel
_SCALING = 0.1


class _SeriesNet(nn.Module):
    """Z. Wang, W. Yan, T. Oates: Time series classification from scratch with deep neural networks
    (IJCNN 2017), section II C, with two convolutions a block, of odd lengths.
    """

    def __init__(self, channels: int, width: int, outputs: int):
        super().__init__()
        self.standardised = Standardised(channels, 2)
        widths = [channels, width, 2 * width, 2 * width]
        parts = [
            Residual(nn.Conv1d, nn.BatchNorm1d, given, made, kernel, 1)
            for given, made, kernel in zip(widths, widths[1:], _KERNELS, strict=False)
        ]
        self.body = nn.Sequential(*parts)
        self.head = nn.Linear(widths[-1], outputs)

    def look_at(self, series: Any) -> None:
        """Learn what the values of each channel are like; series (rows, channels, steps)."""
        self.standardised.look_at(series)

    def forward(self, series: Any) -> Any:
        """Return (rows, outputs)."""
        return self.head(self.body(self.standardised(series)).mean(dim=2))


class SeriesNetwork(NetworkModel):
    """A residual network of three stages along the steps of a series."""

    def shape(
        self, row: tuple[int, ...], outputs: int, config: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return channels, width and outputs."""
        return {"channels": row[0], "width": config["width"], "outputs": outputs}

    def build(self, **shape: Any) -> Any:
        """Return the untrained network."""
        return _SeriesNet(**shape)

    def augment(self, config: Mapping[str, Any]) -> Augment:
        """Return what scales series and adds noise, if ``change`` says so."""
        return as_they_are if config["change"] == "none" else _noisy


def _noisy(series: Any) -> Any:
    """Scale each series a little, and add noise by the deviation of its channels."""
    size = series.std(dim=(0, 2), keepdim=True, correction=0)
    noise = torch.randn(series.shape) * size * _NOISE
    scaling = 1 + _SCALING * torch.randn((len(series), 1, 1))
    return series * scaling + noise
