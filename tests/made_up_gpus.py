"""A driver of GPUs that there are not: the program ``nvidia-smi``, and what it prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PROGRAM = """#!/bin/sh
case "$1" in
-q) cat {folder}/described.xml ;;
-L) cat {folder}/listed.txt ;;
*) exit 1 ;;
esac
"""


@dataclass(frozen=True)
class MadeUp:
    """A GPU; memory in MiB. ``slices``: id and memory of each; ``processes``: MiB by process id."""

    id: str = "GPU-a"
    name: str = "Made-up 16"
    memory: int = 16384
    used: int = 0
    reserved: int = 0
    is_cut: bool = False
    slices: Sequence[tuple[str, int]] = ()
    processes: Mapping[int, int] = field(default_factory=dict)


def put_driver(folder: Path, *gpus: MadeUp) -> Path:
    """Write the program and what it says; return the folder that is to be in ``PATH``."""
    folder.mkdir(parents=True, exist_ok=True)
    told = "".join(map(_described, gpus))
    part = folder / "described.part"  # it may be read meanwhile
    part.write_text(f'<?xml version="1.0" ?><nvidia_smi_log>{told}</nvidia_smi_log>')
    part.replace(folder / "described.xml")
    (folder / "listed.txt").write_text("".join(map(_listed, gpus)))
    program = folder / "nvidia-smi"
    if not program.exists():
        program.write_text(_PROGRAM.format(folder=folder))
        program.chmod(0o755)
    return folder


def _described(gpu: MadeUp) -> str:
    slices = "".join(
        f"<mig_device><index>{number}</index>{_memory(memory, 3, 0)}</mig_device>"
        for number, (_, memory) in enumerate(gpu.slices)
    )
    processes = "".join(
        f"<process_info><pid>{pid}</pid><used_memory>{used} MiB</used_memory></process_info>"
        for pid, used in gpu.processes.items()
    )
    mode = "Enabled" if gpu.is_cut else "N/A"
    return (
        f"<gpu><product_name>{gpu.name}</product_name>"
        f"<mig_mode><current_mig>{mode}</current_mig></mig_mode>"
        f"<mig_devices>{slices or 'None'}</mig_devices><uuid>{gpu.id}</uuid>"
        f"{_memory(gpu.memory, gpu.used, gpu.reserved)}"
        f"<processes>{processes}</processes></gpu>"
    )


def _memory(total: int, used: int, reserved: int) -> str:
    return (
        f"<fb_memory_usage><total>{total} MiB</total><reserved>{reserved} MiB</reserved>"
        f"<used>{used} MiB</used></fb_memory_usage>"
    )


def _listed(gpu: MadeUp) -> str:
    slices = "".join(
        f"  MIG 1g.5gb      Device  {number}: (UUID: {id})\n"
        for number, (id, _) in enumerate(gpu.slices)
    )
    return f"GPU 0: {gpu.name} (UUID: {gpu.id})\n{slices}"
