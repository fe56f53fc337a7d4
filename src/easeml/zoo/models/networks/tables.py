"""A network of tables: many small networks in one, of which the mean is said."""

from collections.abc import Mapping
from typing import Any

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]

from .blocks import Standardised
from .model import NetworkModel
from .training import Augment, as_they_are

_MEMBERS = 16
_MOST_PIECES = 1024  # of all columns together
_MOST_PER_COLUMN = 24
_FARTHEST = 8.0  # deviations from the mean; a value beyond is taken for this


class _Pieces(nn.Module):
    """A number as shares of the pieces between the quantiles of its column.

    Y. Gorishniy, I. Rubachev, A. Babenko: On embeddings for numerical features in tabular deep learning
    (NeurIPS 2022), section 3.2, equation 1. Columns of few values have pieces of no width, which say 0.
    """

    def __init__(self, columns: int):
        super().__init__()
        self.count = max(2, min(_MOST_PER_COLUMN, _MOST_PIECES // columns))
        self.register_buffer("edges", torch.zeros(columns, self.count + 1))

    def look_at(self, rows: Any) -> None:
        """Learn the quantiles of columns (rows, columns)."""
        shares = torch.linspace(0, 1, self.count + 1)
        self.edges.copy_(torch.quantile(rows, shares, dim=0).T)

    def forward(self, rows: Any) -> Any:
        """Return (rows, columns * pieces), each in [0, 1]."""
        low, high = self.edges[:, :-1], self.edges[:, 1:]
        width = high - low
        share = (rows[:, :, None] - low) / torch.where(width > 0, width, torch.ones_like(width))
        return torch.where(width > 0, share.clamp(0, 1), torch.zeros_like(share)).flatten(1)


class _TableNet(nn.Module):
    """Members that share all but the signs of their inputs and what they make of the last layer.

    Y. Gorishniy, A. Kotelnikov, A. Babenko: TabM (ICLR 2025), section 3.3, the variant *mini*.
    """

    def __init__(self, columns: int, width: int, layers: int, dropout: float, outputs: int):
        super().__init__()
        self.standardised = Standardised(columns, 1)
        self.pieces = _Pieces(columns)
        given = columns * (1 + self.pieces.count)
        signs = torch.randint(0, 2, (_MEMBERS, given)) * 2.0 - 1.0
        self.signs = nn.Parameter(signs)
        parts: list[Any] = []
        for _ in range(layers):
            parts += [nn.Linear(given, width), nn.ReLU(), nn.Dropout(dropout)]
            given = width
        self.body = nn.Sequential(*parts)
        self.heads = nn.Parameter(torch.randn(_MEMBERS, width, outputs) / width**0.5)
        self.constants = nn.Parameter(torch.zeros(_MEMBERS, outputs))

    def look_at(self, rows: Any) -> None:
        """Learn what the values of each column are like; rows (rows, columns)."""
        self.standardised.look_at(rows)
        self.pieces.look_at(self._near(rows))

    def _near(self, rows: Any) -> Any:
        return self.standardised(rows).clamp(-_FARTHEST, _FARTHEST)

    def forward(self, rows: Any) -> Any:
        """Return (rows, members, outputs)."""
        near = self._near(rows)
        seen = torch.cat([near, self.pieces(near)], dim=1)
        found = self.body(seen[:, None] * self.signs)
        return torch.einsum("rmw,mwo->rmo", found, self.heads) + self.constants


class TableNetwork(NetworkModel):
    """Sixteen members of one network."""

    def shape(
        self, row: tuple[int, ...], outputs: int, config: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the sizes of all layers."""
        kept = {name: config[name] for name in ("width", "layers", "dropout")}
        return {**kept, "columns": row[0], "outputs": outputs}

    def build(self, **shape: Any) -> Any:
        """Return the untrained network."""
        return _TableNet(**shape)

    def augment(self, config: Mapping[str, Any]) -> Augment:
        """Return what leaves rows as they are."""
        return as_they_are
