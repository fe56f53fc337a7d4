"""Does ``relation.clean`` help a model, and do its weights mean anything?

Known tables lose 15 % of their cells, and 2 % get gross errors.
For each table and seed, a random forest learns from the dirty train rows with holes filled by
mean or majority, and from the likeliest world of ``clean``; both are judged on the same clean test
rows. A difference is significant where the interval at 95 % of the paired differences over seeds
(Student t) leaves out 0. Calibration: of candidates with weights in a range, how many are the
truth; for numbers, the truth is the nearest candidate of its cell.

    python benchmarks/dirty_tables.py
    python benchmarks/dirty_tables.py --short
"""

import numpy as np
import pandas as pd
from scipy.stats import t
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.preprocessing import OrdinalEncoder

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.doubts import clean
from easeml.relation import Relation

BINS = (0.0, 0.05, 0.2, 0.5, 0.8, 1.0)


def tables(folder, most: int) -> dict[str, tuple[pd.DataFrame, str]]:
    """Return known tables with their targets, of at most so many rows."""
    found = {}
    loaders = {
        "iris": load_iris,
        "wine": load_wine,
        "breast cancer": load_breast_cancer,
        "diabetes": load_diabetes,
    }
    for name, load in loaders.items():
        found[name] = (load(as_frame=True).frame, "target")
    files = {
        "abalone": ("abalone/abalone.csv", "Rings"),
        "auto mpg": ("auto_mpg/auto_mpg.csv", "mpg"),
        "pima": ("pima_diabetes/pima_diabetes.csv", "class"),
        "wine quality": ("wine_quality_red/wine_quality_red.csv", "quality"),
    }
    for name, (path, target) in files.items():
        if (folder / path).exists():
            frame = pd.read_csv(folder / path, sep=None, engine="python")
            if target in frame:
                found[name] = (frame.dropna(subset=[target]), target)
    small = {}
    for name, (frame, target) in found.items():
        some = frame.sample(min(most, len(frame)), random_state=0).reset_index(drop=True)
        small[name] = (some, target)
    return small


def spoilt(frame: pd.DataFrame, target: str, seed: int) -> pd.DataFrame:
    """Return the table with holes in 15 % of its cells and gross errors in 2 % of its numbers."""
    rng = np.random.default_rng(seed)
    dirty = frame.copy()
    for name in frame.columns.drop(target):
        if pd.api.types.is_numeric_dtype(frame[name]):
            dirty[name] = dirty[name].astype(float)
            wrong = rng.random(len(frame)) < 0.02
            dirty.loc[wrong, name] = dirty.loc[wrong, name] * 10 + 10 * dirty[name].std()
        dirty.loc[rng.random(len(frame)) < 0.15, name] = np.nan
    return dirty


def filled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with means and commonest values in its holes."""
    result = frame.copy()
    for name in frame:
        numeric = pd.api.types.is_numeric_dtype(frame[name])
        usual = frame[name].mean() if numeric else frame[name].mode().iloc[0]
        result[name] = frame[name].fillna(usual)
    return result


def score(train: pd.DataFrame, test: pd.DataFrame, target: str) -> float:
    """Return accuracy or R2 of a forest on the test rows."""
    X, X_test = train.drop(columns=target), test.drop(columns=target)
    texts = list(X.select_dtypes(exclude="number"))
    if texts:
        coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        X, X_test = X.copy(), X_test.copy()
        X[texts] = coder.fit_transform(X[texts].astype(str))
        X_test[texts] = coder.transform(X_test[texts].astype(str))
    numeric = train[target].nunique() > 20
    kind = RandomForestRegressor if numeric else RandomForestClassifier
    return kind(100, random_state=0).fit(X, train[target]).score(X_test, test[target])


def hits(cleaned: Relation, truth: pd.DataFrame) -> list[tuple[float, bool]]:
    """Return each candidate's weight, and whether it is the truth or the nearest to it."""
    found = []
    candidates = cleaned.candidates()
    for (row, column), group in candidates.groupby(["row", "column"]):
        true = truth.at[row, column]
        if isinstance(true, str):
            right = group["value"] == true
        elif pd.isna(true):
            continue
        else:
            right = pd.Series(False, index=group.index)
            right[(group["value"].astype(float) - true).abs().idxmin()] = True
        found += list(zip(group["weight"], right, strict=True))
    return found


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--most", type=int, default=500, help="rows of a table at most")
    options = read_options(parser, seeds=2, most=80)
    chosen = tables(options.data, options.most)
    if options.short:
        chosen = {"iris": chosen["iris"]}
    rows, weights = [], []
    for name, (frame, target) in chosen.items():
        plain, ours = [], []
        for seed in range(options.seeds):
            order = np.random.default_rng(seed).permutation(len(frame))
            train = frame.iloc[order[: 2 * len(frame) // 3]]
            test = filled(frame.iloc[order[2 * len(frame) // 3 :]])
            dirty = spoilt(train, target, seed)
            cleaned = clean(Relation.from_frame(dirty, target=target), seed=seed)
            plain.append(score(filled(dirty), test, target))
            ours.append(score(filled(cleaned.to_frame()), test, target))
            weights += hits(cleaned, train)
        gains = np.array(ours) - plain
        half = t.ppf(0.975, len(gains) - 1) * gains.std(ddof=1) / np.sqrt(len(gains))
        rows.append((name, np.mean(plain), np.mean(ours), gains.mean(), half))
    print(machine_line("scikit-learn", "pandas"))
    print(f"{options.seeds} seeds, at most {options.most} rows")
    for name, before, after, gain, half in rows:
        print(f"{name:<16} mean/mode {before:.4f}  clean {after:.4f}  {gain:+.4f} +- {half:.4f}")
    write_table(options.out / "tables.csv", ["table", "mean", "clean", "gain", "half"], rows)
    table = pd.DataFrame(weights, columns=["weight", "right"])
    bins = pd.cut(table["weight"], BINS)
    means = table.groupby(bins, observed=True).agg(
        weight=("weight", "mean"), right=("right", "mean"), candidates=("right", "size")
    )
    print(means.round(3).to_string())
    means.to_csv(options.out / "weights.csv")


if __name__ == "__main__":
    main()
