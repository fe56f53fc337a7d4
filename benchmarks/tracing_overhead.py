"""What a trace takes from the task that it is about: processor seconds of the same task, traced and
not.

    python benchmarks/tracing_overhead.py [--pairs 10] [--rows 16000]

Each model is trained on rows of the public table Adult as a worker does it: by the executor, in a
child, the whole task (read, fit, predict, measure, store). A pair is one task that is traced from
its beginning to its end and one that is not, one after the other, in turns first. Both do the same
work to the bit. Seconds are the processor's, of the child with its trace; the ratio of a pair is
little disturbed by what else the machine does. The interval is Student's over the logarithms of
all ratios.
"""

import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

from common import arguments, machine_line, read_options, write_table
from easeml.contract.tasks import Limits, Pipeline, TaskSpec
from easeml.data import declare, infer_table, read_table, write_version
from easeml.data.versions.declared import Declared
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor
from easeml.modules import load_registry
from easeml.tracing import SWITCH, TRACE, read_trace

MODELS = (
    "logistic",
    "decision-tree-classifier",
    "random-forest-classifier",
    "lightgbm-classifier",
    "mlp-classifier",
)
LIMITS = Limits(seconds=300, memory=2**31, threads=1)


def pipelines(version: Declared, names: tuple[str, ...]) -> dict[str, Pipeline]:
    """Return the candidate of each model with its default configuration."""
    registry = load_registry()
    schema_in, schema_out = version.schema_in.to_json(), version.schema_out.to_json()
    found = {}
    for match in registry.models_for(schema_in, schema_out):
        if match.fits and match.module.name in names:
            chain = [each.choice() for each in registry.candidates(match.module, schema_in)]
            pipeline = {"transforms": chain, "model": match.module.choice()}
            found[match.module.name] = Pipeline.model_validate(pipeline)
    return found


def run(executor: LocalExecutor, spec: TaskSpec, version: Path, *, traced: bool) -> list[float]:
    """Return the processor seconds of one task, and how many looks its trace has."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "work"
        task_main.prepare(folder, spec)
        (folder / task_main.INPUTS / "version").symlink_to(version)
        if traced:
            (folder / SWITCH).touch()
        outcome = executor.start(folder, LIMITS).wait()
        assert outcome.ending == "finished" and outcome.result.ok, outcome.result.error
        noted = folder / TRACE
        looks = read_trace(noted.read_bytes()).looks if noted.exists() else 0
    assert outcome.result.processor is not None
    return [outcome.result.processor, float(looks)]


def main() -> None:
    """Print and write the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--rows", type=int, default=16000)
    parser.add_argument("--models", default=",".join(MODELS))
    options = read_options(parser, pairs=1, rows=300, models="decision-tree-classifier")
    print(machine_line("easeml", "scikit-learn", "lightgbm"))
    table = read_table(options.data / "adult" / "adult.csv").slice(0, options.rows)
    version = declare(table, infer_table(table, "class").columns, "class", seed=0)
    executor = LocalExecutor(LIMITS)
    rows: list[list[object]] = []
    logs: list[float] = []
    head = ["model", "off s", "on s", "on / off", "looks"]
    print("{:28} {:>8} {:>8} {:>9} {:>7}".format(*head))
    with tempfile.TemporaryDirectory() as folder:
        write_version(folder, version)
        for name, pipeline in pipelines(version, tuple(options.models.split(","))).items():
            body = {
                "kind": "train",
                "pipeline": pipeline.model_dump(),
                "objective": "accuracy",
                "schema_in": version.schema_in.to_json(),
                "schema_out": version.schema_out.to_json(),
            }
            spec = TaskSpec(module="easeml.kinds.train", body=body)
            pairs = []
            for number in range(options.pairs):
                runs = {}
                for traced in (False, True) if number % 2 else (True, False):
                    runs[traced] = run(executor, spec, Path(folder), traced=traced)
                pairs.append((runs[False][0], *runs[True]))
            off, on, looks = np.median(pairs, axis=0)
            ratios = np.log([pair[1] / pair[0] for pair in pairs])
            logs += list(ratios)
            row = [name, f"{off:.3f}", f"{on:.3f}", f"{np.exp(ratios.mean()):.4f}", f"{looks:.0f}"]
            rows.append(row)
            print("{:28} {:>8} {:>8} {:>9} {:>7}".format(*row), flush=True)
    executor.close()
    mean = float(np.mean(logs))
    half = 0.0
    if len(logs) > 1:
        half = float(stats.t.ppf(0.975, len(logs) - 1) * stats.sem(logs))
    low, middle, high = np.exp([mean - half, mean, mean + half])
    print(f"all: on / off {middle:.4f} ({low:.4f} to {high:.4f})")
    rows.append(["all", "", "", f"{middle:.4f} ({low:.4f} to {high:.4f})", ""])
    write_table(options.out / "overhead.csv", head, rows)


if __name__ == "__main__":
    main()
