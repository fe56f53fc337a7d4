"""Quality without labels beside constant reference quality, CBPE, and NannyML's CBPE: natural and
controlled streams.

    python benchmarks/monitoring.py --data DIR [--seeds 3] [--batches 12] [--labels 0,20,50]
    [--streams beijing,bikes] [--no-nannyml] [--out DIR]

``DIR`` has stream_california_housing, stream_elec2 and stream_noaa_weather (each NAME/FILE.csv).
The monitor's constants were chosen on these; ``beijing`` (beijing_pm25) and ``bikes``
(bike_sharing_hourly) are held aside. For all but california a gradient boosting model is trained on
the first fifth; the next fifth is the reference; california brings its own model.

- natural: the rest of the stream in order of time, batches of 500 (california), 1000 (elec2), 365 (noaa) rows;
- still, covariate, concept: the same rows shuffled, so that nothing drifts by itself; then batches are drawn as
  they are, or tilted along a random direction of the inputs (labels untouched: the cause is in the data), or as they
  are with up to 60 % of the labels of a region flipped (nothing in the data tells).

For each method: mean absolute error over all batches (abstentions count with their guess), 95 %
interval score (Gneiting and Raftery 2007; smaller is better), mean half width of the intervals as
a multiple of that error (2.5 for normal errors of known spread), coverage, share of abstentions, and
mean absolute error on answered batches beside that of constant on the same. Intervals of the peers:
1.96 of NannyML's sampling errors; constant and CBPE plus and minus 1.96 binomial standard errors of
batch and reference. Also: the shape of the tables of Model Performance Predictor (accuracy true and
predicted, votes and probabilities), and false alarms of the drift tests.
"""

import json
import platform
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.isotonic import IsotonicRegression

from common import arguments, read_options
from easeml.figures import Axis, Figure, Series, numbers, tone_of
from easeml.lifecycle import monitoring
from easeml.lifecycle.monitoring.drift import covariate_test, prior_test
from easeml.lifecycle.monitoring.features import Encoder

TABLES = [
    ("adult", "class", "classification"),
    ("bank_marketing", "y", "classification"),
    ("telco_churn", "Churn", "classification"),
    ("german_credit", "credit_risk", "classification"),
    ("bike_sharing_hourly", "count", "regression"),
    ("abalone", "Rings", "regression"),
    ("wine_quality_red", "quality", "regression"),
    ("diamonds", "price", "regression"),
]
BATCH = {"california": 500, "elec2": 1000, "noaa": 365, "beijing": 720, "bikes": 500}
HELD_ASIDE = ("beijing", "bikes")
"""Streams that no constant of the monitor was chosen on."""
PACKAGES = ("nannyml", "statsmodels")  # NannyML 0.13.1 imports the latter without naming it
PEER = """
import json, sys
import nannyml, pandas as pd
answers = []
for folder, size in json.load(sys.stdin):
    reference, batches = (pd.read_csv(f"{folder}/{name}.csv") for name in ("reference", "batches"))
    estimator = nannyml.CBPE(problem_type="classification_binary", y_pred_proba="score", y_pred="predicted",
                             y_true="label", metrics=["accuracy"], chunk_size=size)
    estimator.fit(reference)
    found = estimator.estimate(batches).filter(period="analysis").to_df()["accuracy"]
    answers.append([{"score": v, "low": max(0.0, v - 1.96 * s), "high": min(1.0, v + 1.96 * s)}
                    for v, s in zip(found["value"], found["sampling_error"])])
print(json.dumps({"version": nannyml.__version__, "answers": answers}))
"""


@dataclass(frozen=True)
class Stream:
    """Rows with the model's outputs. ``batches``: row numbers and labels of each batch."""

    name: str
    kind: str
    inputs: pd.DataFrame
    scores: np.ndarray
    predicted: np.ndarray
    labels: np.ndarray
    reference: np.ndarray
    batches: list[tuple[np.ndarray, np.ndarray]]

    @property
    def truths(self) -> list[float]:
        return [float((labels == self.predicted[rows]).mean()) for rows, labels in self.batches]


