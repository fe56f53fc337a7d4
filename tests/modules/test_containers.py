"""Images of modules: what is taken, what is left of it, and what becomes of containers."""

import gzip
import hashlib
import io
import json
import os
import signal
import tarfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import container_images
from easeml.errors import Conflict, EasemlError, InvalidInput, NotFound
from easeml.modules import Context, Data, Module, packed, parse, skeletons
from easeml.modules.containers import (
    asking,
    engines,
    image_files,
    images,
    keeper,
    running,
    sweeping,
    syscalls,
    trial,
)
from easeml.modules.containers.image_files import BadImage
from easeml.modules.objective_programs import ProcessObjective
from easeml.modules.process import ProcessModel
from easeml.modules.scale import Scale
from easeml.modules.transform_programs import ProcessTransform

LOOK_EVERY = 0.25  # seconds: each look costs processor time
DATA = Data(np.array([[0.0, 1.0], [0.2, 0.9], [5.0, 1.1], [5.1, 1.0]]), np.array([0, 0, 1, 1]), 2)
FOREVER = "#!/bin/sh\necho began\nsleep 60\n"
NAME = "localhost/of-tests:1"


@pytest.fixture
def kept() -> Iterator[None]:
    """After the test no program of this process asks a keeper any more."""
    yield
    asking.forget()


def folder_with_image(place: Path, image: str, kind: str = "model") -> Path:
    """Make the folder of a module in shell whose programs run in an image."""
    skeletons.make(place, kind, "shell")
    toml = (place / "module.toml").read_text()
    (place / "module.toml").write_text(
        toml.replace('kind = "process"', f'kind = "container"\nimage = "{image}"')
    )
    return place


def module_of(folder: Path) -> Module:
    """Return the module of a folder."""
    source = packed.pack(folder)
    return replace(parse(source, "module.toml"), source=source)


def containers(owner: str) -> list[str]:
    """Return the containers that a process has started, by its label."""
    filters = ["--filter", f"label={owner}"]
    return engines.engine().call(["ps", "--all", "--quiet", *filters]).split()


def label_of(pid: int) -> str:
    """Return the label of the containers that a running process starts."""
    start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return f"easeml.owner={pid}.{start}"


def test_a_module_in_an_image_behaves_as_one_of_processes(tmp_path: Path) -> None:
    container_images.needs_containers()
    folder = folder_with_image(tmp_path / "nearest", "image.tar")
    (folder / "image.tar").write_bytes(container_images.shell_image().read_bytes())
    module = module_of(folder)
    assert (module.runtime, "image.tar" in module.files) == ("container", False)
    container_images.reference(container_images.shell_image())
    trained = module.make().fit(DATA, {}, Context())
    as_process = ProcessModel("same", module.files, "csv").fit(DATA, {}, Context())
    assert trained.memory == as_process.memory
    np.testing.assert_array_equal(trained.predict(DATA.X), as_process.predict(DATA.X))
    (tmp_path / "saved").mkdir()
    trained.save(tmp_path / "saved")
    loaded = module.make().load(tmp_path / "saved")
    np.testing.assert_array_equal(loaded.predict(DATA.X), trained.predict(DATA.X))


def test_an_objective_in_an_image_measures(tmp_path: Path) -> None:
    container_images.needs_containers()
    skeletons.make(tmp_path / "twice", "objective", "shell")
    files = module_of(tmp_path / "twice").files
    image = container_images.reference(container_images.shell_image())
    scale = Scale(worst=0.0, best=1.0)
    predicted = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
    answers = [(np.array([0, 1, 1]), predicted), (np.array([0, 0, 1]), predicted)]
    found = [
        ProcessObjective("twice", files, "csv", scale, image=where).values(answers)
        for where in ("", image)
    ]
    assert found[0] == found[1] == pytest.approx([0.6, 1.0])


