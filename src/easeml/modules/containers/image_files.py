"""Run as a program: reads the tar file of an image that somebody uploaded, and writes it anew.

``python -I image_files.py FOLDER NAME``: reads ``FOLDER/given.tar``, an OCI image layout or what
``docker save`` writes, and writes ``FOLDER/clean.tar``, which podman and docker load under
``NAME``. It confines itself to the folder first. Of the given image only its layers, its
environment, and its entry point and folder are left, which the contract of ease.ml's prototype needs:
no names, volumes, users, health checks or commands, so that loading it cannot take the name of
another image, and running it does nothing unasked.

https://github.com/opencontainers/image-spec
"""

import hashlib
import io
import json
import platform
import sys
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[3]
GIVEN, CLEAN = "given.tar", "clean.tar"
LARGEST = 8 * 2**30
"""Bytes of all layers of an image, unpacked."""
MOST_LAYERS = 120
_MOST_TIMES = 10  # as many bytes as the file: what is stored is charged for, not what it unpacks to
_LARGEST_DOCUMENT = 4 * 2**20
_CHUNK = 2**20
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_OF_THE_KERNEL = {"proc", "sys", "dev"}
_RELATIVE = {".", ".."}
_GZIP = 31  # what zlib calls a file of gzip
_ZIPPED, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class BadImage(Exception):
    """An image that is not taken, and why."""


