"""What every tool of the lifecycle returns, and how long work reports."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

Progress = Callable[[float], None]
"""Called now and then with the share of the work that is done, in [0, 1]."""


def listener(progress: Progress | None) -> Progress:
    """Return what work reports to: ``progress``, or what does not listen."""
    return progress or _nobody


def _nobody(share: float) -> None:
    """Nobody listens to the progress."""


class Result(ABC):
    """Base of the frozen dataclasses that hold a tool's answer.

    A subclass says what to do next (``advice``), what its table is and how it is drawn; it shows
    itself in a notebook.
    """

    @property
    @abstractmethod
    def advice(self) -> str:
        """One or two plain sentences: what was found, and what to do next."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """Return the answer as a table, one row an item."""

    @abstractmethod
    def figure(self) -> Figure:
        """Return the answer as a picture."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values, and ``advice``.

        Arrays become lists, NaN and infinities None.
        """
        return {**plain(self), "advice": self.advice}

    def to_csv(self) -> str:
        """Return the table as CSV text."""
        return self.to_frame().to_csv(index=False)

    def to_html(self) -> str:
        """Return a page of its own, with advice, figure and table; it needs no network."""
        title = escape(type(self).__name__)
        table = self.to_frame().to_html(index=False, border=0)
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            '<body style="font-family: sans-serif; max-width: 60rem; margin: 2rem auto; '
            'color-scheme: light dark">'
            f"<p>{escape(self.advice)}</p>{self.figure().to_html()}{table}</body></html>"
        )

    def _ipython_display_(self) -> None:
        """Show advice, figure and the head of the table in a notebook."""
        from IPython.display import HTML, display

        display(HTML(f"<p>{escape(self.advice)}</p>"))
        display(self.figure())
        display(self.to_frame().head(20))


def plain(value: Any) -> Any:
    """Return ``value`` in plain JSON types.

    Dataclasses and mappings become dicts, arrays and sequences lists.

    NaN and infinities, which JSON has not, become None.
    """
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return _plain(value)
    return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}


@singledispatch
def _plain(value: Any) -> Any:
    return value


@_plain.register(np.ndarray)
@_plain.register(np.generic)
@_plain.register(np.str_)
@_plain.register(np.bytes_)
def _of_numpy(value: Any) -> Any:
    return plain(value.tolist())


@_plain.register(Mapping)
def _of_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): plain(item) for key, item in value.items()}


@_plain.register(Sequence)
def _of_sequence(value: Sequence[Any]) -> list[Any]:
    return list(map(plain, value))


@_plain.register(str)
@_plain.register(bytes)
def _of_text(value: str | bytes) -> str | bytes:
    return value  # though it is a sequence, too


@_plain.register(float)
def _of_float(value: float) -> float | None:
    return value if math.isfinite(value) else None