def table(name: str, data: Path) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    if name == "california":
        frame = pd.read_csv(data / "stream_california_housing" / "california_housing.csv")
        inputs = frame.drop(
            columns=["id", "timestamp", "clf_target", "y_pred_proba", "y_pred", "period"]
        )
        return inputs, frame["clf_target"].to_numpy(), frame
    if name in HELD_ASIDE:
        return held_aside(name, data)
    if name == "elec2":
        frame = pd.read_csv(data / "stream_elec2" / "elec2.csv")
        return frame.drop(columns=["timestamp", "class"]), frame["class"].to_numpy(), frame
    frame = pd.read_csv(data / "stream_noaa_weather" / "noaa_weather.csv")
    return frame.drop(columns=["row", "rain"]), frame["rain"].to_numpy(), frame


def held_aside(name: str, data: Path) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return a stream by the hour; the label is whether its number is above the median of the
    first fifth.
    """
    if name == "beijing":
        frame = pd.read_csv(data / "beijing_pm25" / "beijing_pm25.csv").dropna(subset=["pm2.5"])
        value, dropped = frame["pm2.5"], ["No", "year", "pm2.5"]
    else:
        frame = pd.read_csv(data / "bike_sharing_hourly" / "bike_sharing_hourly.csv")
        frame["hour"] = pd.to_datetime(frame["datetime"]).dt.hour
        value, dropped = frame["count"], ["datetime", "casual", "registered", "count"]
    inputs = pd.get_dummies(frame.drop(columns=dropped), dtype=float).reset_index(drop=True)
    limit = value.iloc[: len(value) // 5].median()
    return inputs, (value > limit).to_numpy().astype(int), frame


def prepared(name: str, data: Path, order: np.ndarray | None) -> tuple:
    """Return inputs, scores, predictions, labels, reference rows and later rows; ``order`` None
    keeps that of time.
    """
    inputs, labels, frame = table(name, data)
    n = len(labels)
    if name == "california":
        scores, predicted = frame["y_pred_proba"].to_numpy(), frame["y_pred"].to_numpy()
        if order is None:
            known = (frame["period"] == "reference").to_numpy()
            return inputs, scores, predicted, labels, np.flatnonzero(known), np.flatnonzero(~known)
        return inputs, scores, predicted, labels, order[: n // 3], order[n // 3 :]
    order = np.arange(n) if order is None else order
    train, reference, later = np.split(order, [n // 5, 2 * n // 5])
    model = HistGradientBoostingClassifier(random_state=0).fit(inputs.iloc[train], labels[train])
    scores = model.predict_proba(inputs)[:, 1]
    return inputs, scores, (scores >= 0.5).astype(int), labels, reference, later


def natural(name: str, data: Path) -> Stream:
    inputs, scores, predicted, labels, reference, later = prepared(name, data, None)
    size = BATCH[name]
    batches = [
        (rows := later[i : i + size], labels[rows]) for i in range(0, len(later) - size + 1, size)
    ]
    return Stream(name, "natural", inputs, scores, predicted, labels, reference, batches)


def controlled(name: str, data: Path, seed: int, count: int) -> Iterator[Stream]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(table(name, data)[1]))
    inputs, scores, predicted, labels, reference, later = prepared(name, data, order)
    matrix = inputs.to_numpy(dtype=float)
    spread = np.maximum(matrix[reference].std(axis=0), 1e-9)
    scaled = np.clip((matrix - matrix[reference].mean(axis=0)) / spread, -3, 3)
    for kind in ("still", "covariate", "concept"):
        batches = []
        for number in range(1, count + 1):
            strength = number / count
            direction = rng.normal(size=scaled.shape[1])
            tilt = scaled @ (direction / np.linalg.norm(direction))
            chances = (
                np.exp(2.5 * strength * tilt[later]) if kind == "covariate" else np.ones(len(later))
            )
            rows = rng.choice(
                later, BATCH[name], replace=kind == "covariate", p=chances / chances.sum()
            )
            answers = labels[rows]
            if kind == "concept":
                flipped = (tilt[rows] > 0.3) & (rng.random(len(rows)) < 0.6 * strength)
                answers = np.where(flipped, 1 - answers, answers)
            batches.append((rows, answers))
        yield Stream(name, kind, inputs, scores, predicted, labels, reference, batches)


def binomial(estimate: float, stream: Stream, size: int) -> tuple[float, float]:
    half = 1.96 * np.sqrt(
        max(estimate * (1 - estimate), 1e-4) * (1 / size + 1 / len(stream.reference))
    )
    return estimate - half, estimate + half


def constant(stream: Stream) -> list[dict]:
    value = float((stream.labels == stream.predicted)[stream.reference].mean())
    return [
        dict(zip(("score", "low", "high"), (value, *binomial(value, stream, len(r))), strict=True))
        for r, _ in stream.batches
    ]


def cbpe(stream: Stream) -> list[dict]:
    known = stream.reference
    map_ = IsotonicRegression(out_of_bounds="clip").fit(stream.scores[known], stream.labels[known])
    found = []
    for rows, _ in stream.batches:
        chance = map_.predict(stream.scores[rows])
        value = float(np.where(stream.predicted[rows] == 1, chance, 1 - chance).mean())
        low, high = binomial(value, stream, len(rows))
        found.append({"score": value, "low": low, "high": high})
    return found


def easeml(stream: Stream, state: bytes, labels: int, seed: int) -> list[dict]:
    monitor = monitoring.load(state)
    found = []
    for number, (rows, truth) in enumerate(stream.batches):
        facts = monitoring.Batch(
            stream.inputs.iloc[rows], stream.predicted[rows], stream.scores[rows]
        )
        if labels:
            query = monitoring.choose(monitor, facts, budget=labels, seed=1000 * seed + number)
            facts = replace(facts, labelled=monitoring.Labelled(query, truth[query.rows]))
        report, monitor = monitoring.ask(monitor, facts)
        found.append(
            {
                "score": report.score,
                "low": report.low,
                "high": report.high,
                "abstained": report.status == "cannot tell",
                "status": report.status,
                "error_model": report.estimates.error_model,
                "doubly_robust": report.estimates.doubly_robust,
            }
        )
    return found


def labels_alone(stream: Stream, labels: int, seed: int) -> list[dict]:
    rng = np.random.default_rng(seed)
    found = []
    for rows, truth in stream.batches:
        chosen = rng.choice(len(rows), labels, replace=False)
        right = int((truth[chosen] == stream.predicted[rows[chosen]]).sum())
        value = right / labels
        centre, half = (
            (right + 1.92) / (labels + 3.84),
            1.96 * np.sqrt(labels * value * (1 - value) + 0.96) / (labels + 3.84),
        )
        found.append({"score": value, "low": centre - half, "high": centre + half})
    return found


def peer_environment(folder: Path) -> Path | None:
    """Make an environment with NannyML; None if it cannot be installed."""
    python = folder / "nannyml" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "nannyml", with_pip=True)
        run = subprocess.run(
            [python, "-m", "pip", "install", "-q", *PACKAGES],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            print("NannyML cannot be installed:", run.stderr.strip().splitlines()[-1:])
            return None
    return python


def nannyml(streams: list[Stream], python: Path) -> tuple[str, list[list[dict]]]:
    """Let NannyML estimate all streams, in one process of its own environment; returns its version
    and answers.
    """
    with tempfile.TemporaryDirectory() as root:
        asked = []
        for number, stream in enumerate(streams):
            folder = Path(root) / str(number)
            folder.mkdir()
            known, labels = stream.reference, stream.labels[stream.reference]
            rows = np.concatenate([rows for rows, _ in stream.batches])
            peer_frame(stream, known).assign(label=labels).to_csv(
                folder / "reference.csv", index=False
            )
            peer_frame(stream, rows).to_csv(folder / "batches.csv", index=False)
            asked.append((str(folder), len(stream.batches[0][0])))
        run = subprocess.run(
            [python, "-I", "-W", "ignore", "-c", PEER],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=False,
        )
    if run.returncode:
        print("NannyML failed:", run.stderr.strip().splitlines()[-1:])
        return "failed", [[] for _ in streams]
    answer = json.loads(run.stdout.strip().splitlines()[-1])
    return answer["version"], answer["answers"]


def peer_frame(stream: Stream, rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"score": stream.scores[rows], "predicted": stream.predicted[rows]})


def fitted(stream: Stream, seed: int) -> bytes:
    """Return a monitor of the stream's reference rows."""
    known = stream.reference
    monitor = monitoring.fit(
        stream.inputs.iloc[known],
        stream.predicted[known],
        stream.labels[known],
        stream.scores[known],
        seed=seed,
    )
    print(stream.name, stream.kind, seed, monitor.trust, file=sys.stderr, flush=True)
    return monitoring.save(monitor)


