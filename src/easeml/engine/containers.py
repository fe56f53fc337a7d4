"""What a machine has of containers is looked after: what was left over, and what nothing needs."""

import itertools
import shutil
import threading

import structlog

from easeml.errors import EasemlError
from easeml.modules.containers import sweeping
from easeml.service.modules.images import MachineImages

_SWEEP_EVERY = 60.0  # seconds
_SWEEPS_A_LOOK = 60  # of which one also looks at images
_log = structlog.get_logger()


def look_after(images: MachineImages) -> None:
    """End containers that are left over, every minute, and remove images that nothing needs, every
    hour; first of all at once. It is done in a thread of its own, where an engine is installed.
    """
    if shutil.which("podman") or shutil.which("docker"):
        threading.Thread(target=_look_for_ever, args=(images,), daemon=True).start()


def _look_for_ever(images: MachineImages) -> None:
    waiting = threading.Event()
    for number in itertools.count():
        try:
            _look(images, at_images=number % _SWEEPS_A_LOOK == 0)
        except EasemlError as error:
            _log.info("containers not looked after", error=error.message)
        waiting.wait(_SWEEP_EVERY)


def _look(images: MachineImages, *, at_images: bool) -> None:
    swept = sweeping.sweep()
    removed = images.remove_unneeded() if at_images else []
    if swept or removed:
        _log.info("containers swept", containers=swept, images=len(removed))
