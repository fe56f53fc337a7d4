"""ONNX graphs that were made elsewhere."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import InvalidInput
from easeml.modules.programs import ProgramFailed

_SECONDS, _SECONDS_A_ROW = 20.0, 0.001  # what predicting may take, as of uploaded programs
_TEXT = "tensor(string)"
_WHOLE = ("tensor(int64)", "tensor(int32)")
_NUMBERS = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64,
            "tensor(int32)": np.int32}  # fmt: skip
_KINDS = {"number": tuple(_NUMBERS), "category": (_TEXT, *_WHOLE), "text": (_TEXT,)}


def check_whole(content: bytes, where: str) -> None:
    """Raise ``InvalidInput`` for a graph that refers to other files.

    It could name any that the process can read.
    """
    try:
        import onnx
    except ImportError as error:
        raise _not_installed(where) from error
    try:
        model = onnx.load_model_from_string(content)
        tensors = list(_tensors(model))
    except Exception as error:  # a file may be wrong in any way
        raise _unreadable(error, where) from error
    if any(one.external_data for one in tensors):
        remedy = "Save it in one file: onnx.save_model(..., save_as_external_data=False)."
        raise InvalidInput("The graph keeps weights in other files.", where=where, remedy=remedy)


def open_graph(content: bytes, where: str) -> Any:
    """Return a session of ONNX Runtime. Raises ``InvalidInput``."""
    try:
        import onnxruntime
    except ImportError as error:
        raise _not_installed(where) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # a graph may be wrong in any way
        raise _unreadable(error, where) from error


def _not_installed(where: str) -> InvalidInput:
    remedy = "Ask the provider to install easeml[onnx], or import a scikit-learn pipeline."
    return InvalidInput("This service cannot read ONNX.", where=where, remedy=remedy)


def _unreadable(error: Exception, where: str) -> InvalidInput:
    said = f"The file cannot be read as ONNX: {str(error)[:300]}"
    remedy = (
        "Give an ONNX file, a scikit-learn pipeline in skops, or an MLflow folder as a zip file."
    )
    return InvalidInput(said, where=where, remedy=remedy)


def _tensors(message: Any) -> Iterator[Any]:
    """Yield all tensors of a message of protobuf, at any depth."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.DESCRIPTOR.name == "TensorProto":
            yield part
            continue
        for field, value in part.ListFields():
            if field.message_type is None:
                continue  # a plain value
            if hasattr(value, "__len__"):
                waiting.extend(value)
            else:
                waiting.append(value)


def inputs_of(session: Any, kinds: Mapping[str, str], where: str) -> dict[str, list[str]]:
    """Return the columns that each input takes: one, or all where a single input is as wide.

    A name that is no column may be one whose other letters became underscores, as converters write
    them. Raises ``InvalidInput`` that names the input.
    """
    given = session.get_inputs()
    plain = {_plain(name): name for name in kinds}
    found = {}
    for one in given:
        is_wide = len(given) == 1 and one.shape[-1] == len(kinds)
        if one.name in kinds:
            columns = [one.name]
        elif _plain(one.name) in plain:
            columns = [plain[_plain(one.name)]]
        elif is_wide:
            columns = list(kinds)
        else:
            remedy = f"Name inputs as the columns, or give one of all columns: {', '.join(kinds)}."
            raise InvalidInput(
                f"No column is called as the input {one.name!r}.", where=where, remedy=remedy
            )
        _check_types(one, columns, kinds)
        found[one.name] = columns
    return found


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _check_types(given: Any, columns: Sequence[str], kinds: Mapping[str, str]) -> None:
    for column in columns:
        if given.type not in _KINDS.get(kinds[column], ()):
            raise InvalidInput(
                f"The input {given.name!r} takes {given.type}; the column is a {kinds[column]}.",
                where=column,
                remedy="Export the model with inputs of the columns' types.",
            )


