"""What networks of pictures and of series are made of."""

from typing import Any

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]

_TINY = 1e-6


class Standardised(nn.Module):
    """Brings each channel (axis 1) to mean 0 and deviation 1, as in the training rows."""

    def __init__(self, channels: int, axes: int):
        super().__init__()
        shape = (1, channels, *(1 for _ in range(axes - 1)))
        self.register_buffer("centre", torch.zeros(shape))
        self.register_buffer("scale", torch.ones(shape))

    def look_at(self, rows: Any) -> None:
        """Learn the means and deviations of rows (rows, channels, ...)."""
        others = [axis for axis in range(rows.ndim) if axis != 1]
        values = rows.double()
        deviation = values.std(dim=others, keepdim=True, correction=0)
        self.centre.copy_(values.mean(dim=others, keepdim=True))
        self.scale.copy_(torch.where(deviation > _TINY, deviation, torch.ones_like(deviation)))

    def forward(self, rows: Any) -> Any:
        """Return the rows standardised."""
        return (rows - self.centre) / self.scale


class Residual(nn.Module):
    """Two convolutions, and the way around them.

    K. He, X. Zhang, S. Ren, J. Sun: Deep residual learning for image recognition (CVPR 2016), figure 2
    and section 3.3, option B.
    """

    def __init__(
        self, convolution: Any, norm: Any, given: int, made: int, kernel: int, stride: int
    ):
        super().__init__()
        reach = kernel // 2
        self.first = convolution(given, made, kernel, stride, reach, bias=False)
        self.first_norm = norm(made)
        self.second = convolution(made, made, kernel, 1, reach, bias=False)
        self.second_norm = norm(made)
        same = given == made and stride == 1
        self.around = nn.Identity()
        if not same:
            around = convolution(given, made, 1, stride, bias=False)
            self.around = nn.Sequential(around, norm(made))

    def forward(self, rows: Any) -> Any:
        """Return what the block makes of rows."""
        made = torch.relu(self.first_norm(self.first(rows)))
        made = self.second_norm(self.second(made))
        return torch.relu(made + self.around(rows))
