"""A module that lives in an image is added to a running easeml, searched, served, and outlived."""

import csv
import json
import time
from pathlib import Path
from urllib.error import HTTPError

import pytest

import container_images
from easeml.client import Client
from easeml.confinement import why_unavailable
from easeml.modules import load_registry, packed
from easeml.modules.containers import engines, images
from isolation_levels import highest_level
from service_process import LOOK_EVERY, EasemlProcess

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp"),
]
ROWS = 80


def containers_of(easeml: EasemlProcess) -> list[str]:
    """Return the containers that run images of this home."""
    own = images.repository(easeml.home)
    listed = engines.engine().call(["ps", "--format", "{{.ID}} {{.Image}}"]).splitlines()
    return [line for line in listed if own in line]


def write_table(path: Path) -> None:
    """Write a table that the nearest mean learns without a fault."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "weight", "kind"])
        for row in range(ROWS):
            kind = row % 2
            writer.writerow([kind * 5 + row % 7 / 3, row % 5, ["small", "large"][kind]])


def write_module(easeml: EasemlProcess, folder: Path) -> None:
    """Make a folder of programs that run in an image."""
    easeml.command("module", "init", str(folder), "--language", "shell")
    toml = (folder / "module.toml").read_text()
    toml = toml.replace('kind = "process"', 'kind = "container"\nimage = "shell.tar"')
    (folder / "module.toml").write_text(toml)
    (folder / "shell.tar").write_bytes(container_images.shell_image().read_bytes())


def test_a_module_in_an_image_is_added_searched_and_served(tmp_path: Path) -> None:
    container_images.needs_containers()
    write_table(tmp_path / "sizes.csv")
    names = [one.name for one in load_registry().of_kind("model")]
    others = ",".join(name for name in names if name != "baseline-classifier")
    easeml = EasemlProcess(tmp_path / "home", workers=1, isolation=highest_level())
    easeml.start()
    try:
        person = {"name": "ann", "password": "correct horse battery"}
        easeml.call("POST", "/api/v1/users", person)
        of_provider = easeml.key
        easeml.key = easeml.call("POST", "/api/v1/login", person)["secret"]  # ann, from here on
        write_module(easeml, tmp_path / "nearest")
        said = easeml.command("module", "add", str(tmp_path / "nearest"), "--private")
        assert "failed" not in said
        assert "in a container" in easeml.command("module", "show", "nearest")

        rules = ("--target", "kind", "--exclude", others)
        made = easeml.command(
            "app", "create", str(tmp_path / "sizes.csv"), *rules, "--yes", "--json"
        )
        application = f"/api/v1/applications/{json.loads(made)['id']}"
        easeml.wait(json.loads(made)["id"], "first-model", 120)
        rows = [
            {"size": 0.5, "weight": 1},
            {"size": 6, "weight": 1},
        ]
        answer: dict = {"model_name": ""}
        while not answer["model_name"].startswith("nearest"):  # it is better, so it goes live
            time.sleep(LOOK_EVERY)
            answer = easeml.call("POST", f"{application}/predict", {"rows": rows})
        assert answer["predictions"] == ["small", "large"]
        refused = ("model", "export", json.loads(made)["id"], "--out", str(tmp_path / "out"))
        assert "container image" in easeml.command(*refused, expect=2)

        # Whatever is taken away from what serves comes back, and nobody who asks is told of it.
        own = images.repository(easeml.home)
        images.remove(images.held(own), own)
        answer = easeml.call("POST", f"{application}/predict", {"rows": rows})
        assert answer["predictions"] == ["small", "large"]

        # Others may not name an image of the machine, nor one that nobody sent.
        toml = (tmp_path / "nearest" / "module.toml").read_text().replace("nearest", "other")
        named = {"toml": toml.replace("shell.tar", "some:1"), "files": {}, "private": True}
        with pytest.raises(HTTPError, match="403"):
            easeml.call("POST", "/api/v1/modules", named)
        digest = images.digest_of_file(tmp_path / "nearest" / "shell.tar")
        easeml.key = of_provider
        of_ann = {"toml": f'{toml}\n[image]\nref = "image-sha256:{digest}"\n'}
        with pytest.raises(HTTPError, match="422"):
            easeml.call("POST", "/api/v1/modules", of_ann)
        assert easeml.call("GET", "/api/v1/status")["containers"].startswith(("podman", "docker"))

        # A worker is killed while a container runs: the container goes with it.
        (tmp_path / "nearest" / "train").write_text("#!/bin/sh\nsleep 600\n")
        (tmp_path / "nearest" / "module.toml").write_text(toml)
        add_in_background(easeml, tmp_path / "nearest")
        while not containers_of(easeml):
            time.sleep(LOOK_EVERY)
        first = containers_of(easeml)
        easeml.kill("worker")
        while set(first) & set(containers_of(easeml)):
            time.sleep(LOOK_EVERY)
    finally:
        easeml.stop()
    while containers_of(easeml):  # keepers end them after the service has gone
        time.sleep(LOOK_EVERY)
    images.remove(images.held(own), own)


def add_in_background(easeml: EasemlProcess, folder: Path) -> None:
    """Have a module checked, without waiting for it."""
    with Client(easeml.url, easeml.key) as client:
        upload = client.send_in_pieces(folder / "shell.tar")
        client.add_module(packed.pack(folder), image_upload=upload)
