"""One attempt, in its own process: read the spec, run the body of its kind, write the result.

The work folder is all a body knows: ``spec.json``, ``inputs/<name>``, ``outputs/<name>``,
``result.json``, ``log.txt``.
"""

import faulthandler
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from easeml.contract.tasks import CHECKPOINT, GRANT, RESULT, Limits, TaskResult, TaskSpec
from easeml.engine.used import bytes_below, peak_bytes, processor_seconds, resident_bytes
from easeml.errors import EasemlError
from easeml.modules import added, gpu_share, packed
from easeml.modules.containers import asking, keeper
from easeml.modules.environments import placing
from easeml.modules.leash import waited_seconds
from easeml.modules.programs import ProgramFailed
from easeml.service.tasks import logs
from easeml.service.tasks.kinds import load_kind
from easeml.spans import span
from easeml.tracing import watch

SPEC = "spec.json"
LOG = "log.txt"
INPUTS = "inputs"
OUTPUTS = "outputs"
_MANIFEST = "manifest.json"
_IMAGES = "images.json"
_ENVIRONMENTS = "environments.json"
_BACKGROUND = 5  # added to the nice value: a third of a processor that others want, too
_DEEPEST = 20_000  # characters of a traceback that are kept
_BYTES_OF_A_THREAD = 8 * 2**20  # of inputs: a table of about 100,000 rows and 10 numbers


def prepare(folder: Path, spec: TaskSpec) -> None:
    """Lay out an empty work folder for ``spec``; the caller then puts the inputs into ``inputs/``."""
    (folder / INPUTS).mkdir(parents=True)
    (folder / OUTPUTS).mkdir()
    (folder / CHECKPOINT).mkdir()
    (folder / SPEC).write_text(spec.model_dump_json())


