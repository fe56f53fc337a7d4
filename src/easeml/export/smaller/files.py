"""Files of trained models in fewer bytes: shorter numbers, and without what only training needed.

The formats stay what they are, so that what loads a model loads the smaller one.
"""

import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

_SINGLE = 23  # bits of a float32's fraction: fewer would send rows past a threshold
_THRESHOLDS = ("threshold", "num_threshold")
_OF_TRAINING = (
    *("impurity", "n_node_samples", "weighted_n_node_samples"),  # scikit-learn's trees
    *("gain", "count", "bin_threshold"),  # its histogram boosting
)
"""Fields of nodes that no prediction reads."""
_BOOSTER_STATISTICS = (
    *("tree_sizes", "split_gain", "leaf_weight", "leaf_count"),
    *("internal_value", "internal_weight", "internal_count"),
)
"""Lines of LightGBM's text that no prediction reads."""
_BOOSTER_END = "end of trees"


def shorten_files(folder: Path, bits: int) -> None:
    """Rewrite the files below ``folder`` with ``bits`` bits of the fraction of each number.

    Doubles have 52, single precision 23, half precision 10. Thresholds of trees keep 23.
    """
    for path in sorted(_files(folder)):
        rewrite = _WRITERS.get(path.suffix)
        if rewrite is not None:
            rewrite(path, bits)


def rounded(values: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return numbers of the same type, with ``bits`` bits of their fractions; others as they are."""
    if values.dtype.names is not None:
        return _rounded_nodes(values, bits)
    if values.dtype.kind != "f":
        return values
    fractions, exponents = np.frexp(values)
    steps = 2.0 ** (bits + 1)  # a fraction of ``frexp`` is at least a half
    with np.errstate(over="ignore"):
        found = np.ldexp(np.round(fractions * steps) / steps, exponents).astype(values.dtype)
    return np.where(np.isinf(found), values, found)  # the largest there are stay as they are


def packed_size(folder: Path) -> int:
    """Return the bytes of all files below ``folder`` once packed, as a registry or archive does."""
    return sum(len(zlib.compress(path.read_bytes(), 6)) for path in _files(folder))


def plain_size(folder: Path) -> int:
    """Return the bytes of all files below ``folder``."""
    return sum(path.stat().st_size for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _rounded_nodes(nodes: NDArray[Any], bits: int) -> NDArray[Any]:
    """Return the nodes of a tree."""
    found = nodes.copy()
    for name in nodes.dtype.names or ():
        if name in _OF_TRAINING:
            found[name] = 0
        elif name in _THRESHOLDS:
            found[name] = rounded(nodes[name], _SINGLE)
        else:
            found[name] = rounded(nodes[name], bits)
    return found


def _shorten_zip(path: Path, bits: int) -> None:
    """Rewrite the arrays in a zip file: NumPy's ``.npz``, or a file of skops."""
    content = io.BytesIO(path.read_bytes())
    try:
        source = ZipFile(content)
    except BadZipFile:
        return
    with source, ZipFile(path, "w", ZIP_DEFLATED) as out:
        for name in source.namelist():
            held = source.read(name)
            out.writestr(name, _shortened_array(held, bits) if name.endswith(".npy") else held)


def _shortened_array(held: bytes, bits: int) -> bytes:
    values = np.lib.format.read_array(io.BytesIO(held), allow_pickle=False)
    out = io.BytesIO()
    np.lib.format.write_array(out, rounded(values, bits), allow_pickle=False)
    return out.getvalue()


def _shorten_booster(path: Path, bits: int) -> None:
    """Rewrite a LightGBM model: https://github.com/microsoft/LightGBM/blob/master/src/io/tree.cpp."""
    text, end, _ = path.read_text("utf-8").partition(_BOOSTER_END)
    if not end:
        return
    lines = []
    for line in text.splitlines():
        name, _, values = line.partition("=")
        if name in _BOOSTER_STATISTICS:
            continue
        if name == "threshold":
            lines.append(f"{name}={_in_decimals(values, _SINGLE)}")
        elif name == "leaf_value":
            lines.append(f"{name}={_in_decimals(values, bits)}")
        else:
            lines.append(line)
    path.write_text("\n".join(lines) + f"\n{end}\n", "utf-8")


def _in_decimals(values: str, bits: int) -> str:
    """Return numbers with the decimals that ``bits`` bits are worth, and one to spare."""
    digits = 2 + int(bits * np.log10(2))
    return " ".join(f"{float(value):.{digits}g}" for value in values.split())


_WRITERS: dict[str, Callable[[Path, int], None]] = {
    ".npz": _shorten_zip,
    ".skops": _shorten_zip,
    ".txt": _shorten_booster,
}
