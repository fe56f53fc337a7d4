"""The GPUs of this machine, as a container engine is told of them: by CDI, the Container Device
Interface (https://github.com/cncf-tags/container-device-interface), of podman and docker alike.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from easeml.errors import Conflict
from easeml.modules import gpu_share

from .engines import Engine

FOLDERS = [Path("/etc/cdi"), Path("/var/run/cdi")]
"""Where descriptions of devices lie, which their vendors' tools write."""
NO_SHARE: Mapping[str, str] = {}
_GPU = "/gpu"  # how the kind of a device ends: nvidia.com/gpu, amd.com/gpu
_ALL = "all"
_FIRST_DOCKER = 25  # whose releases from then on know CDI


def are_there() -> bool:
    """Whether a GPU of this machine is described."""
    return bool(_gpus())


def options(using: Engine, share: Mapping[str, str] = NO_SHARE) -> list[str]:
    """Return the options of ``run`` that give a container the GPUs of this machine.

    ``share``: what this process was told of its own share (``gpu_share.here``): the container then
    gets that GPU alone, where it is described by itself, and is told the same.

    Raises ``Conflict`` where there is none, or the engine is too old to pass one on.
    """
    found = _of_share(share) or _gpus()
    if not found:
        raise Conflict(
            "The module asks for a GPU, and this machine describes none to containers.",
            where="runtime.gpu",
            remedy="Write a description of it (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml), "
            "or leave gpu out of module.toml.",
        )
    major = using.version.partition(".")[0]
    if not using.is_podman and major.isdecimal() and int(major) < _FIRST_DOCKER:
        raise Conflict(
            f"docker {using.version} passes no GPU on by CDI.",
            where="runtime.gpu",
            remedy=f"Install docker {_FIRST_DOCKER} or newer, or podman.",
        )
    told = []
    for device in found:
        told += ["--device", device]
    for variable in share.items():
        told += ["--env", "=".join(variable)]
    return told


def _of_share(share: Mapping[str, str]) -> list[str]:
    """Return the name of the GPU of a share; nothing where only all together are described."""
    wanted = [share.get(gpu_share.VISIBLE), share.get(gpu_share.NUMBER)]
    for kind, names in _described().items():
        for name in filter(names.__contains__, wanted):
            return [f"{kind}={name}"]
    return []


def _gpus() -> list[str]:
    """Return the GPUs that are described, by the names that an engine knows them by."""
    return [
        f"{kind}={name}"
        for kind, names in _described().items()
        for name in ([_ALL] if _ALL in names else names)
    ]


def _described() -> dict[str, list[str]]:
    """Return the names of the GPUs that are described, by their kind."""
    found = {}
    for document in _documents():
        kind = str(document.get("kind", ""))
        if kind.endswith(_GPU):
            found[kind] = [str(one.get("name", "")) for one in document.get("devices", [])]
    return found


def _documents() -> Iterator[dict[str, Any]]:
    import yaml  # an exported model has no containers, and does without

    for folder in FOLDERS:
        for path in sorted(folder.glob("*")):
            if path.suffix in (".json", ".yaml", ".yml"):
                document = yaml.safe_load(path.read_text("utf-8"))  # JSON is YAML, too
                if isinstance(document, dict):
                    yield document
