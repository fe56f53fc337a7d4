"""The different values of a column, and what every report of a column begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeml.data.types.column_report import ColumnReport

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


@dataclass(frozen=True)
class Values:
    """The different values of a column that are not missing, and how often each occurs.

    ``missing`` is the share of the missing.
    """

    name: str
    texts: list[str]
    number_of: np.ndarray
    present: int
    missing: float

    @property
    def counted(self) -> str:
        """How many there are, in words."""
        return f"{len(self.texts)} different values in {self.present} rows"

    @property
    def each(self) -> float:
        """How many rows a value has on average."""
        return self.present / len(self.texts)


def report_on(values: Values, kind: str, confidence: float, evidence: str) -> ColumnReport:
    return ColumnReport(
        name=values.name,
        type=kind,
        role="input",
        missing=values.missing,
        distinct=len(values.texts),
        examples=values.texts[:3],
        evidence=evidence,
        confidence=confidence,
        nature_confidence=0.9,
    )


def text_array(texts: list[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(texts, pa.string())
