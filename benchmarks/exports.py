"""Exports by kind of model and format: their sizes, how well they agree, and what starts how fast.

    python benchmarks/exports.py [--rows 4000] [--models lightgbm-classifier,ridge]

Each model is fitted on rows of a public table (adult for categories, diamonds for numbers), and
exported in each format, and once more with ``--compress``. ``kib``: of the exported folder, with the
code of ``python`` and ``mlflow``; ``model_kib``: of the model, or graph, in it. ``worst``: the largest
difference between what the export and the model predict on test rows (of probabilities; of numbers
as a share of their deviation); ``python`` and ``mlflow`` are asked in a process of their own by the
code that lies in the folder. ``saving`` and ``packed_saving``: the share of the bytes that
``--compress`` takes, of files and of packed files; ``quality``: on validation rows, before and after.

Times: ``import easeml``, an estimator's first fit, and the server of an exported folder (what an
image runs) from its start to the first prediction; processor and wall seconds, the least of three.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.data import VersionTables, declare, infer_table, read_table
from easeml.errors import InvalidInput
from easeml.export import Evidence, ModelFacts, write_export
from easeml.modules.pipeline import TrainedPipeline, fit, save

MODELS = {
    "logistic": ("table-onehot", "scale"),
    "lightgbm-classifier": ("table-codes",),
    "hist-gradient-boosting-classifier": ("table-codes",),
    "random-forest-classifier": ("table-codes",),
    "extra-trees-classifier": ("table-codes",),
    "mlp-classifier": ("table-onehot", "scale"),
    "knn-classifier": ("table-onehot", "scale"),
    "svm-classifier": ("table-onehot", "scale"),
    "ridge": ("table-onehot", "scale"),
    "lightgbm-regressor": ("table-codes",),
    "random-forest-regressor": ("table-codes",),
    "gaussian-process-regressor": ("table-onehot", "scale"),
}
TABLES = {
    "classifier": ("adult/adult.csv", "class", "accuracy"),
    "regressor": ("diamonds/diamonds.csv", "price", "r2"),
}
FORMATS = ("python", "mlflow", "onnx")
COLUMNS = ["model", "format", "kib", "model_kib", "worst"]
COLUMNS += ["saving", "packed_saving", "quality_before", "quality_after", "note"]
ASK = """
import sys, pandas
sys.path.insert(0, "code")
from easeml.export import load_exported
load_exported("model").predict(pandas.read_pickle(sys.argv[1])).to_pickle(sys.argv[2])
"""
FIRST_FIT = """
from sklearn.datasets import load_iris
from easeml import AutoMLClassifier
AutoMLClassifier(time_limit=2).fit(*load_iris(return_X_y=True, as_frame=True))
"""


@dataclass(frozen=True)
class Fitted:
    """A trained model in its folder, and the rows that it is judged by."""

    model: str
    folder: Path
    trained: TrainedPipeline
    rows: VersionTables
    facts: ModelFacts


def main() -> None:
    """Measure each model in each format, then the times."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--models", default=",".join(MODELS))
    options = read_options(parser, rows=600, models="logistic")
    warnings.simplefilter("ignore")
    lines: list[list[Any]] = []
    with tempfile.TemporaryDirectory(prefix="easeml-exports-") as name:
        folder = Path(name)
        for model in options.models.split(","):
            fitted = trained(model, options.data, options.rows, folder)
            for form in FORMATS:
                lines.append(measured(fitted, form, folder))
                print("  ".join(str(cell) for cell in lines[-1]), flush=True)
                write_table(options.out / "exports.csv", COLUMNS, lines)
        served = folder / f"{options.models.split(',')[0]}-python"
        times = starts(served, 1 if options.short else 3)
        write_table(options.out / "starts.csv", ["what", "cpu_seconds", "wall_seconds"], times)
    for line in times:
        print("  ".join(str(cell) for cell in line))
    print(machine_line("scikit-learn", "lightgbm", "skops"))


def trained(model: str, data: Path, rows: int, folder: Path) -> Fitted:
    """Fit a model on its table, and save it."""
    kind = "regressor" if model.endswith("regressor") or model == "ridge" else "classifier"
    file, target, objective = TABLES[kind]
    table = read_table(data / file).slice(0, rows)
    made = declare(table, infer_table(table).columns, target)
    transforms = [{"module": name} for name in MODELS[model]]
    pipeline = {"transforms": transforms, "model": {"module": model}}
    schemas = made.schema_in, made.schema_out
    train, validation, test = (made.frames[role] for role in ("train", "validation", "test"))
    fitted = fit(pipeline, train, made.schema_in.to_json(), made.schema_out.to_json())
    place = folder / model
    save(fitted, place, quality=0.0)
    known = VersionTables(train.head(0), validation, test, *schemas, target, [])
    facts = ModelFacts("app_1", kind, "mod_1", model, "data_1", 1, objective, 0.0)
    return Fitted(model, place, fitted, known, facts)


