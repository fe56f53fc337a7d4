"""A residual network of pictures."""

from collections.abc import Mapping
from typing import Any

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]
from torch.nn import functional  # pyright: ignore[reportMissingImports]

from .blocks import Residual, Standardised
from .model import NetworkModel
from .training import Augment, as_they_are

_STAGES = 3  # each with twice the channels of the one before, at half its height and width
_SHIFT = 0.125  # of height and width, at most


class _PictureNet(nn.Module):
    def __init__(self, channels: int, width: int, blocks: int, outputs: int):
        super().__init__()
        self.standardised = Standardised(channels, 3)
        parts = [
            nn.Conv2d(channels, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        ]
        given = width
        for stage in range(_STAGES):
            made = width * 2**stage
            for block in range(blocks):
                stride = 2 if stage and not block else 1
                parts.append(Residual(nn.Conv2d, nn.BatchNorm2d, given, made, 3, stride))
                given = made
        self.body = nn.Sequential(*parts)
        self.head = nn.Linear(given, outputs)

    def look_at(self, pictures: Any) -> None:
        """Learn what the values of each channel are like; pictures (rows, height, width, channels)."""
        self.standardised.look_at(_channels_first(pictures))

    def forward(self, pictures: Any) -> Any:
        """Return (rows, outputs)."""
        found = self.body(self.standardised(_channels_first(pictures)))
        return self.head(found.mean(dim=(2, 3)))


class PictureNetwork(NetworkModel):
    """A residual network of three stages, trained on shifted and, where it helps, mirrored pictures."""

    def shape(
        self, row: tuple[int, ...], outputs: int, config: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return channels, width, blocks and outputs."""
        kept = {name: config[name] for name in ("width", "blocks")}
        return {**kept, "channels": row[-1], "outputs": outputs}

    def build(self, **shape: Any) -> Any:
        """Return the untrained network."""
        return _PictureNet(**shape)

    def augment(self, config: Mapping[str, Any]) -> Augment:
        """Return what shifts pictures, and mirrors half of them if ``change`` says so."""
        if config["change"] == "none":
            return as_they_are
        return _shifted_and_mirrored if config["change"] == "mirror" else _shifted


def _channels_first(pictures: Any) -> Any:
    return pictures.permute(0, 3, 1, 2)


def _shifted(pictures: Any) -> Any:
    """Move all pictures of a batch alike, by up to an eighth; what comes in repeats the border."""
    height, width = pictures.shape[1:3]
    far = [max(1, round(_SHIFT * length)) for length in (height, width)]
    moved = functional.pad(
        _channels_first(pictures), (far[1], far[1], far[0], far[0]), mode="replicate"
    )
    down, right = (int(torch.randint(2 * most + 1, ())) for most in far)
    return moved[:, :, down : down + height, right : right + width].permute(0, 2, 3, 1)


def _shifted_and_mirrored(pictures: Any) -> Any:
    mirrored = torch.rand(len(pictures)) < 0.5
    turned = torch.where(mirrored[:, None, None, None], pictures.flip(2), pictures)
    return _shifted(turned)
