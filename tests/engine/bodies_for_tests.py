"""Task bodies that misbehave, run by the executor in place of easeml's own.

The file ``do`` says which.
"""

import ctypes
import math
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from easeml.contract.tasks import TaskResult
from easeml.engine import task_main
from easeml.modules.leash import Leash
from easeml.spans import span
from easeml.tracing import watch


def run(folder: Path) -> TaskResult:
    """Run the behaviour that the input ``source`` (or the file ``do``) names."""
    named = folder / task_main.INPUTS / "source"
    file = named if named.exists() else folder / "do"
    (folder / "pid").write_text(str(os.getpid()))
    print("the body runs", flush=True)
    return BEHAVIOURS[file.read_text().strip()](folder)


def finish(folder: Path) -> TaskResult:
    """Do what a good ingest-upload does."""
    table = folder / task_main.OUTPUTS / "table"
    table.mkdir(parents=True, exist_ok=True)
    (table / "rows").write_text("1")
    value = {"columns": [], "rows": 1, "target": None, "notes": []}
    result = TaskResult(ok=True, value=value, outputs=["table"])
    task_main.write_result(folder, result)
    return result


def tell_gpu(folder: Path) -> TaskResult:
    """Say what it was told of its share of a GPU."""
    prefixes = ("CUDA_", "EASEML_GPU_")
    told = {name: text for name, text in os.environ.items() if name.startswith(prefixes)}
    result = TaskResult(ok=True, value={"told": told})
    task_main.write_result(folder, result)
    return result


def fit_forest(folder: Path) -> TaskResult:
    """Fit trees and predict on two threads, as scikit-learn does it, and fail in one of them."""
    import numpy as np
    from joblib import Parallel, delayed
    from sklearn.ensemble import RandomForestClassifier

    X = np.random.default_rng(0).random((200, 3))
    y = (X[:, 0] > 0.5).astype(int)
    forest = RandomForestClassifier(20, n_jobs=2, random_state=0).fit(X, y)
    alone = RandomForestClassifier(20, n_jobs=1, random_state=0).fit(X, y)
    assert (forest.predict_proba(X) == alone.predict_proba(X)).all()
    try:
        Parallel(n_jobs=2, prefer="threads")(delayed(math.sqrt)(one) for one in (4, -1, 9))
    except ValueError:
        return finish(folder)
    raise AssertionError("What failed in a thread was not told.")


def fit_boosted_trees(folder: Path) -> TaskResult:
    """Fit trees whose thresholds are looked for by joblib on "threading", asked for by that name."""
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows = np.arange(400.0).reshape(200, 2)
    HistGradientBoostingClassifier(max_iter=2).fit(rows, np.arange(200) % 2)
    return finish(folder)


def hang(folder: Path) -> TaskResult:
    """Never end, whatever polite signals say."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def finish_first_and_hang(folder: Path) -> TaskResult:
    """Keep a first result, and never come to a better one."""
    finish(folder)
    return hang(folder)


def end_when_asked(folder: Path) -> TaskResult:
    """Go on until asked to end, then bring what there is."""
    enough = Leash(math.inf, folder=folder).is_over
    while not enough():
        time.sleep(0.01)
    return finish(folder)


def be_seen(folder: Path) -> TaskResult:
    """Go on until asked to end, in a step, as a body that can be traced."""
    with watch(folder), span("be seen"):
        return end_when_asked(folder)


def linger(folder: Path) -> TaskResult:
    """Leave a child behind."""
    child = os.fork()
    if child == 0:
        time.sleep(600)
    (folder / "lingering").write_text(str(child))
    return finish(folder)


def eat_memory(folder: Path) -> TaskResult:
    """Ask for more and more memory."""
    eaten = []
    while True:
        eaten.append(bytearray(1 << 20))


def fault(folder: Path) -> TaskResult:
    """Read where nothing is."""
    ctypes.string_at(0)
    return finish(folder)


def leave(folder: Path) -> TaskResult:
    """End without a result."""
    os._exit(3)


def once(folder: Path) -> TaskResult:
    """Hang on the first attempt (until killed), finish on the next; the marker lies beside the work
    folders.
    """
    marker = folder.parent.parent / "hung"
    if marker.exists():
        return finish(folder)
    marker.write_text(str(os.getpid()))
    return hang(folder)


def leave_a_link(folder: Path) -> TaskResult:
    """Leave a link to somebody else's result in place of a result."""
    (folder / task_main.RESULT).symlink_to(folder.parent / "other-result.json")
    os._exit(0)


def leave_a_link_as_log(folder: Path) -> TaskResult:
    """Leave a link to somebody else's file in place of a log, and no result."""
    (folder / task_main.LOG).unlink()
    (folder / task_main.LOG).symlink_to(folder.parent / "secret")
    os._exit(3)


def link_in_outputs(folder: Path) -> TaskResult:
    """Bring a link to somebody else's file as an output."""
    result = finish(folder)
    (folder / task_main.OUTPUTS / "other").symlink_to(folder.parent / "secret")
    return result


BEHAVIOURS: dict[str, Callable[[Path], TaskResult]] = {
    "fit-forest": fit_forest,
    "fit-boosted-trees": fit_boosted_trees,
    "finish": finish,
    "tell-gpu": tell_gpu,
    "hang": hang,
    "finish-first-and-hang": finish_first_and_hang,
    "end-when-asked": end_when_asked,
    "be-seen": be_seen,
    "linger": linger,
    "eat-memory": eat_memory,
    "fault": fault,
    "leave": leave,
    "once": once,
    "leave-a-link": leave_a_link,
    "leave-a-link-as-log": leave_a_link_as_log,
    "link-in-outputs": link_in_outputs,
}
