"""GPUs of containers: who gets one, what the engine is told, and what is said where there is none."""

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from easeml.errors import Conflict, InvalidInput
from easeml.modules import Context, Data, gpu_share, packed, parse, process, skeletons
from easeml.modules.containers import devices, running
from easeml.modules.containers.engines import Engine
from easeml.modules.programs import Ended, Limits

PODMAN = Engine("podman", "/usr/bin/podman", "4.3.1")
DOCKER = Engine("docker", "/usr/bin/docker", "28.1.0")
NVIDIA = """\
cdiVersion: "0.6.0"
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}
- name: all
  containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}
"""
OTHERS = '{"cdiVersion": "0.6.0", "kind": "amd.com/gpu", "devices": [{"name": "0"}, {"name": "1"}]}'
NO_GPU = '{"cdiVersion": "0.6.0", "kind": "vendor.com/net", "devices": [{"name": "eth0"}]}'


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which devices of this machine are described; there is one that is no GPU."""
    folder = tmp_path / "cdi"
    folder.mkdir()
    (folder / "net.json").write_text(NO_GPU)
    (folder / "README").write_text("kind: x/gpu")
    monkeypatch.setattr(devices, "FOLDERS", [tmp_path / "none", folder])
    return folder


def test_gpus_are_named_as_they_are_described(described: Path) -> None:
    (described / "nvidia.yaml").write_text(NVIDIA)
    assert devices.options(PODMAN) == devices.options(DOCKER)
    assert devices.options(PODMAN) == ["--device", "nvidia.com/gpu=all"]
    (described / "amd.json").write_text(OTHERS)
    told = devices.options(PODMAN)
    assert told[:4] == ["--device", "amd.com/gpu=0", "--device", "amd.com/gpu=1"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["0", "1", "all"], "1"), (["GPU-b", "0", "1"], "GPU-b"), (["all"], "all")],
)
def test_a_share_is_of_one_gpu_by_its_number_or_its_id(
    described: Path, names: list[str], expected: str
) -> None:
    devices_described = [{"name": name} for name in names]
    document = {"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "devices": devices_described}
    (described / "nvidia.json").write_text(json.dumps(document))
    share = gpu_share.variables("GPU-b", "1", 6 * 2**30, 16 * 2**30, "att_1")
    told = devices.options(PODMAN, share)
    assert told[:2] == ["--device", f"nvidia.com/gpu={expected}"]
    assert told.count("--device") == 1
    assert f"{gpu_share.MEMORY}={6 * 2**30}" in told
    assert f"{gpu_share.VISIBLE}=GPU-b" in told


def test_without_a_gpu_it_is_said_what_to_do(described: Path) -> None:
    with pytest.raises(Conflict, match="describes none to containers") as refused:
        devices.options(PODMAN)
    assert "nvidia-ctk cdi generate" in refused.value.remedy
    (described / "nvidia.yaml").write_text(NVIDIA)
    with pytest.raises(Conflict, match=r"docker 24.0.7 passes no GPU on"):
        devices.options(Engine("docker", "/usr/bin/docker", "24.0.7"))


def command(
    monkeypatch: pytest.MonkeyPatch, folder: Path, gpu: Literal["", "wanted", "needed"]
) -> str:
    """Return the command by which a container is started."""
    commands: list[str] = []

    def started(command: list[str], *_: object) -> Ended:
        commands.append(" ".join(command))
        return Ended(0, "", "")

    monkeypatch.setattr(running, "engine", lambda: PODMAN)
    monkeypatch.setattr(running, "watched", started)
    running.run("name", folder, "train", [], Limits(1, gpu=gpu), lambda line: None)
    return commands[0]


def test_a_container_gets_a_gpu_only_where_it_is_asked_for(
    described: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--device" not in command(monkeypatch, tmp_path, "wanted")  # it may do without
    with pytest.raises(Conflict, match="asks for a GPU"):
        command(monkeypatch, tmp_path, "needed")
    (described / "nvidia.yaml").write_text(NVIDIA)
    assert "--device" not in command(monkeypatch, tmp_path, "")
    for gpu in ("wanted", "needed"):
        told = command(monkeypatch, tmp_path, gpu)
        assert "--device nvidia.com/gpu=all" in told
        assert "--cap-drop ALL" in told
        assert "--network none" in told


def test_train_needs_the_gpu_of_its_module_and_predict_gets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skeletons.make(tmp_path / "deep", "model", "shell")
    toml = (tmp_path / "deep" / "module.toml").read_text()
    boxed = toml.replace('kind = "process"', 'kind = "container"\nimage = "mine:1"\ngpu = true')
    with pytest.raises(InvalidInput, match=r"Unknown key 'runtime.gpu'"):
        parse(packed.pack(tmp_path / "deep").replace('data = "csv"', "gpu = true"), "module.toml")
    with pytest.raises(InvalidInput, match="Only a model is given a GPU"):
        of_optimizer = boxed.replace('"model"', '"optimizer"').replace('data = "csv"', "")
        parse(packed.pack_texts(of_optimizer, {}, "image-name:mine:1"), "module.toml")
    given: dict[str, str] = {}

    def ran(
        place: Path, program: str, arguments: list[str], limits: Limits, *_: object, **__: object
    ):
        given[program] = limits.gpu
        (place / "output" / "predictions.csv").write_text("p0,p1\n1,0\n")

    monkeypatch.setattr(process, "run", ran)
    (tmp_path / "deep" / "module.toml").write_text(boxed)
    model = parse(packed.pack(tmp_path / "deep"), "module.toml").make()
    data = Data(np.zeros((1, 1)), np.array([0]), classes=2)
    model.fit(data, {}, Context()).predict(data.X)
    assert given == {"train": "needed", "predict": "wanted"}
