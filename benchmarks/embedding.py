"""What tools tell of texts, with and without numbers in their place.

    python benchmarks/embedding.py [--rows 400] [--draws 4] [--tables sms_spam,...]

Rows of public sets of texts, three fifths of them to train; ``embed()`` makes 30 numbers of a text,
as the tools do by themselves, or 100. A tenth of the train labels is made
wrong. Asked are, of the relation as it is and after ``embed()``: ``check_labels`` (``precision`` and
``recall`` of the labels that look wrong), and ``feasibility`` (``width`` of the interval of the least
error, on labels that are all right); and what a linear model reaches on test rows (``accuracy``), by
what the tools make of texts and by the numbers of ``embed()``. ``cpu``: processor seconds of all.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options, write_table
from easeml import Relation

TABLES = {
    "sms_spam": ("sms_spam/sms_spam.csv", "text", "label"),
    "youtube_spam": ("youtube_spam/Youtube04-Eminem.csv", "CONTENT", "CLASS"),
    "restaurant_reviews": ("more_tables/restaurant_reviews.csv", "Review", "Liked"),
    "clothing_reviews": ("clothing_reviews/reviews.csv", "Review Text", "Recommended IND"),
}
"""File below the data, text and target by name."""
COLUMNS = ["table", "way", "precision", "recall", "width", "accuracy", "cpu"]
WRONG = 0.1
WAYS = {"as texts": 0, "30 numbers": 30, "100 numbers": 100}
"""Dimensions of ``embed()`` by name."""


def rows_of(folder: Path, name: str, count: int, seed: int) -> pd.DataFrame:
    """Return ``count`` rows of a set with columns ``text`` and ``kind``."""
    file, text, target = TABLES[name]
    table = pd.read_csv(folder / file, usecols=[text, target]).dropna()
    rows = table.sample(count, random_state=seed).reset_index(drop=True)
    return pd.DataFrame({"text": rows[text].astype(str), "kind": rows[target].astype(str)})


def with_wrong_labels(frame: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """Return the frame with other labels in some rows."""
    kinds = sorted(frame["kind"].unique())
    after = dict(zip(kinds, [*kinds[1:], kinds[0]], strict=True))
    labels: Any = frame["kind"].copy()
    labels[rows] = labels[rows].map(after)
    return frame.assign(kind=labels)


def asked(
    frame: pd.DataFrame, roles: list[str], wrong: np.ndarray, dimensions: int
) -> dict[str, Any]:
    """Ask the tools of one relation."""
    began = time.process_time()
    told = relation_of(with_wrong_labels(frame, wrong), roles, dimensions)
    flagged = told.check_labels(roles.count("train")).eval()["row_ids"]
    hits = len(set(flagged).intersection(wrong.tolist()))
    right = relation_of(frame, roles, dimensions)
    study = right.feasibility(goal=0.9).eval()
    return {
        "precision": hits / max(1, len(flagged)),
        "recall": hits / len(wrong),
        "width": study["upper"] - study["lower"],
        "accuracy": accuracy(right, roles),
        "cpu": time.process_time() - began,
    }


def relation_of(frame: pd.DataFrame, roles: list[str], dimensions: int) -> Any:
    """Return the relation, with so many numbers in the place of texts; 0 leaves texts."""
    relation = Relation.from_frame(frame, target="kind", roles=roles)
    return relation.embed(["text"], dimensions) if dimensions else relation


def accuracy(relation: Any, roles: list[str]) -> float:
    """Return what a linear model reaches on the test rows, by the tools' own encoding."""
    from sklearn.linear_model import LogisticRegression

    from easeml.lifecycle.features import encode

    frame = relation.to_frame()
    is_train, is_test = np.array(roles) == "train", np.array(roles) == "test"
    inputs = frame.drop(columns="kind")
    train, test = encode(inputs[is_train], inputs[is_test])
    model = LogisticRegression(max_iter=2000).fit(train, frame["kind"][is_train])
    return float((model.predict(test) == frame["kind"][is_test]).mean())


def main() -> None:
    """Ask and print a table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--tables", default=",".join(TABLES))
    options = read_options(parser, rows=100, draws=1, tables="sms_spam")
    print(machine_line("scikit-learn", "skrub"))
    lines = []
    for name in options.tables.split(","):
        found: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
        for draw in range(options.draws):
            frame = rows_of(options.data, name, options.rows, draw)
            train, held = round(0.6 * options.rows), round(0.2 * options.rows)
            roles = ["train"] * train + ["validation"] * held
            roles += ["test"] * (options.rows - len(roles))
            random = np.random.default_rng(draw)
            wrong = random.choice(train, round(WRONG * train), replace=False)
            for way, ways in found.items():
                ways.append(asked(frame, roles, wrong, WAYS[way]))
        for way, ways in found.items():
            means = pd.DataFrame(ways).mean().round(3).to_dict()
            lines.append([name, way, *(means[column] for column in COLUMNS[2:])])
    print(pd.DataFrame(lines, columns=COLUMNS).to_string(index=False))
    write_table(options.out / "embedding.csv", COLUMNS, lines)


if __name__ == "__main__":
    main()
