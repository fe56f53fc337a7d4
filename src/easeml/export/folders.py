"""Folders with a trained model, the code that it needs, and what is told of it."""

import hashlib
import json
import platform
import shutil
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import easeml
from easeml.errors import InvalidInput
from easeml.export.exported import load_exported
from easeml.export.facts import ModelFacts, card, licence_of
from easeml.export.image import write_image

IMAGE = "oci"

_ROOMS = ("data", "export", "modules", "protocols", "schema", "search", "zoo")
"""What a model needs to predict: the room with the models, and all below it."""

_FILES = ("__init__.py", "errors.py", "ids.py")
_LIBRARIES = ("numpy", "pandas", "pyarrow", "scikit-learn", "scipy", "skops")
_SERVING = ("httptools", "starlette", "uvicorn")
_MODEL, _CODE, _ABOUT = "model", "code", "export.json"

_LOADER = '''"""Loads the model beside this file: ``from load import model``, ``model.predict(frame)``."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE / "code"))

from easeml.export import load_exported  # noqa: E402

model = load_exported(_HERE / "model")
'''

_SERVER = '''"""Serves the model beside this file: ``python serve.py --port 8080``."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

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


def write_export(model: Path, facts: ModelFacts, form: str, out: Path) -> dict[str, Any]:
    """Write a trained model's folder ``model`` in a format of ``FORMATS`` to ``out``.

    ``out`` is a new folder, or the new tar file of an image. Returns what ``export.json`` tells of
    it. Raises ``InvalidInput`` where ``out`` is there or the format is not known, ``Damaged`` where
    the model does not predict here as it did when trained; then nothing is written.
    """
    if form not in FORMATS:
        remedy = f"Known: {', '.join(FORMATS)}."
        raise InvalidInput(f"There is no format {form!r}.", where="format", remedy=remedy)
    if out.exists():
        remedy = "Name a folder or file that is not there yet."
        raise InvalidInput("It is there already.", where=str(out), remedy=remedy)
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent, prefix=".easeml-export-") as temporary:
        folder = Path(temporary) / "export"
        told = _write_folder(model, facts, form, folder)
        if form != IMAGE:
            folder.rename(out)
            return told
        image = Path(temporary) / "image.tar"
        write_image(folder, told["requirements"], facts, image)
        image.rename(out)
    return told


def _write_folder(model: Path, facts: ModelFacts, form: str, out: Path) -> dict[str, Any]:
    manifest = load_exported(model).trained.manifest
    out.mkdir()
    shutil.copytree(model, out / _MODEL)
    _copy_code(out / _CODE)
    pins = _pins(manifest)
    lines = [f"{name}=={number}" for name, number in pins.items()]
    (out / "requirements.txt").write_text("\n".join(lines) + "\n")
    FORMATS[form](out)
    licences = {name: licence_of(name) for name in ("easeml", *pins)}
    (out / "card.md").write_text(card(facts, manifest, licences))
    return _tell(out, form, facts, manifest, pins, licences)


def _write_python(out: Path) -> None:
    """Write what loads the model, what serves it, and what makes an image of the folder."""
    (out / "load.py").write_text(_LOADER)
    (out / "serve.py").write_text(_SERVER)
    dockerfile = _DOCKERFILE.format(python=platform.python_version())
    (out / "Dockerfile").write_text(dockerfile)


def _write_mlflow(out: Path) -> None:
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


FORMATS: dict[str, Callable[[Path], None]] = {
    "python": _write_python,
    "mlflow": _write_mlflow,
    IMAGE: _write_python,
}
"""Name to what is written beside model, code and requirements."""


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
    return dict(sorted(pins.items()))


def _tell(
    out: Path,
    form: str,
    facts: ModelFacts,
    manifest: Mapping[str, Any],
    pins: Mapping[str, str],
    licences: Mapping[str, str],
) -> dict[str, Any]:
    """Write ``export.json``, with the digest of every other file, and return it."""
    digests = {}
    for path in sorted(out.rglob("*")):
        if path.is_file():
            name = path.relative_to(out).as_posix()
            digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    told = {
        "format": form,
        "easeml": easeml.__version__,
        "facts": json.loads(facts.to_json()),
        "schema_in": manifest["schema_in"],
        "schema_out": manifest["schema_out"],
        "requirements": dict(pins),
        "licences": dict(licences),
        "sha256": digests,
    }
    (out / _ABOUT).write_text(json.dumps(told, indent=1))
    return told
