"""Is it seen that texts which a model is asked about moved, and not said where they did not?

    python benchmarks/watched_texts.py [--data DIR] [--rows 300] [--draws 60] [--out DIR] [--short]

Public texts with classes. The reference rows have all classes but one, and so have the new rows,
but for a share of them that is of that class. A share of 0 is a false alarm; 5 % are stated.
easeml looks at the length of texts, letters, words that no other text has, and the commonest words,
one by one (``easeml.lifecycle.monitoring.columns``). Beside it, a classifier two-sample test
(Lopez-Paz and Oquab, ICLR 2017): logistic regression on TF-IDF of words tells old from new rows, by
two folds, more often than by chance.
"""

import csv
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.monitoring.drift import covariate_test
from easeml.lifecycle.monitoring.features import Encoder

SETS = {  # file, text, class, the class that comes anew
    "BBC news": ("bbc_news/bbc-text.csv", "text", "category", "Sports"),
    "SMS": ("sms_spam/sms_spam.csv", "text", "label", "spam"),
    "clothing reviews": (
        "clothing_reviews/reviews.csv",
        "Review Text",
        "Department Name",
        "Dresses",
    ),
    "YouTube": ("youtube_spam/Youtube01-Psy.csv", "CONTENT", "CLASS", "1"),
}
SHARES = (0.0, 0.1, 0.2, 0.5)
LEVEL = 0.05
HEAD = ["texts", "share that is new", "easeml", "classifier", "easeml ms", "classifier ms"]


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return texts, and which are of the class that comes anew."""
    file, text, label, anew = SETS[name]
    with (folder / file).open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row[text].strip() and row[label]]
    texts = np.array([row[text] for row in rows], dtype=object)
    return texts, np.array([row[label] == anew for row in rows])


def by_easeml(old: np.ndarray, new: np.ndarray) -> bool:
    frame = pd.DataFrame({"text": old})
    encoder = Encoder.learn(frame)
    reference = encoder.encode(frame, are_reference=True)
    names = encoder.columns[0].features
    return covariate_test(
        reference, encoder.encode(pd.DataFrame({"text": new})), names, LEVEL
    ).alarm


def by_classifier(old: np.ndarray, new: np.ndarray) -> bool:
    texts = np.concatenate([old, new])
    are_new = np.arange(len(texts)) >= len(old)
    model: Any = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0))
    told = cross_val_predict(model, texts, are_new, cv=2)
    right = int((told == are_new).sum())
    return binomtest(right, len(texts), 0.5, alternative="greater").pvalue <= LEVEL


def drawn(
    texts: np.ndarray, are_anew: np.ndarray, rows: int, share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return old rows, and new ones of which a share is of the class that comes anew."""
    random = np.random.default_rng(seed)
    usual = random.permutation(np.flatnonzero(~are_anew))
    anew = random.permutation(np.flatnonzero(are_anew))[: round(share * rows)]
    rest = usual[rows : 2 * rows - len(anew)]
    return texts[usual[:rows]], texts[np.concatenate([rest, anew])]


def main() -> None:
    """Print and write how often each test says that texts have moved."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--rows", type=int, default=300, help="old rows, and new ones")
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    options = read_options(parser, rows=60, draws=2, sets=["YouTube"])
    print(machine_line("scikit-learn", "scipy"))
    print(*HEAD, sep=" | ")
    lines = []
    for name in options.sets:
        texts, are_anew = read(options.data, name)
        rows = min(options.rows, int((~are_anew).sum()) // 2, 2 * int(are_anew.sum()))
        for share in SHARES:
            pairs = [drawn(texts, are_anew, rows, share, seed) for seed in range(options.draws)]
            line: list[Any] = [f"{name}, {rows}", share]
            took = []
            for test in (by_easeml, by_classifier):
                begun = process_time()
                line.append(round(float(np.mean([test(*pair) for pair in pairs])), 3))
                took.append(round(1000 * (process_time() - begun) / len(pairs), 1))
            lines.append([*line, *took])
            print(*lines[-1], sep=" | ", flush=True)
    write_table(options.out / "alarms.csv", HEAD, lines)


if __name__ == "__main__":
    main()