def collect(stream: Stream, seed: int, labels: list[int], state: bytes) -> dict[str, list[dict]]:
    """Return the answers of all methods but NannyML, one a batch."""
    methods = {"constant": constant(stream), "CBPE": cbpe(stream)}
    for count in labels:
        methods[f"easeml, {count} labels a batch" if count else "easeml"] = easeml(
            stream, state, count, seed
        )
        if count:
            methods[f"random {count} labels alone"] = labels_alone(stream, count, seed)
    return methods


def tabulate(stream: Stream, seed: int, methods: dict[str, list[dict]]) -> pd.DataFrame:
    """Return one row a batch and method, with the truth and what constant says."""
    frames = []
    for method, rows in methods.items():
        frame = pd.DataFrame(rows[: len(stream.batches)])
        frame["batch"], frame["truth"] = np.arange(1, len(frame) + 1), stream.truths[: len(frame)]
        frame["constant"] = methods["constant"][0]["score"]
        frames.append(frame.assign(stream=stream.name, kind=stream.kind, seed=seed, method=method))
    return pd.concat(frames, ignore_index=True)


def summary(raw: pd.DataFrame) -> pd.DataFrame:
    raw = raw.copy()
    raw["abstained"] = raw["abstained"].astype("boolean").fillna(False).astype(bool)
    raw["error"] = (raw["score"] - raw["truth"]).abs()
    below, above = (
        (raw["low"] - raw["truth"]).clip(lower=0),
        (raw["truth"] - raw["high"]).clip(lower=0),
    )
    raw["interval_score"] = raw["high"] - raw["low"] + 40 * (below + above)
    raw["covered"] = (below == 0) & (above == 0)
    rows = []
    for (kind, stream, method), part in raw.groupby(["kind", "stream", "method"], sort=False):
        answered = part[~part["abstained"]]
        rows.append(
            {
                "kind": kind,
                "stream": stream,
                "method": method,
                "batches": len(part),
                "MAE": part["error"].mean(),
                "interval score": part["interval_score"].mean(),
                "half widths": (part["high"] - part["low"]).mean() / 2 / part["error"].mean(),
                "coverage": part["covered"].mean(),
                "abstained": part["abstained"].mean(),
                "MAE answered": answered["error"].mean(),
                "constant there": (answered["constant"] - answered["truth"]).abs().mean(),
            }
        )
    return pd.DataFrame(rows)


