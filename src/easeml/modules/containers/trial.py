"""A try whether this machine runs containers: an image of one program, which ends at once."""

import hashlib
import io
import json
import platform
import struct
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from easeml.errors import Conflict, EasemlError
from easeml.modules.programs import Limits

from . import images, running
from .engines import Engine, engine

_IMAGES = "localhost/easeml-trial"
_PROGRAM = "module/train"
LIMITS = Limits(seconds=30.0, memory=64 * 2**20)
# exit(0): mov edi, 0; mov eax, 60; syscall
_EXIT = bytes.fromhex("bf00000000b83c0000000f05")
_LOADED_AT = 0x400000
_HEADERS = 64 + 56  # bytes of the two headers of an ELF file with one segment


def run() -> Engine:
    """Return the engine that ran the program with all limits.

    The image, of a few kilobytes, stays: another process may be trying it at the same moment.

    Raises ``Conflict`` where no engine works, or the machine is not x86-64; ``EasemlError`` with what
    the engine said.
    """
    using = engine()
    if platform.machine() != "x86_64":
        raise Conflict("Programs of modules run on Linux on x86-64.", where="containers")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        write_image(folder / "image.tar", {_PROGRAM: _elf()})
        images.provide_file(folder / "image.tar", _IMAGES)
        digest = images.digest_of_file(folder / "image.tar")
        (folder / "own").mkdir()
        name = f"{_IMAGES}:{digest}"
        try:
            ended = running.run(name, folder / "own", "train", [], LIMITS, lambda line: None)
        except running.NotStarted as error:
            raise EasemlError(str(error), where="containers") from error
    if ended.code != 0 or ended.fault:
        raise EasemlError(
            f"A container ended with exit code {ended.code}. {ended.fault or ended.said}".strip(),
            where="containers",
        )
    return using


def write_image(
    path: Path,
    files: Mapping[str, bytes],
    variables: Mapping[str, str] | None = None,
    *,
    entry: Sequence[str] = (),
    folder: str = "",
) -> None:
    """Write an OCI image layout of one layer as a tar file: ``files`` by name, all executable.

    ``variables``: of the environment of its programs; ``entry``: what it starts by itself; ``folder``:
    where that begins.
    """
    layer = _tar(files)
    environment = [f"{name}={value}" for name, value in (variables or {}).items()]
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Env": environment, "Entrypoint": list(entry), "WorkingDir": folder},
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
    }
    packed_config = json.dumps(config).encode()
    manifest = {
        "schemaVersion": 2,
        "config": _descriptor(packed_config, "config.v1+json"),
        "layers": [_descriptor(layer, "layer.v1.tar")],
    }
    packed_manifest = json.dumps(manifest).encode()
    index = {"schemaVersion": 2, "manifests": [_descriptor(packed_manifest, "manifest.v1+json")]}
    parts = {
        "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
        "index.json": json.dumps(index).encode(),
    }
    for blob in (layer, packed_config, packed_manifest):
        parts[f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}"] = blob
    path.write_bytes(_tar(parts))


def _tar(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _descriptor(content: bytes, kind: str) -> dict[str, Any]:
    media_type = f"application/vnd.oci.image.{kind}"
    return {"mediaType": media_type, "digest": _digest(content), "size": len(content)}


def _elf() -> bytes:
    """Return the smallest program for Linux on x86-64: it ends with exit code 0 (elf(5))."""
    entry = _LOADED_AT + _HEADERS
    length = _HEADERS + len(_EXIT)
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, _LOADED_AT, _LOADED_AT, length, length, 0x1000)
    return identity + header + segment + _EXIT
