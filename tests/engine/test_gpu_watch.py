"""The GPUs of a machine, as a made-up driver tells of them, and what a task is told of its share."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bodies_for_tests
import pytest
from warm_bodies import WARM

from easeml.contract.tasks import GpuShare, Limits
from easeml.engine import gpus
from easeml.engine.executors import LocalExecutor
from easeml.modules import gpu_share
from made_up_gpus import MadeUp, put_driver

MIB = 2**20
Driver = Callable[..., None]


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """Lets the machine have these GPUs."""
    monkeypatch.setenv("PATH", str(tmp_path / "driver"), prepend=":")

    def put(*made_up: MadeUp) -> None:
        put_driver(tmp_path / "driver", *made_up)

    return put


def test_a_machine_without_a_driver_has_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert gpus.look() == gpus.Look()


@pytest.mark.parametrize("said", ["echo '<nvidia_smi_log>'", "echo nothing; exit 9", "echo"])
def test_a_driver_that_fails_shows_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{said}\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert gpus.look() == gpus.Look()


def test_gpus_say_their_memory_and_what_is_used(driver: Driver) -> None:
    driver(MadeUp(used=700, reserved=384, processes={41: 500}), MadeUp("GPU-b", memory=8192))
    found = gpus.look()
    assert [one.id for one in found.gpus] == ["GPU-a", "GPU-b"]
    assert [one.number for one in found.gpus] == ["0", "1"]
    assert [one.memory // MIB for one in found.gpus] == [16000, 8192]
    assert [one.used // MIB for one in found.gpus] == [700, 0]
    assert found.processes == ((41, 500 * MIB),)


def test_a_gpu_that_is_cut_is_its_slices(driver: Driver) -> None:
    slices = [("MIG-1", 4864), ("MIG-2", 9856)]
    driver(MadeUp(), MadeUp("GPU-b", is_cut=True, slices=slices), MadeUp("GPU-c", is_cut=True))
    found = [(one.id, one.number, one.memory // MIB) for one in gpus.look().gpus]
    assert found == [("GPU-a", "0", 16384), ("MIG-1", "1:0", 4864), ("MIG-2", "1:1", 9856)]


@pytest.mark.parametrize(
    ("left", "expected"),
    [(None, "ab"), ("1", "b"), ("GPU-a", "a"), ("0,1", "ab"), ("", ""), ("7", "")],
)
def test_what_the_provider_leaves_to_easeml_counts(
    driver: Driver, left: str | None, expected: str
) -> None:
    driver(MadeUp("GPU-a"), MadeUp("GPU-b"))
    assert [one.id for one in gpus.look(left).gpus] == [f"GPU-{letter}" for letter in expected]


def test_what_is_used_while_no_task_has_a_share_is_of_others(driver: Driver) -> None:
    driver(MadeUp(used=2048))
    first = gpus.noted(gpus.look().gpus, [], held=[])
    assert first.seen[0].foreign == 2048 * MIB
    driver(MadeUp(used=9000))
    with_task = gpus.noted(gpus.look().gpus, [first], held=["GPU-a"])
    (seen,) = with_task.seen
    assert (seen.foreign, seen.used) == (2048 * MIB, 9000 * MIB)


def test_programs_say_whose_memory_it_is() -> None:
    environment = {**os.environ, gpu_share.HOLDER: "att_1"}
    waits = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(waits, stdin=-1, stdout=-1, env=environment) as program:
        assert program.stdout is not None
        program.stdout.readline()  # before, its variables may not be there yet
        processes = [(program.pid, 3 * MIB), (program.pid, 4 * MIB), (os.getpid(), 5), (2**30, 6)]
        assert gpus.by_holder(processes) == {"att_1": 7 * MIB}
        program.communicate(b"\n")


def test_children_see_no_gpu_until_they_are_told(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(gpu_share.VISIBLE, raising=False)
    driver(MadeUp())
    watch = gpus.GpuWatch.of_this_process()
    assert os.environ[gpu_share.VISIBLE] == ""
    assert watch.latest.gpus
    monkeypatch.delenv(gpu_share.VISIBLE)


def share(memory: int) -> GpuShare:
    return GpuShare(id="GPU-a", number="0", memory=memory, whole=16 * 2**30, holder="att_1")


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_body_is_told_its_share_confined_or_not(tmp_path: Path, isolation: str) -> None:
    limits = Limits(seconds=30, memory=2**30, threads=1)
    executor = LocalExecutor(limits, bodies_for_tests.run, WARM, isolation=isolation)  # pyright: ignore[reportArgumentType]
    told = []
    for number, gpu in enumerate((share(6 * 2**30), None)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "do").write_text("tell-gpu")
        outcome = executor.start(folder, limits.model_copy(update={"gpu": gpu})).wait()
        assert outcome.ending == "finished", outcome.result.error
        told.append(outcome.result.value["told"])
    executor.close()
    assert told[0][gpu_share.VISIBLE] == "GPU-a"
    assert told[0][gpu_share.MEMORY] == str(6 * 2**30)
    assert gpu_share.MEMORY not in told[1]


@pytest.mark.parametrize(("given", "expected"), [("/dev/full", "opened"), ("", "refused")])
def test_a_confined_body_opens_the_device_files_of_its_share_only(
    tmp_path: Path, given: str, expected: str
) -> None:
    program = (
        "import sys, fcntl\n"
        "from pathlib import Path\n"
        "from easeml.confinement import confine\n"
        "confine(Path(sys.argv[1]), devices=[Path(one) for one in sys.argv[2:] if one])\n"
        "try:\n"
        "    device = open('/dev/full', 'r+b', buffering=0)\n"
        "except PermissionError:\n"
        "    print('refused')\n"
        "else:\n"
        "    try:\n"
        "        fcntl.ioctl(device, 0x5401)\n"
        "    except PermissionError:\n"
        "        print('no ioctl')\n"
        "    except OSError:\n"
        "        print('opened')  # it is no terminal, and says so\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path), given]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.strip() == expected


def test_where_the_service_of_many_processes_runs_it_keeps_each_to_its_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    given = ("GPU-a", "0", 6 * 2**30, 16 * 2**30, "att_1")
    assert not any("MPS" in name for name in gpu_share.variables(*given))
    (tmp_path / "control").touch()
    told = gpu_share.variables(*given)
    assert told["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == "0=6144M"
    assert told["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "37"


class Torch:
    """What of PyTorch is asked for a share."""

    def __init__(self) -> None:
        self.cuda = self
        self.total_memory = 16 * 2**30
        self.fractions: list[float] = []

    def get_device_properties(self, number: int) -> "Torch":
        assert number == 0
        return self

    def set_per_process_memory_fraction(self, fraction: float, number: int) -> None:
        assert number == 0
        self.fractions.append(fraction)


def test_pytorch_is_kept_to_the_share_less_what_cuda_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = Torch()
    gpu_share.keep_torch_within(torch)
    assert torch.fractions == []
    monkeypatch.setenv(gpu_share.MEMORY, str(8 * 2**30 + gpu_share.OF_CUDA))
    gpu_share.keep_torch_within(torch)
    monkeypatch.setenv(gpu_share.MEMORY, str(64 * 2**30))
    gpu_share.keep_torch_within(torch)
    assert torch.fractions == [0.5, 1.0]


def has_a_gpu() -> bool:
    return bool(gpus.look().gpus)


@pytest.mark.skipif(not has_a_gpu(), reason="needs a GPU of NVIDIA's: nvidia-smi shows none")
def test_who_asks_a_real_gpu_for_more_than_its_share_fails_alone() -> None:
    """Two processes with a quarter of a GPU each: one takes half of it, the other a tenth."""
    torch = pytest.importorskip("torch", reason="needs PyTorch with CUDA")
    if not torch.cuda.is_available():
        pytest.skip("needs PyTorch with CUDA")
    whole = torch.cuda.get_device_properties(0).total_memory
    program = (
        "import sys, torch\n"
        "from easeml.modules.gpu_share import keep_torch_within\n"
        "keep_torch_within(torch)\n"
        "one = torch.zeros(int(sys.argv[1]), dtype=torch.uint8, device='cuda')\n"
    )
    environment = {**os.environ, gpu_share.MEMORY: str(whole // 4)}
    sizes = (whole // 2, whole // 10)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(size)], env=environment, stderr=subprocess.PIPE
        )
        for size in sizes
    ]
    errors = [process.communicate()[1].decode() for process in started]
    os.environ[gpu_share.MEMORY] = environment[gpu_share.MEMORY]
    try:
        assert gpu_share.is_exceeded(errors[0])
    finally:
        del os.environ[gpu_share.MEMORY]
    assert [process.returncode != 0 for process in started] == [True, False]