def test_a_transform_in_an_image_changes_features(tmp_path: Path) -> None:
    container_images.needs_containers()
    folder = folder_with_image(tmp_path / "squares", "image.tar", "transform")
    (folder / "image.tar").write_bytes(container_images.shell_image().read_bytes())
    container_images.reference(container_images.shell_image())
    module = module_of(folder)
    assert module.runtime == "container"
    found = []
    for transform in (module.make(), ProcessTransform("same", module.files, "csv")):
        fitted = transform.fit(DATA.X, {}, {}, Context())
        assert fitted.memory
        found.append(fitted.transform(DATA.X))
    assert found[0].shape == (4, 4)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        ("missing.tar", "There is no file 'missing.tar'"),
        ("../other/image.tar", "There is no file"),
        ("--privileged", "image of the programs is not named"),
        ("a b", "image of the programs is not named"),
        ("", "image of the programs is not named"),
    ],
)
def test_a_folder_whose_image_is_not_there_is_refused(tmp_path: Path, image: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        module_of(folder_with_image(tmp_path / "nearest", image))


def test_without_an_engine_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    engines.engine.cache_clear()
    with pytest.raises(Conflict, match="neither podman nor docker is installed") as refused:
        images.provide("image-name:localhost/some:1", "localhost/own", lambda path: None)
    assert "apt-get install podman" in refused.value.remedy
    assert "neither podman nor docker" in engines.described()
    engines.engine.cache_clear()


def test_an_image_that_the_machine_does_not_hold_is_named() -> None:
    container_images.needs_containers()
    with pytest.raises(NotFound, match="holds no image 'localhost/none:1'"):
        images.loaded("image-name:localhost/none:1")


def rewritten(tmp_path: Path, given: bytes, largest: int = 2**20) -> dict[str, bytes]:
    """Return the parts of an image after it was written anew."""
    (tmp_path / "given.tar").write_bytes(given)
    image_files.rewrite(tmp_path / "given.tar", tmp_path / "clean.tar", NAME, largest)
    with tarfile.open(tmp_path / "clean.tar") as tar:
        members = {one.name: tar.extractfile(one) for one in tar.getmembers()}
        return {name: file.read() for name, file in members.items() if file is not None}


def tar_of(parts: dict[str, bytes]) -> bytes:
    """Return a tar file."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, content in parts.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return made.getvalue()


def of_docker(layer: bytes, machine: str = "amd64", **config: object) -> bytes:
    """Return what ``docker save`` writes of an image with one layer."""
    told = {"architecture": machine, "os": "linux", "config": config}
    manifest = [{"Config": "c.json", "RepoTags": ["localhost/stolen:1"], "Layers": ["l/layer.tar"]}]
    parts = {"c.json": json.dumps(told).encode(), "l/layer.tar": layer}
    return tar_of({"manifest.json": json.dumps(manifest).encode(), **parts})


def test_of_an_image_layers_environment_and_beginning_are_left(tmp_path: Path) -> None:
    layer = tar_of({"module/train": b"x"})
    begins = {"Entrypoint": ["/x"], "WorkingDir": "/app"}
    wishes = {"Env": ["A=b", "junk"], "User": "0", "Volumes": {"/data": {}}, "Cmd": ["x"], **begins}
    once, twice = gzip.compress(layer), gzip.compress(layer[:600]) + gzip.compress(layer[600:])
    for given in (layer, once, twice):
        parts = rewritten(tmp_path, of_docker(given, **wishes))
        assert parts["0.tar"] == layer
        assert json.loads(parts["manifest.json"])[0]["RepoTags"] == [NAME]
        config = json.loads(parts["config.json"])
        assert config["config"] == {"Env": ["A=b"], **begins}
        digest = hashlib.sha256(layer).hexdigest()
        assert config["rootfs"]["diff_ids"] == [f"sha256:{digest}"]


def test_layers_unpack_to_a_few_times_what_is_stored(tmp_path: Path) -> None:
    with pytest.raises(image_files.BadImage, match="more bytes than an image may have"):
        rewritten(tmp_path, of_docker(BOMB), 2**30)
    plain = b"x" * 2**22
    assert rewritten(tmp_path, of_docker(plain), 2**30)["0.tar"] == plain


def test_a_layout_is_read_like_what_docker_saves(tmp_path: Path) -> None:
    trial.write_image(tmp_path / "image.tar", {"module/train": b"x"}, {"A": "b"})
    parts = rewritten(tmp_path, (tmp_path / "image.tar").read_bytes())
    assert json.loads(parts["config.json"])["config"] == {"Env": ["A=b"]}
    with tarfile.open(fileobj=io.BytesIO(parts["0.tar"])) as layer:
        assert layer.getnames() == ["module/train"]


BOMB = gzip.compress(bytes(2**22))
LAYER = tar_of({"f": b"x"})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (b"no tar file", "not a tar file"),
        (tar_of({"other": b""}), "neither an index.json nor a manifest.json"),
        (of_docker(BOMB), "more bytes than an image may have"),
        (of_docker(gzip.compress(LAYER)[:-9]), "ends too early"),
        (of_docker(b"\x28\xb5\x2f\xfd rest"), "zstd"),
        (of_docker(LAYER, "riscv64"), "linux/riscv64"),
        (of_docker(LAYER, WorkingDir="/proc/self/fd/7"), "would begin in '/proc/self/fd/7'"),
        (of_docker(LAYER, WorkingDir="/app/../proc"), "would begin in"),
        (of_docker(LAYER, WorkingDir=7), "would begin in '7'"),
        (tar_of({"manifest.json": b"[]"}), "holds 0 images"),
        (tar_of({"manifest.json": b'[{"Config": "../x", "Layers": []}]'}), "say what its parts"),
        (tar_of({"manifest.json": b"[" * 100_000}), "say what its parts"),
        (tar_of({"index.json": b'{"manifests": []}'}), "0 images for linux"),
        (tar_of({"index.json": b'{"manifests": [{"digest": "sha256:a/../.."}]}'}), "its parts"),
    ],
)
def test_what_is_no_image_is_told(tmp_path: Path, given: bytes, why: str) -> None:
    with pytest.raises(BadImage, match=why):
        rewritten(tmp_path, given)


def test_a_file_that_is_no_image_is_not_loaded(tmp_path: Path) -> None:
    container_images.needs_containers()
    (tmp_path / "image.tar").write_bytes(of_docker(LAYER, "riscv64"))
    with pytest.raises(InvalidInput, match="it is for linux/riscv64"):
        images.provide_file(tmp_path / "image.tar", container_images.REPOSITORY)


def test_images_are_loaded_once_and_removed(tmp_path: Path) -> None:
    container_images.needs_containers()
    trial.write_image(tmp_path / "image.tar", {"module/train": tmp_path.name.encode()})
    digest = images.digest_of_file(tmp_path / "image.tar")
    image, fetched = f"{images.BY_DIGEST}{digest}", []

    def fetch(path: Path) -> None:
        fetched.append(path)
        path.write_bytes((tmp_path / "image.tar").read_bytes())

    name = images.provide(image, container_images.REPOSITORY, fetch)
    assert images.provide(image, container_images.REPOSITORY, fetch) == name
    assert len(fetched) == 1
    assert digest in images.held(container_images.REPOSITORY)
    images.remove([digest], container_images.REPOSITORY)
    assert digest not in images.held(container_images.REPOSITORY)


@pytest.mark.parametrize("failures", [0, 1, 3])
def test_images_are_listed_while_another_process_removes_one(
    monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    asked = []

    class Busy:
        def call(self, arguments: list[str]) -> str:
            asked.append(arguments)
            if len(asked) <= failures:
                raise EasemlError("locating image with ID: image not known")
            return "localhost/own:one\nlocalhost/other:two\n<none>:<none>\n"

    monkeypatch.setattr(images, "engine", Busy)
    assert images.held("localhost/own") == ["one"]


def test_what_a_machine_cannot_start_is_no_fault_of_the_module(tmp_path: Path) -> None:
    container_images.needs_containers()
    (tmp_path / "own").mkdir()
    limits = replace(trial.LIMITS, seconds=10)
    with pytest.raises(running.NotStarted, match="did not start the container"):
        running.run("localhost/none:1", tmp_path / "own", "train", [], limits, print)


def test_a_keeper_runs_what_it_was_told_and_nothing_else(kept: None) -> None:
    container_images.needs_containers()
    image = container_images.reference(container_images.shell_image())
    connection = keeper.fork({image: images.loaded(image)})
    asking.use(connection)
    lines = []
    train = (
        '#!/bin/sh\necho \'{"step": 1, "quality": 0.5}\'\nexec awk 1 $2/target.csv > $6/target\n'
    )
    context = Context(report=lambda step, quality: lines.append((step, quality)))
    trained = ProcessModel("kept", {"train": train}, "csv", image).fit(DATA, {}, context)
    assert trained.memory["target"].split() == [b'"y0"', b"0", b"0", b"1", b"1"]
    assert lines == [(1, 0.5)]
    with pytest.raises(EasemlError, match="does not belong to what is done here"):
        ProcessModel("other", {"train": train}, "csv", "image-name:localhost/x:1").fit(
            DATA, {}, Context()
        )
    connection.close()


def test_no_container_is_left_of_a_process_that_was_killed() -> None:
    container_images.needs_containers()
    image = container_images.reference(container_images.shell_image())
    child = os.fork()
    if child == 0:
        asking.use(keeper.fork({image: images.loaded(image)}))
        ProcessModel("for-ever", {"train": FOREVER}, "csv", image).fit(DATA, {}, Context())
        os._exit(0)
    children = Path(f"/proc/{child}/task/{child}/children")
    while not children.read_text():
        time.sleep(LOOK_EVERY)
    owner = label_of(int(children.read_text().split()[0]))
    while not containers(owner):
        time.sleep(LOOK_EVERY)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while containers(owner):
        time.sleep(LOOK_EVERY)


def test_a_container_whose_keeper_was_killed_is_swept_away() -> None:
    container_images.needs_containers()
    image = container_images.reference(container_images.shell_image())
    child = os.fork()
    if child == 0:
        ProcessModel("for-ever", {"train": FOREVER}, "csv", image).fit(DATA, {}, Context())
        os._exit(0)
    owner = label_of(child)
    while not containers(owner):
        time.sleep(LOOK_EVERY)
    sweeping.sweep()
    assert containers(owner)  # its owner is there
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    sweeping.sweep()
    assert containers(owner) == []


def test_calls_that_make_namespaces_are_refused_whatever_the_machine_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of a machine is narrowed; without one the calls are refused by name."""
    (tmp_path / "seccomp.json").write_text(
        '{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": ['
        '{"names": ["read", "unshare", "clone"], "action": "SCMP_ACT_ALLOW"}]}'
    )
    for lists, allows_the_rest in (((tmp_path / "seccomp.json",), False), ((), True)):
        monkeypatch.setattr(syscalls, "_LISTS", lists)
        syscalls.profile.cache_clear()
        rules = json.loads(syscalls.profile())["syscalls"]
        allowed = [rule for rule in rules if rule["action"] == "SCMP_ACT_ALLOW"]
        assert not any("unshare" in rule["names"] for rule in allowed)
        assert all(rule.get("args") for rule in allowed if "clone" in rule["names"])
        refused = {name for rule in rules if rule not in allowed for name in rule["names"]}
        assert ("unshare" in refused) is allows_the_rest
    syscalls.profile.cache_clear()


def test_several_may_try_this_machine_at_once() -> None:
    container_images.needs_containers()
    with ThreadPoolExecutor(3) as threads:
        tried = [threads.submit(trial.run) for _ in range(3)]
        assert {each.result().program for each in tried} == {engines.engine().program}
