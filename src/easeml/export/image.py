"""An OCI image of an exported folder, written without a daemon and without a network.

The image has no base: its layers are this machine's Python with the libraries of the system that it
needs, the pinned packages, and the folder. What is written is a tar file of an OCI image layout
(https://github.com/opencontainers/image-spec/blob/main/image-layout.md), with the ``manifest.json``
that older releases of ``docker load`` read.
"""

import hashlib
import io
import json
import platform
import sys
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from easeml.errors import InvalidInput
from easeml.export.facts import ModelFacts
from easeml.export.image_files import HOME, PACKAGES, SYSTEM, interpreter, packages

_APP = "app"
_PORT = 8080
_NOBODY = "65534"
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_OF_IMAGE = "application/vnd.oci.image"
_ENVIRONMENT = (
    f"PATH=/{HOME}/bin",
    f"PYTHONHOME=/{HOME}",
    f"PYTHONPATH=/{PACKAGES}",
    f"LD_LIBRARY_PATH=/{SYSTEM}",
    "PYTHONDONTWRITEBYTECODE=1",
    "HOST=0.0.0.0",
    f"PORT={_PORT}",
)


@dataclass(frozen=True, slots=True)
class _Blob:
    """A file that is named by its content."""

    path: Path
    digest: str  # sha256, in hexadecimal
    media_type: str

    @property
    def descriptor(self) -> dict[str, Any]:
        """What refers to it."""
        size = self.path.stat().st_size
        return {"mediaType": self.media_type, "digest": f"sha256:{self.digest}", "size": size}


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
        layers = [
            _layer(interpreter(found.values()), place / "python.tar"),
            _layer(found, place / "packages.tar"),
            _layer(_application(folder), place / "application.tar"),
        ]
        config = _document(_config(layers, machine, facts), "config.v1+json", place / "config")
        described = _document(_manifest(config, layers, facts), "manifest.v1+json", place / "told")
        with tarfile.open(out, "w") as tar:
            _add_json(tar, "oci-layout", {"imageLayoutVersion": "1.0.0"})
            _add_json(tar, "index.json", _index(described, facts))
            _add_json(tar, "manifest.json", [_for_docker(config, layers, facts)])
            for blob in (*layers, config, described):
                tar.add(blob.path, _address(blob), filter=_plain)


def _application(folder: Path) -> dict[str, Path]:
    """Return the files of an exported folder by their names in the image."""
    names = {}
    for path in folder.rglob("*"):
        if path.is_file():
            names[f"{_APP}/{path.relative_to(folder).as_posix()}"] = path
    return names


def _layer(files: Mapping[str, Path], path: Path) -> _Blob:
    """Write files by their names in the image into a tar file that depends on nothing else."""
    with tarfile.open(path, "w") as tar:
        for name in sorted(files):
            tar.add(files[name].resolve(), name, filter=_plain)
    return _blob(path, "layer.v1.tar")


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return an entry without owner and time, readable by everybody."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 0
    info.mode = 0o755 if info.mode & 0o100 else 0o644
    return info


def _blob(path: Path, media_type: str) -> _Blob:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _Blob(path, digest, f"{_OF_IMAGE}.{media_type}")


def _document(content: Mapping[str, Any], media_type: str, path: Path) -> _Blob:
    path.write_text(json.dumps(content))
    return _blob(path, media_type)


def _config(layers: list[_Blob], machine: str, facts: ModelFacts) -> dict[str, Any]:
    runs = {
        "Env": list(_ENVIRONMENT),
        "Entrypoint": [f"/{HOME}/bin/python3", "serve.py"],
        "WorkingDir": f"/{_APP}",
        "User": _NOBODY,
        "ExposedPorts": {f"{_PORT}/tcp": {}},
        "Labels": _annotations(facts),
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


def _manifest(config: _Blob, layers: list[_Blob], facts: ModelFacts) -> dict[str, Any]:
    return {
        "schemaVersion": 2,
        "mediaType": f"{_OF_IMAGE}.manifest.v1+json",
        "config": config.descriptor,
        "layers": [layer.descriptor for layer in layers],
        "annotations": _annotations(facts),
    }


def _index(described: _Blob, facts: ModelFacts) -> dict[str, Any]:
    named = {"org.opencontainers.image.ref.name": facts.model_id}
    return {
        "schemaVersion": 2,
        "mediaType": f"{_OF_IMAGE}.index.v1+json",
        "manifests": [{**described.descriptor, "annotations": named}],
    }


def _for_docker(config: _Blob, layers: list[_Blob], facts: ModelFacts) -> dict[str, Any]:
    """Return what ``docker load`` read before it knew layouts."""
    tag = f"easeml/{facts.application_id.lower()}:{facts.model_id}"
    files = [_address(layer) for layer in layers]
    return {"Config": _address(config), "RepoTags": [tag], "Layers": files}


def _annotations(facts: ModelFacts) -> dict[str, str]:
    return {
        "org.opencontainers.image.title": f"{facts.model} of {facts.application}",
        "org.opencontainers.image.version": facts.model_id,
    }


def _address(blob: _Blob) -> str:
    return f"blobs/sha256/{blob.digest}"


def _add_json(tar: tarfile.TarFile, name: str, content: Any) -> None:
    written = json.dumps(content).encode()
    info = tarfile.TarInfo(name)
    info.size = len(written)
    tar.addfile(info, io.BytesIO(written))
