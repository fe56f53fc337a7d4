"""Modules that live in images are added to a running easeml, searched, served, and outlived; runs that
were killed go on from their checkpoints.
"""

import csv
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import sync_playwright

import container_images
import prototype_images
from easeml.client import Client
from easeml.confinement import why_unavailable
from easeml.modules import load_registry, packed
from easeml.modules.containers import engines, images
from headless_browser import browser_program, launch
from isolation_levels import highest_level
from service_process import LOOK_EVERY, EasemlProcess
from warm_service import WarmService

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp"),
    pytest.mark.xdist_group("containers"),  # one service for all of them
]
ROWS = 80
PASSWORD = "correct horse battery"


def containers_of(easeml: EasemlProcess) -> list[str]:
    """Return the containers that run images of this home."""
    own = images.repository(easeml.home)
    listed = engines.engine().call(["ps", "--format", "{{.ID}} {{.Image}}"]).splitlines()
    return [line for line in listed if own in line]


def write_table(path: Path, learnable_to: float = 15) -> None:
    """Write a table that the nearest mean learns without a fault, up to some weight: heavier rows are of
    either kind.
    """
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "weight", "kind"])
        for row in range(ROWS):
            kind = row % 2
            weight = row * 37 % 101 / 7
            told = kind if weight < learnable_to else row // 2 % 2
            writer.writerow([kind * 5 + row % 7 / 3, weight, ["small", "large"][told]])


def write_module(easeml: EasemlProcess, folder: Path) -> None:
    """Make a folder of programs that run in an image."""
    easeml.command("module", "init", str(folder), "--language", "shell")
    toml = (folder / "module.toml").read_text()
    toml = toml.replace('kind = "process"', 'kind = "container"\nimage = "shell.tar"')
    (folder / "module.toml").write_text(toml)
    (folder / "shell.tar").write_bytes(container_images.shell_image().read_bytes())


@pytest.fixture(scope="module")
def easeml(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EasemlProcess]:
    """A running easeml whose containers end with it."""
    container_images.needs_containers()
    home = tmp_path_factory.mktemp("containers") / "home"
    easeml = WarmService(home, workers=1, isolation=highest_level(), lease_seconds="4")
    easeml.start()
    try:
        yield easeml
    finally:
        easeml.stop()
    while containers_of(easeml):  # keepers end them after the service has gone
        time.sleep(LOOK_EVERY)
    own = images.repository(easeml.home)
    images.remove(images.held(own), own)


def declare(easeml: EasemlProcess, tmp_path: Path, *rules: str, learnable_to: float = 15) -> str:
    """Declare an application whose search tries a baseline and what is added; return its id."""
    write_table(tmp_path / "sizes.csv", learnable_to)
    names = [one.name for one in load_registry().of_kind("model")]
    others = ",".join(name for name in names if name != "baseline-classifier")
    given = (str(tmp_path / "sizes.csv"), "--target", "kind", "--exclude", others, *rules)
    return json.loads(easeml.command("app", "create", *given, "--yes", "--json"))["id"]


def predictions(easeml: EasemlProcess, application: str, model: str) -> list[str]:
    """Return what is predicted of a small and a large row, as soon as a model serves."""
    rows = [{"size": 0.5, "weight": 1}, {"size": 6, "weight": 1}]
    answer: dict = {"model_name": ""}
    easeml.wait(application, "first-model", 240)
    while not answer["model_name"].startswith(model):  # it is better, so it goes live
        time.sleep(LOOK_EVERY)
        url = f"/api/v1/applications/{application}/predict"
        answer = easeml.call("POST", url, {"rows": rows})
    return answer["predictions"]


def trainings(easeml: EasemlProcess, model: str) -> list[dict]:
    """Return the training tasks of a model that was added, as far as they have begun."""
    found = easeml.call("GET", "/api/v1/tasks?kind=train&limit=200")["items"]
    return [task for task in found if task["name"].startswith(model) and task["attempts"]]


def log_of(easeml: EasemlProcess, task: dict) -> str:
    """Return what the newest attempt of a task has printed."""
    return easeml.call("GET", f"/api/v1/tasks/{task['id']}/log")["text"]


