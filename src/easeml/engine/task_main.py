"""One attempt, in its own process: read the spec, run the body of its kind, write the result.

The work folder is all a body knows: ``spec.json``, ``inputs/<name>``, ``outputs/<name>``,
``result.json``, ``log.txt``.
"""

import faulthandler
import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path

from easeml.contract.tasks import RESULT, Limits, TaskResult, TaskSpec
from easeml.errors import EasemlError
from easeml.modules import added, packed
from easeml.modules.leash import waited_seconds
from easeml.service.tasks.kinds import load_kind

SPEC = "spec.json"
LOG = "log.txt"
INPUTS = "inputs"
OUTPUTS = "outputs"
_DEEPEST = 20_000  # characters of a traceback that are kept


def prepare(folder: Path, spec: TaskSpec) -> None:
    """Lay out an empty work folder for ``spec``; the caller then puts the inputs into ``inputs/``."""
    (folder / INPUTS).mkdir(parents=True)
    (folder / OUTPUTS).mkdir()
    (folder / SPEC).write_text(spec.model_dump_json())


def concerns_uploaded_programs(folder: Path) -> bool:
    """Whether a task is about a module whose programs somebody uploaded.

    Its description is in the task's words, or in the manifest of a model among the inputs.
    """
    mark = packed.MARK.encode()
    spec = folder / SPEC
    if spec.exists() and mark in spec.read_bytes():
        return True
    for place, _, names in os.walk(folder / INPUTS, followlinks=True):
        manifest = Path(place) / "manifest.json"
        if manifest.name in names and mark in manifest.read_bytes():
            return True
    return False


def run(folder: Path) -> TaskResult:
    """Run the body described in ``folder`` and write its result there.

    A fault of the user's input is a result with a message; any other exception a result with its
    traceback, worth another attempt unless the exception says ``retry = False``. ``MemoryError`` is
    raised on.
    """
    faulthandler.enable()
    spec = TaskSpec.model_validate_json((folder / SPEC).read_bytes())
    began = time.time()
    try:
        kind = load_kind(spec.module)
        told = kind.spec.model_validate(spec.body)
        added.tell(told.objective_source)
        result = kind.body(told, folder / INPUTS, folder / OUTPUTS)
    except MemoryError:
        raise
    except EasemlError as error:
        result = TaskResult(ok=False, error=str(error))
    except BaseException as error:  # a body that calls sys.exit() has failed too
        retry = bool(getattr(error, "retry", True))
        result = TaskResult(
            ok=False,
            error=_text(error),
            retry=retry,
        )
    measured = {
        "began": began,
        "ended": time.time(),
        "processor": _processor_seconds(),
        "waited": waited_seconds(),
    }
    result = result.model_copy(update=measured)
    write_result(folder, result)
    return result


def _processor_seconds() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    used = 0.0
    for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(whose)
        used += usage.ru_utime + usage.ru_stime
    return used


def out_of_memory(error: MemoryError, limits: Limits) -> TaskResult:
    """Return the result of a body that asked for more memory than ``limits`` allow; trying again
    will not help.
    """
    text = f"The task needed more memory than its limit of {limits.memory / 2**20:.0f} MiB."
    return TaskResult(ok=False, error=f"{text}\n{_text(error)}")


def write_result(folder: Path, result: TaskResult) -> None:
    """Write ``result`` as a whole or not at all."""
    partial = folder / f"{RESULT}.part"
    try:
        text = json.dumps(result.model_dump(), allow_nan=False)
    except ValueError:
        text = TaskResult(
            ok=False, error="The result holds a number that is not finite."
        ).model_dump_json()
    partial.write_text(text)
    partial.replace(folder / RESULT)


def flush() -> None:
    """Write out what the body printed."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _text(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-_DEEPEST:]
