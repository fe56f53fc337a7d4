"""OCI image layouts: tar files of blobs that are named by their content, which registries take.

https://github.com/opencontainers/image-spec/blob/main/image-layout.md
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from easeml.export.facts import ModelFacts

OF_IMAGE = "application/vnd.oci.image"


@dataclass(frozen=True, slots=True)
class Blob:
    """A file that is named by its content. ``annotations``: of what refers to it."""

    path: Path
    digest: str  # sha256, in hexadecimal
    media_type: str
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Its name in the layout."""
        return f"blobs/sha256/{self.digest}"

    @property
    def descriptor(self) -> dict[str, Any]:
        """What refers to it."""
        size = self.path.stat().st_size
        told = {"mediaType": self.media_type, "digest": f"sha256:{self.digest}", "size": size}
        if self.annotations:
            told["annotations"] = dict(self.annotations)
        return told


def blob_of(path: Path, media_type: str, annotations: Mapping[str, str] | None = None) -> Blob:
    """Return a file as a blob."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Blob(path, digest, media_type, annotations or {})


def write_tar(files: Mapping[str, Path], path: Path) -> None:
    """Write files by their names inside into a tar file that depends on nothing else."""
    with tarfile.open(path, "w") as tar:
        for name in sorted(files):
            tar.add(files[name].resolve(), name, filter=_plain)


def files_below(folder: Path, prefix: str) -> dict[str, Path]:
    """Return the files below a folder by their names, each after ``prefix``."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            found[f"{prefix}/{path.relative_to(folder).as_posix()}"] = path
    return found


def document(content: Mapping[str, Any], media_type: str, path: Path) -> Blob:
    """Write a JSON document; return it as a blob."""
    path.write_text(json.dumps(content))
    return blob_of(path, media_type)


def annotations(facts: ModelFacts) -> dict[str, str]:
    """Return what a registry shows of a model."""
    return {
        "org.opencontainers.image.title": f"{facts.model} of {facts.application}",
        "org.opencontainers.image.version": facts.model_id,
    }


def write_layout(
    config: Blob,
    layers: Iterable[Blob],
    facts: ModelFacts,
    out: Path,
    *,
    name: str = "",
    artifact_type: str = "",
    more: Mapping[str, Any] | None = None,
) -> None:
    """Write a layout with one manifest into the tar file ``out``; the manifest lies beside ``config``.

    ``name``: what it is called there, by default the id of the model; ``artifact_type``: of what is
    no image; ``more``: further JSON documents by their names.
    """
    media_type = f"{OF_IMAGE}.manifest.v1+json"
    manifest: dict[str, Any] = {
        "schemaVersion": 2,
        "mediaType": media_type,
        "config": config.descriptor,
        "layers": [layer.descriptor for layer in layers],
        "annotations": annotations(facts),
    }
    if artifact_type:
        manifest["artifactType"] = artifact_type
    described = document(manifest, media_type, config.path.with_name("manifest"))
    named = {"org.opencontainers.image.ref.name": name or facts.model_id}
    index = {
        "schemaVersion": 2,
        "mediaType": f"{OF_IMAGE}.index.v1+json",
        "manifests": [{**described.descriptor, "annotations": named}],
    }
    documents = {"oci-layout": {"imageLayoutVersion": "1.0.0"}, "index.json": index, **(more or {})}
    blobs = {
        blob.address: blob for blob in (*layers, config, described)
    }  # alike ones lie there once
    with tarfile.open(out, "w") as tar:
        for file, content in documents.items():
            _add_json(tar, file, content)
        for address, blob in blobs.items():
            tar.add(blob.path, address, filter=_plain)


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return an entry without owner and time, readable by everybody."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 0
    info.mode = 0o755 if info.mode & 0o100 else 0o644
    return info


def _add_json(tar: tarfile.TarFile, name: str, content: Any) -> None:
    written = json.dumps(content).encode()
    info = tarfile.TarInfo(name)
    info.size = len(written)
    tar.addfile(info, io.BytesIO(written))