def hand_grant(folder: Path, text: str) -> None:
    """Put what a task that reaches out may do, for its body alone to read."""
    descriptor = os.open(folder / GRANT, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(text)


def reaches_out(folder: Path) -> bool:
    """Whether a task was granted the network."""
    return (folder / GRANT).exists()


def needs_this_machine(folder: Path) -> bool:
    """Whether a task cannot run elsewhere: what its programs run in lies here, or it was granted a
    secret.
    """
    lies_here = [(folder / name).exists() for name in (_IMAGES, _ENVIRONMENTS)]
    return reaches_out(folder) or any(lies_here)


def needs_system(folder: Path) -> bool:
    """Whether a task begins with what its machine has: the network, or a keeper of containers."""
    return reaches_out(folder) or (folder / _IMAGES).exists()


def starts_programs(folder: Path) -> bool:
    """Whether the body of a task starts programs: it says so, or is about a module whose programs
    somebody uploaded.

    The description of a module is in the task's words, or in the manifest of a model among the
    inputs.
    """
    texts = module_texts(folder)
    return packed.MARK.encode() in texts or b'"starts_programs":true' in texts


def module_texts(folder: Path) -> bytes:
    """Return what may hold the text of a module: the task's words, and the manifests of its inputs."""
    texts = []
    if (folder / SPEC).exists():
        texts.append((folder / SPEC).read_bytes())
    for place, _, names in os.walk(folder / INPUTS, followlinks=True):
        if _MANIFEST in names:
            texts.append((Path(place) / _MANIFEST).read_bytes())
    return b"\n".join(texts)


_COPY: dict[bool, Callable[..., object]] = {True: shutil.copytree, False: shutil.copyfile}


def bring(folder: Path, provided: Mapping[str, Sequence[Path]]) -> None:
    """Copy files and folders of this machine below inputs, as far as they are there."""
    for name, paths in provided.items():
        place = folder / INPUTS / name
        place.mkdir(parents=True, exist_ok=True)
        for path in filter(Path.exists, paths):
            _COPY[path.is_dir()](path, place / path.name)


def name_images(folder: Path, images: Mapping[str, str]) -> None:
    """Note which images the programs of a task may run in, by what the engine calls them."""
    if images:
        (folder / _IMAGES).write_text(json.dumps(images))


def begin_keeping_containers(folder: Path) -> None:
    """Start the keeper of a task's containers, if it has any; call it before this process confines
    itself, while it has one thread.
    """
    if (folder / _IMAGES).exists():
        asking.use(keeper.fork(json.loads((folder / _IMAGES).read_text())))


def name_environments(folder: Path, places: Mapping[str, str]) -> None:
    """Note in which environments the programs of a task may run, and where these are."""
    if places:
        (folder / _ENVIRONMENTS).write_text(json.dumps(places))


def begin_using_environments(folder: Path) -> list[Path]:
    """Let the programs of a task run in its environments; return the folders that it has to read."""
    if not (folder / _ENVIRONMENTS).exists():
        return []
    places = json.loads((folder / _ENVIRONMENTS).read_text())
    placing.use(places)
    return list(map(Path, places.values()))


def ids(folder: Path) -> dict[str, str]:
    """Return by what the logs of all processes name a task."""
    if not (folder / SPEC).exists():
        return {}
    return json.loads((folder / SPEC).read_bytes()).get("ids", {})


def give_way(folder: Path) -> None:
    """Let processes go first that people wait for, if nobody waits for this task; call it before
    this process confines itself.
    """
    if not (folder / SPEC).exists():
        return
    spec = json.loads((folder / SPEC).read_bytes())
    if spec.get("in_background", False):  # a scheduler of an earlier easeml does not say
        os.nice(_BACKGROUND)


def useful_threads(folder: Path, most: int) -> int:
    """Return how many threads the inputs of a task keep busy, at most so many: more only wait."""
    return min(most, 1 + bytes_below(folder / INPUTS, linked=True) // _BYTES_OF_A_THREAD)


def run(folder: Path) -> TaskResult:
    """Run the body described in ``folder`` and write its result there.

    A fault of the user's input is a result with a message; any other exception a result with its
    traceback, worth another attempt unless the exception says ``retry = False``. ``MemoryError`` is
    raised on.
    """
    faulthandler.enable()
    with watch(folder):
        return _run(folder)


def _run(folder: Path) -> TaskResult:
    spec = TaskSpec.model_validate_json((folder / SPEC).read_bytes())
    began = time.time()
    own = resident_bytes()
    try:
        kind = load_kind(spec.module)
        told = kind.spec.model_validate(spec.body)
        for source in (told.objective_source, *told.measure_sources):
            added.tell(source)
        with span(spec.body.get("kind", "body")):
            result = kind.body(told, folder / INPUTS, folder / OUTPUTS)
    except MemoryError:
        raise
    except EasemlError as error:
        result = TaskResult(ok=False, error=str(error), value=_fault_of(error))
    except BaseException as error:  # a body that calls sys.exit() has failed too
        retry = bool(getattr(error, "retry", True))
        result = TaskResult(
            ok=False,
            error=_text(error),
            retry=retry,
        )
    result = _with_gpu(result)
    measured = {
        "began": began,
        "ended": time.time(),
        "processor": processor_seconds(),
        "waited": waited_seconds(),
        "memory": max(0, peak_bytes() - own),
        "disk": bytes_below(folder),
    }
    result = result.model_copy(update=measured)
    write_result(folder, result)
    return result


def _with_gpu(result: TaskResult) -> TaskResult:
    """Return a result that says what was used of a GPU, and whether the share of it was too small."""
    told: dict[str, Any] = {"gpu_memory": gpu_share.torch_peak()}
    if not result.ok and gpu_share.is_exceeded(result.error):
        share = int(os.environ[gpu_share.MEMORY]) / 2**20
        text = f"The task needed more memory of its GPU than its share of {share:,.0f} MiB."
        told |= {"gpu_exceeded": True, "error": f"{text}\n{result.error}", "retry": False}
    return result.model_copy(update=told)


def _fault_of(error: EasemlError) -> dict[str, str]:
    """Return what a program of a module did wrong, without what it printed, which may tell of data."""
    if not isinstance(error, ProgramFailed):
        return {}
    return {"fault": error.message.partition("\n")[0]}


def out_of_memory(error: MemoryError, limits: Limits) -> TaskResult:
    """Return the result of a body that asked for more memory than ``limits`` allow; trying again
    will not help.
    """
    text = f"The task needed more memory than its limit of {limits.memory / 2**20:.0f} MiB."
    return TaskResult(ok=False, error=f"{text}\n{_text(error)}", memory_exceeded=True)


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
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()


def printed(folder: Path, most: int) -> bytes:
    """Return the last bytes, at most so many, of what the body printed; no link is followed."""
    path = folder / LOG
    size = path.lstat().st_size if path.exists() else 0
    return logs.read_plain(path, max(0, size - most), most)


def _text(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-_DEEPEST:]
