"""What a task costs more where a model's programs run as processes, or in containers.

    python benchmarks/container_overhead.py [--runs 50]

Each run is a task in a confined child of the local executor that does with a model what training
does: one ``train``, and three times ``predict`` (validation and test rows together, one row to see
how long it takes, and the sample of the manifest). The model of the zoo is naive Bayes; the programs
of the others are the skeleton in shell, which find the nearest mean by awk. Runs take turns, so that
a busy machine is busy for all of them. ``a call`` is one ``predict`` of one row, as a request to an
endpoint makes it. ``processor``: seconds of it that the body and its programs used, which tell what a
task takes on a quiet machine; of containers the engine does most, in processes that are not counted.

Skipped, in words, where this machine runs no containers.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import container_images
from common import arguments, machine_line, read_options, write_table
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor
from easeml.modules import Context, Data, load_registry, packed, parse, skeletons
from easeml.modules.containers import engines, images
from easeml.search import spaces

RUNTIMES = ("zoo", "process", "container")
PREDICTIONS = 3  # of a training task
ROWS, FEATURES = 200, 4
LIMITS = Limits(seconds=120, memory=2**31, threads=1)


def body(folder: Path) -> TaskResult:
    """Train and predict as a training task does; the result tells how long one row took."""
    asked = json.loads((folder / task_main.SPEC).read_text())
    generator = np.random.default_rng(0)
    features = generator.normal(size=(ROWS, FEATURES))
    target = (features[:, 0] > 0).astype(int)
    source = asked["source"]
    module = parse(source, "module.toml") if source else load_registry().get("naive-bayes")
    config = spaces.default(module.space)
    trained = module.make().fit(Data(features, target, classes=2), config, Context())
    for _ in range(PREDICTIONS - 1):
        trained.predict(features)
    began = time.perf_counter()
    trained.predict(features[:1])
    call = time.perf_counter() - began
    result = TaskResult(ok=True, value={"call": call, "processor": sum(os.times()[:4])})
    task_main.write_result(folder, result)
    return result


def sources(folder: Path) -> dict[str, str]:
    """Return the texts of the modules by runtime; the zoo's own needs none."""
    image = container_images.shell_image()
    made = {"zoo": ""}
    for runtime in RUNTIMES[1:]:
        place = folder / runtime
        skeletons.make(place, "model", "shell")
        if runtime == "container":
            toml = (place / "module.toml").read_text()
            toml = toml.replace('kind = "process"', 'kind = "container"\nimage = "image.tar"')
            (place / "module.toml").write_text(toml)
            shutil.copyfile(image, place / "image.tar")
        made[runtime] = packed.pack(place)
    return made


def run_once(
    executor: LocalExecutor, place: Path, source: str, held: dict[str, str]
) -> list[float]:
    """Return the seconds of a task, from asking for it to its end, of one call, and processor."""
    (place / task_main.INPUTS).mkdir(parents=True)
    (place / task_main.SPEC).write_text(json.dumps({"source": source}))
    named = images.named_in(source.encode())
    task_main.name_images(place, {image: held[image] for image in named})
    began = time.perf_counter()
    outcome = executor.start(place, LIMITS).wait()
    seconds = time.perf_counter() - began
    if not outcome.result.ok:
        raise RuntimeError(outcome.result.error)
    return [seconds, outcome.result.value["call"], outcome.result.value["processor"]]


def measure(runs: int, note: Callable[[str, int, list[float]], None]) -> None:
    """Run every runtime in turn, and ``note`` what each took."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        texts = sources(folder)
        image = container_images.reference(container_images.shell_image())
        held = {image: images.loaded(image)}
        executor = LocalExecutor(LIMITS, body, isolation="process")
        try:
            for number in range(-1, runs):  # the first of each is not counted: it imports and loads
                for runtime in RUNTIMES:
                    place = folder / f"{runtime}-{number}"
                    taken = run_once(executor, place, texts[runtime], held)
                    if number >= 0:
                        note(runtime, number, taken)
        finally:
            executor.close()


def main() -> None:
    """Print the table, and keep the runs."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=50)
    options = read_options(parser, runs=2)
    if reason := container_images.why_none():
        print(f"Skipped: {reason}.\nNothing was measured.")
        return
    found: dict[str, list[list[float]]] = {runtime: [] for runtime in RUNTIMES}
    rows = []

    def note(runtime: str, number: int, taken: list[float]) -> None:
        found[runtime].append(taken)
        rows.append([runtime, number, *[f"{one:.4f}" for one in taken]])

    measure(options.runs, note)
    write_table(options.out / "runs.csv", ["runtime", "run", "task", "call", "processor"], rows)
    using = engines.engine()
    print(machine_line("easeml"), f"{using.name} {using.version}", sep=", ")
    print(
        f"{'seconds, median':16} {'n':>4} {'a task':>8} {'p90':>8} {'more':>8} {'a call':>8} {'processor':>10}"
    )
    zoo = float(np.median([taken[0] for taken in found["zoo"]]))
    for runtime, taken in found.items():
        tasks, calls, used = np.array(taken).T
        median, slow = np.percentile(tasks, [50, 90])
        more, call, processor = median - zoo, np.median(calls), np.median(used)
        row = f"{runtime:16} {len(tasks):4} {median:8.3f} {slow:8.3f} {more:8.3f} {call:8.3f}"
        print(f"{row} {processor:10.3f}")


if __name__ == "__main__":
    main()