def given_as_text(session: Any, inputs: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the columns that a graph takes as texts."""
    found = set()
    for one in session.get_inputs():
        if one.type == _TEXT:
            found.update(inputs[one.name])
    return found


def run(session: Any, inputs: Mapping[str, Sequence[str]], frame: Any) -> dict[str, Any]:
    """Return what the graph gives for rows, by output.

    Raises ``InvalidInput`` for a cell that an input cannot take, ``ProgramFailed`` where it takes
    longer than 20 s and a millisecond a row.
    """
    fed = {}
    for one in session.get_inputs():
        fed[one.name] = _fed(one, inputs[one.name], frame)
    names = [one.name for one in session.get_outputs()]
    with _ended_after(_SECONDS + _SECONDS_A_ROW * len(frame)) as options:
        return dict(zip(names, session.run(names, fed, options), strict=True))


def _fed(given: Any, names: Sequence[str], frame: Any) -> NDArray[Any]:
    """Return what an input is given for rows: (rows, columns), or (rows,) if it has one axis."""
    columns = [_cells(frame[name], name, given.type) for name in names]
    cells = np.column_stack(columns)
    if len(given.shape) == 1:
        return cells[:, 0]
    return cells


@contextmanager
def _ended_after(seconds: float) -> Iterator[Any]:
    """Give options of a run that is ended after ``seconds``.

    A loop in a graph need not come to an end. Raises ``ProgramFailed`` then.
    """
    import onnxruntime

    options = onnxruntime.RunOptions()
    options.log_severity_level = 4
    watch = threading.Timer(seconds, setattr, (options, "terminate", True))
    watch.daemon = True
    watch.start()
    try:
        yield options
    except Exception as error:  # whatever ONNX Runtime raises
        if not options.terminate:
            raise
        raise ProgramFailed(f"The graph took longer than {seconds:.3g} s.") from error
    finally:
        watch.cancel()


def _cells(column: Any, name: str, kind: str) -> NDArray[Any]:
    """Return a column as ONNX takes it: a missing text is an empty one."""
    if kind == _TEXT:
        texts = column.astype(object)
        return texts.where(column.notna(), "").astype(str).to_numpy(dtype=object)
    if kind in _WHOLE and column.isna().any():
        remedy = "Give a value, or export the model with an input of floating point numbers."
        raise InvalidInput(
            "The model takes whole numbers; one is missing.", where=name, remedy=remedy
        )
    with np.errstate(over="ignore"):  # what is too large for its type is infinite, and told later
        return column.to_numpy().astype(_NUMBERS[kind])


def scores_of(outputs: Mapping[str, Any]) -> tuple[Any, Any, list[Any] | None]:
    """Return labels or values, probabilities (rows, classes), and their classes where it names them.

    What is not there is None.
    """
    labels = None
    probabilities = None
    classes = None
    for found in outputs.values():
        if isinstance(found, list):
            classes, probabilities = _of_mappings(found)
        elif found.ndim == 2 and found.shape[1] > 1:
            probabilities = found.astype(np.float64)
        else:
            labels = found.reshape(-1)
    return labels, probabilities, classes


def _of_mappings(rows: Sequence[Mapping[Any, float]]) -> tuple[list[Any], NDArray[np.float64]]:
    """Return classes and probabilities of what the operator ZipMap gives: one mapping a row."""
    classes = list(rows[0])
    probabilities = np.empty((len(rows), len(classes)))
    for place, label in enumerate(classes):
        probabilities[:, place] = [row[label] for row in rows]
    return classes, probabilities


def named_in_nodes(content: bytes) -> list[Any]:
    """Return the classes that an operator of the graph names for its scores, the last of such."""
    import onnx

    found: list[Any] = []
    graph = onnx.load_model_from_string(content).graph
    for node in graph.node:
        named = {attribute.name: attribute for attribute in node.attribute}
        if "classlabels_strings" in named:
            found = [label.decode() for label in named["classlabels_strings"].strings]
        elif "classlabels_int64s" in named:
            found = list(named["classlabels_int64s"].ints)
    return found
