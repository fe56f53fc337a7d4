"""An image of an exported model is whole, and what is in it serves with its own Python."""

import hashlib
import json
import os
import platform
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from serving import running
from training import FACTS, trained

import container_images
from easeml import folders
from easeml.export import load_exported, write_export
from easeml.modules.containers import engines

BUILT = f"{container_images.REPOSITORY}-context"
LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000"]
ASK = """
import sys, urllib.request as request
asked = request.Request("http://127.0.0.1:8080/predict", sys.stdin.buffer.read())
asked.add_header("content-type", "text/csv")
print(request.urlopen(asked).read().decode())
"""
EMPTY = {"PATH": "/nowhere"}


def unpack(tar: Path, root: Path) -> dict:
    """Check every digest of a layout, and put all layers below ``root``; return its configuration."""
    with tarfile.open(tar) as layout:
        assert content(layout, "oci-layout") == {"imageLayoutVersion": "1.0.0"}
        (described,) = content(layout, "index.json")["manifests"]
        manifest = content(layout, address(layout, described))
        config = content(layout, address(layout, manifest["config"]))
        layers = [address(layout, layer) for layer in manifest["layers"]]
        (loaded,) = content(layout, "manifest.json")
        assert loaded["Layers"] == layers
        digests = [layer["digest"] for layer in manifest["layers"]]
        assert config["rootfs"]["diff_ids"] == digests  # they are not compressed
        for layer in layers:
            with tarfile.open(fileobj=layout.extractfile(layer)) as inner:
                assert {member.uid for member in inner} == {0}
                folders.unpack(inner, root)
    return config


def content(layout: tarfile.TarFile, name: str) -> Any:
    file = layout.extractfile(name)
    assert file is not None
    return json.load(file)


def address(layout: tarfile.TarFile, descriptor: dict) -> str:
    """Check digest and size of a blob, and return its name."""
    name = f"blobs/{descriptor['digest'].replace(':', '/')}"
    file = layout.extractfile(name)
    assert file is not None
    digest = hashlib.sha256()
    for part in iter(lambda: file.read(2**20), b""):
        digest.update(part)
    assert descriptor["digest"] == f"sha256:{digest.hexdigest()}"
    assert layout.getmember(name).size == descriptor["size"]
    return name


def in_root(config: dict, root: Path) -> tuple[list[str], dict[str, str]]:
    """Return the entry point and environment of an image, as paths below ``root``.

    The loader of the image is named first, so that no library of this machine is taken.
    """
    environment = dict(entry.split("=", 1) for entry in config["config"]["Env"])
    for name in ("PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH"):
        environment[name] = f"{root}{environment[name]}"
    program, *rest = config["config"]["Entrypoint"]
    (loader,) = root.glob("lib*/ld-linux*")
    return [str(loader), f"{root}{program}", *rest], environment | EMPTY


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="an image is made of a Linux")
def test_an_image_serves_with_nothing_of_this_machine(tmp_path: Path) -> None:
    _, rows = trained("lightgbm-classifier", tmp_path / "m")
    told = write_export(tmp_path / "m", FACTS, "oci", tmp_path / "image.tar")
    assert told["format"] == "oci"
    root = tmp_path / "root"
    config = unpack(tmp_path / "image.tar", root)
    assert config["config"]["User"] == "65534"
    command, environment = in_root(config, root)
    options = ["--host", "127.0.0.1", "--port", "0"]
    with running([*command, *options], root / "app", environment) as (client, pid):
        body = {"content-type": "text/csv"}
        answer = client.post("/predict", content=rows.to_csv(index=False), headers=body).json()
        maps = Path(f"/proc/{pid}/maps").read_text()
    libraries = {line.split()[-1] for line in maps.splitlines() if ".so" in line}
    assert all(path.startswith(str(root)) for path in libraries)
    expected = load_exported(tmp_path / "m").predict(rows)
    assert answer["predictions"] == list(expected["prediction"])
    shares = [row["yes"] for row in answer["probabilities"]]
    assert shares == pytest.approx(list(expected["probability_yes"]), abs=1e-9)


def test_the_build_context_makes_an_image_that_serves(tmp_path: Path) -> None:
    container_images.needs_containers()
    engine = engines.engine()
    if not engine.is_podman:
        pytest.skip("docker mounts nothing while it builds")
    _, rows = trained("lightgbm-classifier", tmp_path / "m")
    context = tmp_path / "context"
    write_export(tmp_path / "m", FACTS, "python", context)
    first, *_ = (context / "Dockerfile").read_text().splitlines()
    assert first == f"FROM python:{platform.python_version()}-slim"

    base, mounts = container_images.base_of_this_machine()
    image = f"{BUILT}:{os.getpid()}"
    options = ["--from", base, "--pull=never", "--network=none", "--layers=false", "--tag", image]
    engine.call(["build", *options, *mounts, str(context)])
    (told,) = json.loads(engine.call(["image", "inspect", image]))
    assert told["Config"]["WorkingDir"] == "/app"
    assert told["Config"]["User"] == "65534"
    assert list(told["Config"]["ExposedPorts"]) == ["8080/tcp"]
    name = f"easeml-tests-{os.getpid()}"
    alone = ["--rm", "--pull=never", "--network=none", "--name", name, *LIMITS]
    starts = [engine.program, "run", *alone, *mounts, image]
    asks = [engine.program, "exec", "--interactive", name, "python", "-c", ASK]
    body = rows.to_csv(index=False).encode()
    with running(starts, context, os.environ):  # nobody outside reaches it
        asked = subprocess.run(asks, input=body, capture_output=True, timeout=120, check=True)
    engine.call(["rmi", image])
    expected = load_exported(tmp_path / "m").predict(rows)
    assert json.loads(asked.stdout)["predictions"] == list(expected["prediction"])
