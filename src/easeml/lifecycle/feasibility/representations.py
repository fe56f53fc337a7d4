"""Representations to bring along: any function or matrix, and pre-trained models at a local path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np

BATCH = 64  # rows a model sees at once
_SIDE = 224  # pixels, where a model does not say
_REMEDY = "Install it: pip install torch transformers, or onnxruntime."


@dataclass(frozen=True)
class Representation:
    """A named function from inputs (a part of X, of X's own type) to a matrix (rows, dimensions).

    It must not have learned from the labels of these rows, and treats every row alone, so that only
    rows that the race still needs are computed. ``of_places``: it takes the positions of rows in X.
    ``side``: height and width of the pictures that it wants.
    """

    name: str
    embed: Callable[[Any], np.ndarray]
    of_places: bool = False
    side: int = _SIDE


def hugging_face(path: str | Path, *, name: str | None = None) -> Representation:
    """Return the embedding of a Hugging Face model in a local folder.

    ``save_pretrained`` writes such a folder.

    Texts are embedded by the mean of the last layer's tokens, images (rows, height, width,
    channels) by the pooled output, or the mean of the last layer. Nothing is fetched and no code of
    the folder is run. Weights must be safetensors.

    Raises: InvalidInput: if the folder or the libraries (torch, transformers) are missing, or it
        holds no such model.
    """
    folder = Path(path)
    torch = _library("torch")
    transformers = _library("transformers")
    if not (folder / "config.json").is_file():
        raise InvalidInput(
            "No Hugging Face model is there.", where=str(folder), remedy="Name its folder."
        )
    try:
        model = transformers.AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True
        ).eval()
        images = (folder / "preprocessor_config.json").is_file()
        loader = transformers.AutoImageProcessor if images else transformers.AutoTokenizer
        prepare = loader.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InvalidInput(f"The model cannot be loaded: {error}", where=str(folder)) from error

    def embed(rows: Any) -> np.ndarray:
        with torch.inference_mode():
            if images:
                fed = prepare(
                    list(_as_images(rows)), return_tensors="pt", input_data_format="channels_last"
                )
                out = model(**fed)
                pooled = getattr(out, "pooler_output", None)
                return (
                    (out.last_hidden_state.mean(dim=1) if pooled is None else pooled)
                    .flatten(1)
                    .numpy()
                )
            longest = min(getattr(model.config, "max_position_embeddings", 512) or 512, 512)
            texts = list(map(str, rows))
            fed = prepare(
                texts, return_tensors="pt", padding=True, truncation=True, max_length=longest
            )
            hidden = model(**fed).last_hidden_state
            mask = fed["attention_mask"].unsqueeze(-1)
            return ((hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)).numpy()

    return Representation(name or folder.name, _in_batches(embed))


def torch_model(path: str | Path, *, name: str | None = None) -> Representation:
    """Return the embedding of a torch model in a file.

    The file is TorchScript, or of ``torch.export`` where it ends in ``.pt2``.

    The model takes a float32 tensor: numbers as (rows, columns), images as (rows, channels, height,
    width); its output is flattened to one vector a row. Both formats hold code: load only what you
    trust.

    Raises:
        InvalidInput: if the file or torch is missing, or it holds no such model.
    """
    file = Path(path)
    torch = _library("torch")
    if not file.is_file():
        raise InvalidInput(
            "There is no such file.", where=str(file), remedy="Name the file of a saved model."
        )
    try:
        if file.suffix == ".pt2":
            model = torch.export.load(file).module()
        else:
            model = torch.jit.load(file, map_location="cpu").eval()
    except (RuntimeError, OSError, ValueError, KeyError) as error:
        remedy = "Save it with torch.jit.save or, as .pt2, torch.export.save."
        raise InvalidInput(
            f"The model cannot be loaded: {error}", where=str(file), remedy=remedy
        ) from error

    def embed(rows: Any) -> np.ndarray:
        import numpy as np

        numbers = np.asarray(rows, dtype=np.float32)
        if numbers.ndim >= 3:
            numbers = np.moveaxis(_as_images(numbers), 3, 1)
        with torch.inference_mode():
            return model(torch.from_numpy(np.ascontiguousarray(numbers))).flatten(1).numpy()

    return Representation(name or file.stem, _in_batches(embed))


def onnx_model(path: str | Path, *, name: str | None = None) -> Representation:
    """Return the embedding of pictures by an ONNX model in a file.

    The model takes float32 (n, 3, height, width) in [0, 1]; its first output is flattened to one
    vector a row. Pictures (rows, height, width[, channels]) are bytes, of the size that it wants.

    Raises InvalidInput: if the file or onnxruntime is missing, or it holds no such model.
    """
    file = Path(path)
    onnxruntime = _library("onnxruntime")
    try:
        session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    except Exception as error:  # it has exceptions of its own, without a common ancestor
        raise InvalidInput(f"The model cannot be loaded: {error}", where=str(file)) from error
    taken = session.get_inputs()[0]

    def embed(rows: Any) -> np.ndarray:
        import numpy as np

        images = np.moveaxis(_as_images(rows), 3, 1).astype(np.float32) / 255
        first = session.run(None, {taken.name: np.ascontiguousarray(images)})[0]
        return first.reshape(len(images), -1)

    *_, width = taken.shape
    side = width if isinstance(width, int) else _SIDE
    return Representation(name or file.stem, _in_batches(embed), side=side)


def pretrained(path: str | Path, *, name: str | None = None) -> Representation:
    """Return the embedding of the model at a path.

    That is a Hugging Face folder, an ONNX model's file, or a torch model's.
    """
    place = Path(path)
    if place.is_dir():
        return hugging_face(place, name=name)
    load: Callable[..., Representation] = onnx_model if place.suffix == ".onnx" else torch_model
    return load(place, name=name)


def _library(name: Literal["torch", "transformers", "onnxruntime"]) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InvalidInput(
            f"Pre-trained models need {name}, which is not installed.", remedy=_REMEDY
        ) from error


def _as_images(rows: Any) -> np.ndarray:
    """Return (rows, height, width, channels); grey images get three equal channels."""
    import numpy as np

    images = np.asarray(rows)
    return np.repeat(images[..., None], 3, axis=3) if images.ndim == 3 else images


def _in_batches(embed: Callable[[Any], np.ndarray]) -> Callable[[Any], np.ndarray]:
    def embed_all(rows: Any) -> np.ndarray:
        import numpy as np

        parts = [embed(rows[start : start + BATCH]) for start in range(0, len(rows), BATCH)]
        return np.concatenate(parts, dtype=np.float64)

    return embed_all