def predictor_table(data: Path) -> pd.DataFrame:
    """Accuracy as Model Performance Predictor's tables show it, by votes and by probabilities, on
    tables at hand.
    """
    rows = []
    for folder, target, task in TABLES:
        path = next((data / folder).glob("*.csv"), None)
        if path is None:
            continue
        frame = pd.read_csv(path, sep=None, engine="python")
        frame = frame.dropna(subset=[target]).sample(min(len(frame), 4500), random_state=0)
        labels = frame[target].to_numpy()
        inputs = frame.drop(columns=[target, *({"casual", "registered"} & set(frame))])
        encoded = Encoder.learn(inputs).encode(inputs)
        train, known, new = np.array_split(np.arange(len(frame)), 3)
        maker = RandomForestRegressor if task == "regression" else RandomForestClassifier
        predicted = (
            maker(50, max_depth=6, random_state=0)
            .fit(encoded[train], labels[train])
            .predict(encoded)
        )
        monitor = monitoring.fit(inputs.iloc[known], predicted[known], labels[known], task=task)
        report, _ = monitoring.ask(monitor, monitoring.Batch(inputs.iloc[new], predicted[new]))
        batch = monitor.rows(monitoring.Batch(inputs.iloc[new], predicted[new]))
        rows.append(
            {
                "table": folder,
                "tolerance": monitor.tolerance,
                "true": float(monitor.right(batch.predictions, labels[new]).mean()),
                "votes": float((monitor.reference.forest.predict(batch.features) > 0.5).mean()),
                "mean probability": report.estimates.error_model,
                "easeml": report.score,
            }
        )
    return pd.DataFrame(rows)


def false_alarms(streams: int, batches: int, alpha: float, seed: int) -> dict[str, float]:
    """Share of streams without drift in which any covariate or prior test ever raised an alarm."""
    rng = np.random.default_rng(seed)
    ever = 0
    for _ in range(streams):
        reference, codes = rng.normal(size=(1000, 4)), rng.integers(0, 3, 1000)
        for number in range(1, batches + 1):
            level = monitoring.level_at(number, alpha)
            new = covariate_test(reference, rng.normal(size=(200, 4)), list("abcd"), level)
            if new.alarm or prior_test(codes, rng.integers(0, 3, 200), level).alarm:
                ever += 1
                break
    return {
        "streams": streams,
        "batches": batches,
        "promised": alpha,
        "any false alarm": ever / streams,
    }


