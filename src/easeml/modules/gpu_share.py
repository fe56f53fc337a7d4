"""The share of a GPU that a task has, as its process and its programs are told of it."""

import os
import sys
from pathlib import Path
from typing import Any

MEMORY = "EASEML_GPU_MEMORY"
"""The variable with the bytes of the share."""
HOLDER = "EASEML_GPU_HOLDER"
"""The variable with the id of the attempt that has the share."""
NUMBER = "EASEML_GPU_NUMBER"
"""The variable with the place of the GPU on its machine, as descriptions for containers name it."""
VISIBLE = "CUDA_VISIBLE_DEVICES"

OF_CUDA = 512 * 2**20
"""Bytes that CUDA itself is allowed in each process, beside what a program puts there."""

_MPS = "CUDA_MPS_PIPE_DIRECTORY"
_MPS_PLACE = "/tmp/nvidia-mps"  # noqa: S108  where its daemon listens unless it is told otherwise
_MEBIBYTE = 2**20


def variables(id: str, number: str, memory: int, whole: int, holder: str) -> dict[str, str]:
    """Return the environment of a process that has ``memory`` of the ``whole`` bytes of a GPU.

    Where the daemon of NVIDIA's Multi-Process Service runs, it keeps each process to its share of
    memory and of time (https://docs.nvidia.com/deploy/mps/).
    """
    told = {VISIBLE: id, NUMBER: number, MEMORY: str(memory), HOLDER: holder}
    if not (Path(os.environ.get(_MPS, _MPS_PLACE)) / "control").exists():
        return told
    percent = max(1, 100 * memory // whole)
    return {
        **told,
        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": f"0={memory // _MEBIBYTE}M",
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": str(percent),
    }


def here() -> dict[str, str]:
    """Return what this process was told of its share; nothing where it has none."""
    if MEMORY not in os.environ:
        return {}
    return {name: os.environ[name] for name in (VISIBLE, NUMBER, MEMORY, HOLDER)}


def device_files() -> list[Path]:
    """Return the files of devices through which NVIDIA's driver is reached."""
    devices = Path("/dev")
    found = [*devices.glob("nvidia*"), *devices.glob("nvidia-caps/*")]
    return sorted(filter(Path.is_char_device, found))


def places_to_read() -> list[Path]:
    """Return where the system and the driver tell of devices."""
    told = ("/proc/devices", "/proc/driver", "/sys/bus/pci", "/sys/devices")
    return list(filter(Path.exists, map(Path, told)))


def keep_torch_within(torch: Any) -> None:
    """Let PyTorch refuse to use more of its GPU than the share, where this process has one."""
    if MEMORY not in os.environ:
        return
    whole = torch.cuda.get_device_properties(0).total_memory
    usable = max(0, int(os.environ[MEMORY]) - OF_CUDA)
    torch.cuda.set_per_process_memory_fraction(min(1.0, usable / whole), 0)


def torch_peak() -> int:
    """Return the most bytes of a GPU that PyTorch and CUDA had in this process."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0
    return torch.cuda.max_memory_reserved(0) + OF_CUDA


def is_exceeded(text: str) -> bool:
    """Whether an error of a process that has a share says that the GPU's memory ran out."""
    said = text.lower()
    is_of_cuda = "cuda" in said and "out of memory" in said
    return is_of_cuda and MEMORY in os.environ
