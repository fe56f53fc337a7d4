"""What pictures and texts are to the pre-trained models that a provider configured."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.errors import EasemlError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from easeml.data import Declared
    from easeml.lifecycle.feasibility import Representation


def representations(
    version: Declared, frame: Any, folder: Path
) -> tuple[list[Representation], list[str]]:
    """Return how the models in a folder see the columns of a frame, and which could not be used.

    Folders of Hugging Face see pictures or texts, other files pictures (``pretrained``).
    """
    found: list[Representation] = []
    notes: list[str] = []
    for path in sorted(folder.glob("*")):
        try:
            found += _of_model(path, version, frame)
        except EasemlError as error:
            notes.append(f"The model {path.name} was not used: {error.message}")
    return found, notes


def _of_model(path: Path, version: Declared, frame: Any) -> Iterator[Representation]:
    """Give how a model sees each column that it can see; it is loaded where there is one."""
    from easeml.data import kinds_of
    from easeml.lifecycle.feasibility import Representation, pretrained

    sees_texts = path.is_dir() and not (path / "preprocessor_config.json").exists()
    kind = "text" if sees_texts else "image"
    for column in (name for name, held in kinds_of(version.schema_in).items() if held == kind):
        model = pretrained(path)
        read = _texts if sees_texts else partial(_pictures, side=model.side)
        cells = frame[column].to_numpy(object)
        embed = partial(_embedded, model, read, cells)
        yield Representation(f"{model.name} of {column}", embed, of_places=True)


def _embedded(model: Representation, read: Any, cells: Any, places: Any) -> Any:
    return model.embed(read(cells[places]))


def _pictures(cells: Any, side: int) -> Any:
    """Return pictures (n, side, side, 3) of bytes, as models were shown them in training."""
    import numpy as np

    from easeml.data import pixels

    read = partial(pixels, size=(side, side), grey=False)
    return (255 * np.stack(list(map(read, cells)))).round().astype(np.uint8)


def _texts(cells: Any) -> list[str]:
    import pandas as pd

    return pd.Series(cells, dtype=object).fillna("").astype(str).tolist()