def measured(fitted: Fitted, form: str, folder: Path) -> list[Any]:
    """Return the line of a model in a format."""
    inputs = fitted.rows.test.drop(columns=[fitted.rows.target, "_row"])
    out = folder / f"{fitted.model}-{form}"
    try:
        told = write_export(fitted.folder, fitted.facts, form, out, inputs)
    except InvalidInput as error:
        return [fitted.model, form, *[""] * 7, str(error).split(". ")[0]]
    worst = told["agreement"]["worst"] if form == "onnx" else apart(fitted, out, inputs)
    model = out / ("model.onnx" if form == "onnx" else "model")
    line = [fitted.model, form, kib(out), kib(model), f"{worst:.0e}"]
    evidence = Evidence(fitted.folder, fitted.rows)
    smaller = folder / f"{fitted.model}-{form}-smaller"
    try:
        cost = write_export(fitted.folder, fitted.facts, form, smaller, inputs, evidence)
    except InvalidInput as error:
        return [*line, *[""] * 4, str(error).split(". ")[0]]
    cost = cost["compressed"]
    qualities = [f"{cost['quality'][when]:.4f}" for when in ("before", "after")]
    saved = [f"{cost['saving']:.2f}", f"{cost['packed_saving']:.2f}"]
    return [*line, *saved, *qualities, cost["how"]]


def apart(fitted: Fitted, out: Path, inputs: Any) -> float:
    """Return the largest difference of what the code in a folder predicts by itself."""
    import pandas as pd

    asked, answered = out.with_suffix(".rows"), out.with_suffix(".answers")
    inputs.to_pickle(asked)
    command = [sys.executable, "-c", ASK, str(asked), str(answered)]
    subprocess.run(command, cwd=out, check=True)
    found: Any = pd.read_pickle(answered)
    expected = fitted.trained.predict(inputs)
    if expected.probabilities is None:
        truth = np.asarray(expected.values, dtype=float)
        return float(np.abs(found["prediction"] - truth).max() / truth.std())
    assert expected.classes is not None
    names = [f"probability_{name}" for name in expected.classes]
    return float(np.abs(found[names].to_numpy() - expected.probabilities).max())


def kib(path: Path) -> int:
    """Return the size of a file, or of all files below a folder."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return round(sum(one.stat().st_size for one in files) / 1024)


def starts(served: Path, repeats: int) -> list[list[Any]]:
    """Return what starts how fast."""
    lines = []
    for what, code in (
        ("python, nothing imported", "pass"),
        ("import easeml", "import easeml"),
        ("from easeml import AutoMLClassifier", "from easeml import AutoMLClassifier"),
        ("an estimator's first fit, 2 s allowed", FIRST_FIT),
    ):
        taken = [timed([sys.executable, "-c", code]) for _ in range(repeats)]
        lines.append([what, *(f"{least:.2f}" for least in map(min, zip(*taken, strict=True)))])
    taken = [answered(served) for _ in range(repeats)]
    least = [f"{one:.2f}" for one in map(min, zip(*taken, strict=True))]
    lines.append(["an exported server, to its first answer", *least])
    return lines


def timed(command: list[str]) -> tuple[float, float]:
    """Run a command; return its processor and wall seconds."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=one_thread())
    return spent(before), time.monotonic() - began


def answered(served: Path) -> tuple[float, float]:
    """Start the server of an exported folder; return the seconds until it has predicted a row."""
    sample = json.loads((served / "model" / "manifest.json").read_text())["parity"]["columns"]
    row = {name: values[0] for name, values in sample.items()}
    body = json.dumps({"rows": [row]}).encode()
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    port = str(20000 + os.getpid() % 20000)
    command = [sys.executable, str(served / "serve.py"), "--port", port]
    with subprocess.Popen(command, env=one_thread(), stderr=subprocess.DEVNULL) as server:
        try:
            predict_when_up(f"http://127.0.0.1:{port}/predict", body, server)
            wall = time.monotonic() - began
        finally:
            server.terminate()
    return spent(before), wall


def predict_when_up(address: str, body: bytes, server: "subprocess.Popen[bytes]") -> None:
    """Ask until the server answers. Raises what it answers instead of predictions."""
    headers = {"content-type": "application/json"}
    while server.poll() is None:
        try:
            request = urllib.request.Request(address, body, headers)
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert json.load(answer)["predictions"]
            return
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.02)  # it does not listen yet
    raise RuntimeError("The server of the exported folder ended.")


def spent(before: resource.struct_rusage) -> float:
    """Return the processor seconds of children since then."""
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime


def one_thread() -> dict[str, str]:
    """Return the environment, with one thread for numerical libraries."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


if __name__ == "__main__":
    main()