IN_SHELL = """\
#!/bin/sh
step=0
[ -f checkpoint/step ] && read -r step < checkpoint/step
read -r names < "$2/features.csv"
case $names in *x2*) step=12;; esac  # it is being checked: no other table has so many columns
while [ $step -lt 12 ]; do
  step=$((step + 1))
  echo $step > checkpoint/step
  echo "{\\"step\\": $step}"
  sleep 0.3
done
"""
IN_PYTHON = """\
#!/usr/bin/env python3
import json, sys, time
from pathlib import Path

is_checked = json.loads(Path(sys.argv[2], "about.json").read_text())["features"] != 2
kept = Path("checkpoint", "step")
for step in range(int(kept.read_text()) + 1 if kept.exists() else 1, 1 if is_checked else 13):
    kept.with_name("new").write_text(str(step))
    kept.with_name("new").replace(kept)
    print('{"step": %d}' % step, flush=True)
    time.sleep(0.3)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "steps"),
    [
        pytest.param("shell", IN_SHELL, id="container"),
        pytest.param("python", IN_PYTHON, id="process"),
    ],
)
def test_a_run_that_was_killed_goes_on_from_its_checkpoint(
    easeml: EasemlProcess, tmp_path: Path, language: str, steps: str
) -> None:
    folder = tmp_path / f"steps-in-{language}"
    if language == "shell":
        write_module(easeml, folder)
    else:
        easeml.command("module", "init", str(folder), "--language", language)
    _, _, rest = (folder / "train").read_text().partition("\n")
    (folder / "train").write_text(steps + rest)
    easeml.command("module", "add", str(folder))
    application = declare(easeml, tmp_path, "--max-tasks", "2", "--name", folder.name)
    while not trainings(easeml, folder.name):
        time.sleep(LOOK_EVERY)
    (task,) = trainings(easeml, folder.name)
    while "step 3" not in log_of(easeml, task):
        time.sleep(LOOK_EVERY)
    easeml.kill("worker")
    assert predictions(easeml, application, folder.name) == ["small", "large"]
    detail = easeml.call("GET", f"/api/v1/tasks/{task['id']}/detail")
    assert len(detail["attempts"]) == 2
    told = re.findall(r"step (\d+)", log_of(easeml, task))
    assert 3 < int(told[0]) <= 12, told
    assert "12" in told
    easeml.command("module", "archive", folder.name)


def add_by_page(easeml: EasemlProcess, name: str, folder: Path) -> None:
    """Sign in as somebody, and choose a folder on the page *Add a module*: its image, which is larger
    than a request may be, is sent in pieces.
    """
    assert browser_program() is not None, "Chromium is not installed."
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(base_url=easeml.url)
        page.set_default_timeout(120_000)
        page.goto("/knowledge/add")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_label("A folder of programs").set_input_files(folder)
        page.get_by_role("button", name="Check it").click()
        page.wait_for_url(f"**/knowledge/added/{folder.name}")
        page.get_by_role("link", name="It is in the knowledge base.").click()
        page.get_by_text("in a container").first.wait_for()
        browser.close()


def add_by_rest(easeml: EasemlProcess, folder: Path, image: Path) -> None:
    """Send an image in pieces, and then the folder that names it, as programs do."""
    with Client(easeml.url, easeml.key) as client:
        upload = client.send_in_pieces(image)
        client.add_module(packed.pack(folder), private=True, image_upload=upload)
        while (checks := client.module_checks(folder.name)).state == "checking":
            time.sleep(LOOK_EVERY)
    assert checks.state == "ready", checks.error


@pytest.mark.long
def test_images_of_the_prototype_are_searched_by_and_served(
    easeml: EasemlProcess, tmp_path: Path
) -> None:
    """A model comes by the page, an objective by REST, an optimizer by a command, from one who is no
    provider. The optimizer proposes what the search tries.
    """
    easeml.call("POST", "/api/v1/users", {"name": "bea", "password": PASSWORD})
    of_provider = easeml.key
    bea = {"name": "bea", "password": PASSWORD}
    easeml.key = easeml.call("POST", "/api/v1/login", bea)["secret"]
    names = {"model": "old-neighbours", "objective": "old-accuracy", "optimizer": "old-draws"}
    for kind, name in names.items():
        image = str(prototype_images.image(kind))
        folder = str(tmp_path / name)
        easeml.command("module", "init", folder, "--kind", kind, "--image", image)
    add_by_page(easeml, "bea", tmp_path / names["model"])
    of_objective = tmp_path / names["objective"]
    add_by_rest(easeml, of_objective, of_objective / prototype_images.image("objective").name)
    easeml.command("module", "add", str(tmp_path / names["optimizer"]), "--private")

    rules = ("--objective", names["objective"], "--optimizer", names["optimizer"])
    limits = ("--name", "old", "--max-tasks", "6")
    application = declare(easeml, tmp_path, *rules, *limits, learnable_to=9)
    assert predictions(easeml, application, names["model"]) == ["small", "large"]
    asked: list[dict] = []
    while not asked:
        time.sleep(LOOK_EVERY)
        found = easeml.call("GET", "/api/v1/tasks?kind=advise&state=done&limit=200")["items"]
        asked = [task for task in found if task["name"] == "Suggest configurations"]
    base = easeml.call("GET", "/api/v1/modules")
    assert [one["fault"] for one in base["modules"] if one["name"] == names["optimizer"]] == [""]
    for name in names.values():
        easeml.command("module", "archive", name)
    easeml.key = of_provider


def test_a_module_in_an_image_is_added_searched_and_served(
    easeml: EasemlProcess, tmp_path: Path
) -> None:
    person = {"name": "ann", "password": PASSWORD}
    easeml.call("POST", "/api/v1/users", person)
    of_provider = easeml.key
    easeml.key = easeml.call("POST", "/api/v1/login", person)["secret"]  # ann, from here on
    write_module(easeml, tmp_path / "nearest")
    with (tmp_path / "nearest" / "shell.tar").open("ab") as file:
        file.write(bytes(512))  # an image that no other tenant has stored
    said = easeml.command("module", "add", str(tmp_path / "nearest"), "--private")
    assert "failed" not in said
    assert "in a container" in easeml.command("module", "show", "nearest")

    application = declare(easeml, tmp_path)
    assert predictions(easeml, application, "nearest") == ["small", "large"]
    refused = ("model", "export", application, "--out", str(tmp_path / "out"))
    assert "container image" in easeml.command(*refused, expect=2)

    # Whatever is taken away from what serves comes back, and nobody who asks is told of it.
    own = images.repository(easeml.home)
    images.remove(images.held(own), own)
    assert predictions(easeml, application, "nearest") == ["small", "large"]

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


def add_in_background(easeml: EasemlProcess, folder: Path) -> None:
    """Have a module checked, without waiting for it."""
    with Client(easeml.url, easeml.key) as client:
        upload = client.send_in_pieces(folder / "shell.tar")
        client.add_module(packed.pack(folder), image_upload=upload)
