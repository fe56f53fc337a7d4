"""An OCI image of an exported folder, written without a daemon and without a network.

The image has no base: its layers are this machine's Python with the libraries of the system that it
needs, the pinned packages, and the folder. What is written is a tar file of an OCI image layout, with
the ``manifest.json`` that older releases of ``docker load`` read.
"""

import platform
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from easeml.errors import InvalidInput
from easeml.export import layout
from easeml.export.bytecode import bytecode
from easeml.export.facts import ModelFacts
from easeml.export.image_files import HOME, PACKAGES, SYSTEM, interpreter, packages
from easeml.export.layout import Blob

_APP = "app"
_PORT = 8080
_NOBODY = "65534"
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_ENVIRONMENT = (
    f"PATH=/{HOME}/bin",
    f"PYTHONHOME=/{HOME}",
    f"PYTHONPATH=/{PACKAGES}",
    f"LD_LIBRARY_PATH=/{SYSTEM}",
    "PYTHONDONTWRITEBYTECODE=1",
    "HOST=0.0.0.0",
    f"PORT={_PORT}",
)


def write_image(folder: Path, pins: Iterable[str], facts: ModelFacts, out: Path) -> None:
    """Write the exported ``folder`` and the distributions ``pins`` as an image to the file ``out``.

    Raises ``InvalidInput`` where this machine cannot give the image its Python.
    """
    machine = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None:
        remedy = "Export as python; its Dockerfile makes the image elsewhere."
        raise InvalidInput("An image is made of this machine's Python, on Linux.", remedy=remedy)
    found = packages(pins)
    with TemporaryDirectory(dir=out.parent) as temporary:
        place = Path(temporary)
        python = interpreter(found.values())
        layers = [
            _layer(python | bytecode(python, place / "of-python"), place / "python.tar"),
            _layer(found | bytecode(found, place / "of-packages"), place / "packages.tar"),
            _layer(layout.files_below(folder, _APP), place / "application.tar"),
        ]
        told = _config(layers, machine, facts)
        config = layout.document(told, f"{layout.OF_IMAGE}.config.v1+json", place / "config")
        name = f"easeml/{facts.application_id.lower()}:{facts.model_id}"
        more = {"manifest.json": [_for_docker(config, layers, name)]}
        layout.write_layout(config, layers, facts, out, name=name, more=more)


def _layer(files: Mapping[str, Path], path: Path) -> Blob:
    layout.write_tar(files, path)
    return layout.blob_of(path, f"{layout.OF_IMAGE}.layer.v1.tar")


def _config(layers: list[Blob], machine: str, facts: ModelFacts) -> dict[str, Any]:
    runs = {
        "Env": list(_ENVIRONMENT),
        "Entrypoint": [f"/{HOME}/bin/python3", "serve.py"],
        "WorkingDir": f"/{_APP}",
        "User": _NOBODY,
        "ExposedPorts": {f"{_PORT}/tcp": {}},
        "Labels": layout.annotations(facts),
    }
    # The digest of a layer that is not compressed is that of its content.
    contents = [f"sha256:{layer.digest}" for layer in layers]
    said = ("Python and the libraries it needs", "packages", "the model and its code")
    return {
        "architecture": machine,
        "os": "linux",
        "config": runs,
        "rootfs": {"type": "layers", "diff_ids": contents},
        "history": [{"created_by": f"easeml model export: {one}"} for one in said],
    }


def _for_docker(config: Blob, layers: list[Blob], name: str) -> dict[str, Any]:
    """Return what ``docker load`` read before it knew layouts."""
    files = [layer.address for layer in layers]
    return {"Config": config.address, "RepoTags": [name], "Layers": files}
