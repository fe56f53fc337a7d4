"""What a monitor that gets a few labels of each batch says where the quality fell.

    python benchmarks/monitoring_verdicts.py --data DIR [--streams elec2,noaa] [--labels 20 50 100]
                                             [--out DIR] [--short]

The streams are those of ``monitoring.py``: in order of time, and shuffled with nothing changed, the
inputs tilted, or the labels of a region flipped (one seed, twelve batches each). Labels are of rows
that ``choose`` draws. ``verdicts.csv`` counts what is said by how far the quality of the batch lies
below that of the reference; ``intervals.csv`` has, a kind of stream, the share of intervals that hold
the truth, the mean error and the mean half width.
"""

from dataclasses import replace
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

from common import arguments, machine_line, read_options
from easeml.lifecycle import monitoring
from monitoring import Stream, controlled, fitted, natural

FALLS = [-1, 0, 0.05, 0.1, 0.15, 1]
BATCHES = 12


def watched(stream: Stream, state: bytes, labels: int) -> list[dict[str, object]]:
    """Return a line a batch."""
    monitor = monitoring.load(state)
    right = stream.labels == stream.predicted
    reference = float(right[stream.reference].mean())
    lines = []
    for number, (rows, truth) in enumerate(stream.batches):
        batch = monitoring.Batch(
            stream.inputs.iloc[rows], stream.predicted[rows], stream.scores[rows]
        )
        query = monitoring.choose(monitor, batch, budget=labels, seed=number)
        told = replace(batch, labelled=monitoring.Labelled(query, truth[query.rows]))
        report, monitor = monitoring.ask(monitor, told)
        quality = float((truth == stream.predicted[rows]).mean())
        line = {"stream": stream.name, "kind": stream.kind, "labels": labels}
        line |= {"fall": reference - quality, "status": report.status}
        line |= {"held": report.low <= quality <= report.high}
        line |= {"error": abs(report.score - quality), "half": (report.high - report.low) / 2}
        lines.append(line)
    return lines


def watched_all(name: str, data: Path, labels: list[int]) -> list[dict[str, object]]:
    """Return the lines of all streams of a table."""
    in_order = natural(name, data)
    shuffled = list(controlled(name, data, 0, BATCHES))
    states = [fitted(in_order, 0), *[fitted(shuffled[0], 0)] * len(shuffled)]
    lines = []
    for stream, state in zip([in_order, *shuffled], states, strict=True):
        for count in labels:
            lines += watched(stream, state, count)
    return lines


def main() -> None:
    """Watch all streams, and write both tables."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--streams", default="elec2,california,noaa,beijing,bikes")
    parser.add_argument("--labels", type=int, nargs="+", default=[20, 50, 100])
    options = read_options(parser, streams="bikes", labels=[50])
    print(machine_line("scikit-learn"))
    lines = []
    with threadpool_limits(1):
        for name in options.streams.split(","):
            lines += watched_all(name, options.data, options.labels)
    raw = pd.DataFrame(lines)
    raw["fall"] = pd.cut(raw["fall"], FALLS).astype(str)
    verdicts = pd.crosstab([raw["labels"], raw["fall"]], raw["status"]).reset_index()
    by_kind = raw.groupby(["labels", "kind"])[["held", "error", "half"]].mean()
    by_kind["half widths"] = by_kind["half"] / by_kind["error"]
    by_kind["batches"] = raw.groupby(["labels", "kind"]).size()
    print(verdicts.to_string(index=False))
    print(by_kind.round(4).to_string())
    verdicts.to_csv(options.out / "verdicts.csv", index=False)
    by_kind.round(4).reset_index().to_csv(options.out / "intervals.csv", index=False)


if __name__ == "__main__":
    main()