def rewrite(given: Path, clean: Path, name: str, largest: int = LARGEST) -> None:
    """Write a given image anew, under a name. Raises ``BadImage``."""
    try:
        with tarfile.open(given, "r:") as source, tarfile.open(clean, "w") as target:
            config_name, layer_names = _parts(source)
            config = document_in(source, config_name)
            _check_machine(config)
            if not 0 < len(layer_names) <= MOST_LAYERS:
                raise BadImage(f"it has {len(layer_names)} layers; 1 to {MOST_LAYERS} are taken")
            layers = [part_of(source, layer_name) for layer_name in layer_names]
            most = min(largest, _MOST_TIMES * given.stat().st_size)
            digests = _copy(layers, target, clean.parent, most)
            _add(target, "config.json", _of_config(config, list(digests.values())))
            told = {"Config": "config.json", "RepoTags": [name], "Layers": list(digests)}
            _add(target, "manifest.json", [told])
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise BadImage(f"it is not a tar file of an image: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadImage("it does not say what its parts are") from error


def _copy(
    layers: Iterable[IO[bytes]], target: tarfile.TarFile, folder: Path, largest: int
) -> dict[str, str]:
    """Copy layers without compression, by way of files in ``folder``; return their digests by name.

    ``largest``: bytes that all of them may have.
    """
    digests = {}
    left = largest
    for number, layer in enumerate(layers):
        place = folder / f"{number}.layer"
        digests[f"{number}.tar"] = _unpack(layer, place, left)
        left -= place.stat().st_size
        target.add(place, f"{number}.tar", filter=_plain)
        place.unlink()
    return digests


def _parts(tar: tarfile.TarFile) -> tuple[str, list[str]]:
    """Return the names of the file of the configuration and of those of the layers, in order."""
    names = set(tar.getnames())
    if "index.json" in names:
        return _parts_of_layout(tar)
    if "manifest.json" not in names:
        raise BadImage("it has neither an index.json nor a manifest.json")
    images = document_in(tar, "manifest.json")
    if len(images) != 1:
        raise BadImage(f"it holds {len(images)} images; one is taken")
    return images[0]["Config"], list(images[0]["Layers"])


def _parts_of_layout(tar: tarfile.TarFile) -> tuple[str, list[str]]:
    """Follow an OCI index to the image for this machine: indexes may refer to indexes."""
    document = document_in(tar, "index.json")
    for _ in range(3):
        if "manifests" not in document:
            return _blob(document["config"]), list(map(_blob, document["layers"]))
        document = document_in(tar, _blob(_for_this_machine(document["manifests"])))
    raise BadImage("its indexes refer to each other")


def _for_this_machine(described: list[dict[str, Any]]) -> dict[str, Any]:
    machine = _MACHINES.get(platform.machine())
    fitting = [one for one in described if _is_for(one, machine)]
    if len(fitting) != 1:
        raise BadImage(f"it holds {len(fitting)} images for linux/{machine}; one is taken")
    return fitting[0]


def _is_for(described: dict[str, Any], machine: str | None) -> bool:
    """Whether an image is for a machine; what it does not say it may be."""
    wanted = {"architecture": machine, "os": "linux", **described.get("platform", {})}
    return wanted["architecture"] == machine and wanted["os"] == "linux"


def _check_machine(config: dict[str, Any]) -> None:
    built, own = config["architecture"], _MACHINES.get(platform.machine())
    if built != own or config["os"] != "linux":
        raise BadImage(f"it is for {config['os']}/{built}; this machine is linux/{own}")


def _blob(descriptor: dict[str, Any]) -> str:
    algorithm, _, digest = descriptor["digest"].partition(":")
    return f"blobs/{algorithm}/{digest}"


def part_of(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    """Return a part of the archive; a link within it is followed by ``tarfile``.

    Raises ``BadImage`` for what is not a file.
    """
    file = tar.extractfile(tar.getmember(name))
    if file is None:
        raise BadImage(f"{name} is not a file")
    return file


def document_in(tar: tarfile.TarFile, name: str) -> Any:
    """Return a small document of the archive. Raises ``BadImage``, ``ValueError``."""
    content = part_of(tar, name).read(_LARGEST_DOCUMENT + 1)
    if len(content) > _LARGEST_DOCUMENT:
        raise BadImage(f"{name} is too large")
    return json.loads(content)


def _unpack(packed: IO[bytes], place: Path, most: int) -> str:
    """Write a layer without compression; return its digest. ``most``: bytes that it may have."""
    digest = hashlib.sha256()
    written = 0
    with place.open("wb") as target:
        for chunk in _chunks(packed):
            written += len(chunk)
            if written > most:
                raise BadImage("its layers have more bytes than an image may have")
            digest.update(chunk)
            target.write(chunk)
    return f"sha256:{digest.hexdigest()}"


def _chunks(packed: IO[bytes]) -> Iterator[bytes]:
    """Give the bytes of a layer, unpacked, at most a chunk at a time."""
    first = packed.read(_CHUNK)
    if first.startswith(_ZSTD):
        raise BadImage("a layer is compressed by zstd; gzip or nothing is taken")
    if first.startswith(_ZIPPED):
        yield from _unzipped(first, packed)
        return
    yield first
    yield from iter(partial(packed.read, _CHUNK), b"")


def _unzipped(first: bytes, packed: IO[bytes]) -> Iterator[bytes]:
    unpacking = zlib.decompressobj(wbits=_GZIP)
    chunk = first
    while chunk:
        yield unpacking.decompress(chunk, _CHUNK)
        left = unpacking.unused_data or unpacking.unconsumed_tail
        chunk = left or packed.read(_CHUNK)
        if chunk and unpacking.eof:  # a file may hold several, one after the other
            unpacking = zlib.decompressobj(wbits=_GZIP)
    if not unpacking.eof:
        raise BadImage("a layer ends too early")


def _of_config(given: dict[str, Any], layers: list[str]) -> dict[str, Any]:
    runs = given.get("config") or {}
    variables = filter(_is_variable, runs.get("Env") or ())
    kept: dict[str, Any] = {"Env": list(variables)}
    entry, folder = runs.get("Entrypoint"), runs.get("WorkingDir")
    if entry and _are_texts(entry):
        kept["Entrypoint"] = entry
    if folder:
        kept["WorkingDir"] = _plain_folder(folder)
    return {
        "architecture": given["architecture"],
        "os": "linux",
        "config": kept,
        "rootfs": {"type": "layers", "diff_ids": layers},
    }


def _is_variable(told: Any) -> bool:
    return isinstance(told, str) and "=" in told


def _are_texts(told: Any) -> bool:
    return isinstance(told, list) and set(map(type, told)) == {str}


def _plain_folder(folder: Any) -> str:
    """Return the folder in which an image's programs begin. Raises ``BadImage`` for one that is the
    kernel's: through it, engines have let programs out (CVE-2024-21626).
    """
    is_absolute = isinstance(folder, str) and folder.startswith("/")
    names = list(filter(None, str(folder).split("/")))
    is_of_the_kernel = not _OF_THE_KERNEL.isdisjoint(names[:1])
    if not is_absolute or is_of_the_kernel or not _RELATIVE.isdisjoint(names):
        raise BadImage(f"its programs would begin in {str(folder)[:80]!r}")
    return folder


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def _add(tar: tarfile.TarFile, name: str, content: Any) -> None:
    written = json.dumps(content).encode()
    info = tarfile.TarInfo(name)
    info.size = len(written)
    tar.addfile(info, io.BytesIO(written))


def main(folder: Path, name: str) -> None:
    """Confine this process to the folder, as far as the machine can, and write the image anew."""
    from easeml.confinement import confine, why_unavailable
    from easeml.parents import die_with_parent

    die_with_parent()
    if not why_unavailable():
        confine(folder)
    try:
        rewrite(folder / GIVEN, folder / CLEAN, name)
    except BadImage as error:
        sys.exit(f"This image cannot be used: {error}.")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(Path(sys.argv[1]), sys.argv[2])
