"""What a machine feels, read from folders as the kernel shows them."""

import stat
from pathlib import Path

import pytest

from easeml.engine.sensors import Felt, Sensors

MEMINFO = "MemTotal:       16000000 kB\nMemFree:  100 kB\nMemAvailable:    4000000 kB\nHuge: 0\n"


def put(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    put(tmp_path / "proc", meminfo=MEMINFO)
    put(tmp_path / "sys" / "class" / "thermal" / "thermal_zone0", type="acpitz", temp="27800")
    return tmp_path


def felt(machine: Path, *, gpu: bool = False) -> Felt:
    return Sensors(gpu=gpu, system=machine / "sys", proc=machine / "proc").read()


def test_the_hottest_zone_counts_where_no_sensor_is_of_a_processor(machine: Path) -> None:
    put(machine / "sys" / "class" / "thermal" / "thermal_zone1", type="wifi", temp="-273000")
    assert felt(machine) == Felt(27.8, 16_000_000 * 1024, 4_000_000 * 1024)


def test_the_hottest_processor_counts_and_disks_do_not(machine: Path) -> None:
    hwmon = machine / "sys" / "class" / "hwmon"
    put(hwmon / "hwmon0", name="nvme", temp1_input="70000")
    put(hwmon / "hwmon1", name="coretemp", temp1_input="51000", temp2_input="55500")
    put(machine / "sys" / "class" / "thermal" / "thermal_zone1", type="x86_pkg_temp", temp="0")
    assert felt(machine).temperature == 55.5


def test_what_a_machine_does_not_say_is_not_known(tmp_path: Path) -> None:
    assert felt(tmp_path) == Felt(None, None, None)


@pytest.mark.parametrize(("said", "expected"), [("41\n66\n", 66.0), ("[N/A]\n", 27.8)])
def test_a_worker_with_gpus_asks_their_driver_once_a_minute(
    machine: Path, monkeypatch: pytest.MonkeyPatch, said: str, expected: float
) -> None:
    program = machine / "nvidia-smi"
    told, asked = machine / "told", machine / "asked"
    told.write_text(said)
    program.write_text(f'#!/bin/sh\necho "$@" >> {asked}\ncat {told}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(machine), prepend=":")
    sensors = Sensors(gpu=True, system=machine / "sys", proc=machine / "proc")
    assert [sensors.read().temperature, sensors.read().temperature] == [expected, expected]
    (question,) = asked.read_text().splitlines()
    assert question == "--query-gpu=temperature.gpu --format=csv,noheader,nounits"
    assert felt(machine).temperature == 27.8  # a worker without GPUs
