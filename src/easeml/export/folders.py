"""Folders with a trained model, the code that it needs, and what is told of it."""

import json
import platform
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import easeml
from easeml.errors import InvalidInput
from easeml.export.exported import ExportedModel, load_exported
from easeml.export.facts import ModelFacts, card, licence_of
from easeml.export.image import write_image
from easeml.export.modelpack import write_modelpack
from easeml.export.onnx_files import sizes_of_graph, write_graph
from easeml.export.papers import data_sheet, page, write_pdf
from easeml.export.signed import MANIFEST
from easeml.export.smaller import Compressed, Evidence, compress, sizes_of_parts
from easeml.modules.containers import images
from easeml.modules.environments import placing
from easeml.signing import SIGNATURE, digest_of
from easeml.version import __version__

if TYPE_CHECKING:
    import pandas as pd

IMAGE = "oci"

Sign = Callable[[str], Mapping[str, Any]]

_ROOMS = ("data", "export", "modules", "protocols", "schema", "search", "zoo")
"""What a model needs to predict: the room with the models, and all below it."""

_FILES = (
    "__init__.py",
    "confinement.py",
    "decimals.py",
    "errors.py",
    "folders.py",
    "ids.py",
    "namespaces.py",
    "objective_names.py",
    "optional.py",
    "parents.py",
    "sampling_error.py",
    "seccomp.py",
    "signing.py",
    "spans.py",
    "version.py",
)
_LIBRARIES = ("numpy", "pandas", "pyarrow", "scikit-learn", "scipy", "skops")
_SERVING = ("httptools", "starlette", "uvicorn")
_MODEL, _CODE = "model", "code"

_LOADER = '''"""Loads the model beside this file: ``from load import model``, ``model.predict(frame)``."""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE / "code"))

from easeml.export import load_exported  # noqa: E402

model = load_exported(_HERE / "model")
'''

_SERVER = '''"""Serves the model beside this file: ``python serve.py --port 8080``."""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE / "code"))

from easeml.export.server import main  # noqa: E402

if __name__ == "__main__":
    main(_HERE)
'''

_DOCKERFILE = """\
FROM python:{python}-slim
WORKDIR /app
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 \\
    && rm -rf /var/lib/apt/lists/*
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
USER 65534
ENV HOST=0.0.0.0 PORT=8080
EXPOSE 8080
ENTRYPOINT ["python", "serve.py"]
"""


@dataclass(frozen=True, slots=True)
class _Source:
    """What is exported: the model's folder and what is known of it."""

    model: Path
    exported: ExportedModel
    facts: ModelFacts
    rows: "pd.DataFrame | None"
    compressed: Compressed | None = None

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The model's manifest."""
        return self.exported.trained.manifest


@dataclass(frozen=True, slots=True)
class _Written:
    """The distributions that what was written needs, and what else is told of it."""

    pins: Mapping[str, str]
    more: Mapping[str, Any] = field(default_factory=dict)


def write_export(
    model: Path,
    facts: ModelFacts,
    form: str,
    out: Path,
    rows: "pd.DataFrame | None" = None,
    evidence: Evidence | None = None,
    *,
    sign: Sign | None = None,
    is_pack: bool = False,
) -> dict[str, Any]:
    """Write a trained model's folder ``model`` in a format of ``FORMATS`` to ``out``.

    ``out`` is a new folder, or the new tar file of an image. ``rows``: typed inputs on which a
    model that is translated (``onnx``) has to predict alike. ``evidence``: the model is made smaller
    first, see ``smaller.compress``. ``sign``: the signature of a manifest's text, for ``model.sig``.
    ``is_pack``: ``out`` is the tar file of a ModelPack with what the folder would hold. Returns what
    ``export.json`` tells of it. Raises ``InvalidInput`` where ``out`` is there, the format is not
    known or the model cannot be translated or made smaller, ``Damaged`` where the model does not
    predict here as it did when trained; then nothing is written.
    """
    if form not in FORMATS:
        remedy = f"Known: {', '.join(FORMATS)}."
        raise InvalidInput(f"There is no format {form!r}.", where="format", remedy=remedy)
    if out.exists():
        remedy = "Name a folder or file that is not there yet."
        raise InvalidInput("It is there already.", where=str(out), remedy=remedy)
    if is_pack and form == IMAGE:
        remedy = "Push the image itself, or export another format as a ModelPack."
        raise InvalidInput("An image is made for registries already.", remedy=remedy)
    _check_no_image(model)
    source = _Source(model, load_exported(model), facts, rows)
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent, prefix=".easeml-export-") as temporary:
        if evidence is not None:
            source = _smaller(source, evidence, form, Path(temporary) / "smaller")
        folder = Path(temporary) / "export"
        folder.mkdir()
        written = FORMATS[form](source, folder)
        told = _tell(source, form, written, folder)
        if sign is not None:
            signature = sign((folder / MANIFEST).read_text())
            (folder / SIGNATURE).write_text(json.dumps(signature, indent=1))
        packed = Path(temporary) / "packed.tar"
        if form == IMAGE:
            write_image(folder, written.pins, facts, packed)
        elif is_pack:
            write_modelpack(folder, form, facts, packed)
        else:
            packed = folder
        packed.rename(out)
    return told