def draw(raw: pd.DataFrame, path: Path, stream: str) -> None:
    """Write the true and the estimated accuracy of one natural stream as a picture."""
    natural = raw[(raw["kind"] == "natural") & (raw["stream"] == stream)]
    estimated = ["easeml", "easeml, 50 labels a batch", "CBPE"]
    series = []
    for number, method in enumerate(estimated):
        part = natural[natural["method"] == method].dropna(subset=["score"])
        name, tone = f"estimated: {method}", tone_of(number)
        series.append(
            Series(name, numbers(part["batch"]), numbers(part["score"]), tone=tone, dashed=True)
        )
    part = natural[natural["method"] == "constant"]
    series.append(Series("truth", numbers(part["batch"]), numbers(part["truth"]), tone="text"))
    figure = Figure(
        f"Accuracy on the stream {stream}", Axis("batch"), Axis("accuracy"), tuple(series)
    )
    path.write_text(figure.to_svg(), encoding="utf-8")


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=3, help="shuffles of each controlled stream")
    parser.add_argument("--batches", type=int, default=12, help="batches of each controlled stream")
    parser.add_argument(
        "--labels", default="0,20,50", help="labels asked a batch, with commas between"
    )
    parser.add_argument("--streams", default="elec2,california,noaa")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "easeml-peers")
    parser.add_argument("--no-nannyml", action="store_true")
    parser.add_argument("--alarm-streams", type=int, default=300)
    parser.add_argument("--no-predictor", action="store_true", help="leave that table out")
    given = read_options(
        parser,
        seeds=1,
        batches=1,
        labels="0",
        streams="bikes",
        no_nannyml=True,
        no_predictor=True,
        alarm_streams=2,
    )
    out = given.out
    labels = [int(count) for count in given.labels.split(",")]
    python = None if given.no_nannyml else peer_environment(given.folder)
    versions = {
        "easeml": version("easeml"),
        "scikit-learn": version("scikit-learn"),
        "python": platform.python_version(),
    }
    streams: list[tuple[Stream, int]] = []
    for name in given.streams.split(","):
        streams.append((natural(name, given.data), 0))
        for seed in range(given.seeds):
            streams += [
                (stream, seed) for stream in controlled(name, given.data, seed, given.batches)
            ]
    answers: list[dict[str, list[dict]]] = []
    states: dict[
        tuple[str, bool, int], bytes
    ] = {}  # the controlled streams of a seed share their reference
    for stream, seed in streams:
        key = (stream.name, stream.kind == "natural", seed)
        states[key] = states.get(key) or fitted(stream, seed)
        answers.append(collect(stream, seed, labels, states[key]))
        print(stream.name, stream.kind, seed, "done", file=sys.stderr, flush=True)
    if python is not None:
        versions["nannyml"], peers = nannyml([stream for stream, _ in streams], python)
        answers = [
            {**methods, "NannyML CBPE": rows} if rows else methods
            for methods, rows in zip(answers, peers, strict=True)
        ]
    parts = [
        tabulate(stream, seed, methods)
        for (stream, seed), methods in zip(streams, answers, strict=True)
    ]
    raw = pd.concat(parts, ignore_index=True)
    found = summary(raw)
    pd.set_option("display.width", 200, "display.max_rows", 500, "display.max_columns", 20)
    print(platform.machine(), platform.system(), versions, "" if python else "NannyML: not run")
    for kind, part in found.groupby("kind", sort=False):
        print(
            f"\n{kind}\n",
            part.drop(columns="kind").to_string(index=False, float_format="{:.3f}".format),
        )
    if not given.no_predictor:
        predictor = predictor_table(given.data)
        shown = predictor.to_string(index=False, float_format="{:.3f}".format)
        print("\nModel Performance Predictor\n", shown)
        predictor.round(4).to_csv(out / "predictor.csv", index=False)
    alarms = false_alarms(given.alarm_streams, 20, 0.05, 0)
    print("\ndrift tests without drift:", alarms)
    found.round(4).to_csv(out / "summary.csv", index=False)
    raw[raw["kind"] == "natural"].drop(columns=["kind", "seed"]).round(4).to_csv(
        out / "natural.csv", index=False
    )
    about = {
        "versions": versions,
        "shuffles": given.seeds,
        "batches of each": given.batches,
        "false alarms": alarms,
    }
    (out / "about.json").write_text(json.dumps(about, indent=2) + "\n")
    draw(raw, out / "natural.svg", given.streams.split(",")[0])


if __name__ == "__main__":
    main()