def _smaller(source: _Source, evidence: Evidence, form: str, folder: Path) -> _Source:
    """Return what is exported instead of ``source``: a smaller model, written into ``folder``."""
    sizes = sizes_of_graph if form == "onnx" else sizes_of_parts
    objective = source.facts.objective
    compressed = compress(source.model, evidence, objective, folder, sizes)
    exported = load_exported(folder)
    return replace(source, model=folder, exported=exported, compressed=compressed)


def _check_no_image(model: Path) -> None:
    """Raise ``InvalidInput`` for a model that predicts by programs of an image, or with packages of
    their own: the folder is no place for these, and where it goes there may be no engine.
    """
    manifests = b"\n".join(path.read_bytes() for path in model.rglob("manifest.json"))
    lacks = "in a container image" if images.named_in(manifests) else ""
    if placing.named_in(manifests):
        lacks = "with packages of their own"
    if lacks:
        raise InvalidInput(
            f"This model predicts by programs {lacks}, which are not exported.",
            where=str(model.name),
            remedy="Predict at its endpoint, or export another model of the application.",
        )


def _write_parts(source: _Source, out: Path) -> _Written:
    """Write the model, the code that it needs, and the libraries of both."""
    shutil.copytree(source.model, out / _MODEL)
    _copy_code(out / _CODE)
    pins = _pins(source.manifest)
    _write_requirements(pins, out)
    return _Written(pins)


def _write_requirements(pins: Mapping[str, str], out: Path) -> None:
    lines = [f"{name}=={number}" for name, number in pins.items()]
    (out / "requirements.txt").write_text("\n".join(lines) + "\n")


def _write_onnx(source: _Source, out: Path) -> _Written:
    """Write one graph that predicts every row alike, and how well it agrees."""
    if source.rows is None:
        raise InvalidInput("Rows are needed to compare an ONNX graph.", where="rows")
    agreed = write_graph(source.exported, source.rows, out)
    pins = {name: version(name) for name in ("numpy", "onnxruntime")}
    _write_requirements(pins, out)
    return _Written(pins, {"agreement": agreed})


def _write_python(source: _Source, out: Path) -> _Written:
    """Write what loads the model, what serves it, and what makes an image of the folder."""
    (out / "load.py").write_text(_LOADER)
    (out / "serve.py").write_text(_SERVER)
    dockerfile = _DOCKERFILE.format(python=platform.python_version())
    (out / "Dockerfile").write_text(dockerfile)
    return _write_parts(source, out)


def _write_mlflow(source: _Source, out: Path) -> _Written:
    """Write what MLflow reads: see "MLflow Models" in its documentation."""
    python = platform.python_version()
    lines = [
        "flavors:",
        "  python_function:",
        f"    code: {_CODE}",
        f"    data: {_MODEL}",
        "    env:",
        "      virtualenv: python_env.yaml",
        "    loader_module: easeml.export.mlflow_model",
        f"    python_version: {python}",
    ]
    (out / "MLmodel").write_text("\n".join(lines) + "\n")
    environment = [f"python: {python}", "dependencies:", "- -r requirements.txt"]
    (out / "python_env.yaml").write_text("\n".join(environment) + "\n")
    return _write_parts(source, out)


FORMATS: dict[str, Callable[[_Source, Path], _Written]] = {
    "python": _write_python,
    "mlflow": _write_mlflow,
    "onnx": _write_onnx,
    IMAGE: _write_python,
}
"""Name to what writes it into a folder, which an image holds."""


def _copy_code(code: Path) -> None:
    """Copy the rooms of this easeml that predict."""
    source = Path(easeml.__file__).parent
    target = code / "easeml"
    target.mkdir(parents=True)
    for name in _FILES:
        shutil.copyfile(source / name, target / name)
    ignored = shutil.ignore_patterns("__pycache__")
    for room in _ROOMS:
        shutil.copytree(source / room, target / room, ignore=ignored)


def _pins(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of libraries that the model was fitted with, and of those that read rows."""
    pins = {name: version(name) for name in (*_LIBRARIES, *_SERVING)}
    pins |= manifest["libraries"]
    del pins["easeml"]  # its code lies beside the model
    return {name: _public(pins[name]) for name in sorted(pins)}


def _public(number: str) -> str:
    """Return a version without its local part, such as ``+cpu``, which no index has."""
    return number.partition("+")[0]


def _tell(source: _Source, form: str, written: _Written, out: Path) -> dict[str, Any]:
    """Write the card, the data sheet and ``export.json``, with the digest of every other file; return the latter."""
    licences = {name: licence_of(name) for name in ("easeml", *written.pins)}
    cost = None if source.compressed is None else source.compressed.to_json()
    written_card = card(source.facts, source.manifest, licences, cost)
    (out / "card.md").write_text(written_card)
    (out / "card.html").write_text(page(written_card))
    write_pdf(written_card, out / "card.pdf")
    data = data_sheet(source.facts, source.manifest)
    (out / "data.croissant.json").write_text(json.dumps(data, indent=1))
    digests = {}
    for path in sorted(out.rglob("*")):
        if path.is_file():
            name = path.relative_to(out).as_posix()
            digests[name] = digest_of(path.read_bytes())
    told = {
        "format": form,
        "easeml": __version__,
        "facts": json.loads(source.facts.to_json()),
        "schema_in": source.manifest["schema_in"],
        "schema_out": source.manifest["schema_out"],
        "requirements": dict(written.pins),
        "licences": licences,
        **written.more,
        **({"compressed": cost} if cost else {}),
        "sha256": digests,
    }
    (out / MANIFEST).write_text(json.dumps(told, indent=1))
    return told
