"""What ``relation.suggest()`` tells of cleaning and labelling, beside what came.

Tables with known truth lose labels and cells. Somebody who knows the truth does what is suggested:
labels 20 rows of the pool, or fills the doubtful cells of 20 train rows. Told and realised gains
are both of accuracy on validation rows. Each table is also told with the experience of the other
tables (``lifecycle.journey.experience``), which is how a service corrects what it tells.

    python benchmarks/adviser.py
    python benchmarks/adviser.py --short
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.journey import Estimate, Outcome, experiences
from easeml.lineage.advice import clean, label_next, plan_cleaning
from easeml.lineage.gains import KnownRows, cleaning_gain, labelling_gain
from easeml.relation import Relation

TABLES = {  # file and target
    "abalone": ("abalone/abalone.csv", "Sex"),
    "banknotes": ("more_tables/banknote_authentication.csv", None),
    "diabetes": ("pima_diabetes/pima_diabetes.csv", None),
    "german credit": ("german_credit/german_credit.csv", None),
    "heart": ("heart_disease/heart_disease.csv", None),
    "ionosphere": ("ionosphere/ionosphere.csv", None),
    "phoneme": ("more_tables/phoneme.csv", None),
    "sonar": ("sonar/sonar.csv", None),
    "vehicle": ("more_tables/Vehicle.csv", None),
    "vowel": ("more_tables/Vowel.csv", None),
}
TRAIN, AT_ONCE = 60, 20
MOST = 500  # rows of a table
HOLES = 0.15  # of the cells of train rows


def table(data: Path, name: str, seed: int) -> pd.DataFrame:
    """Return some rows of a table, with a column ``target`` of classes."""
    file, target = TABLES[name]
    frame = pd.read_csv(data / file).dropna()
    frame = frame.rename(columns={target or frame.columns[-1]: "target"})
    frame["target"] = frame["target"].astype(str)
    return frame.sample(min(MOST, len(frame)), random_state=seed).reset_index(drop=True)


def roles_of(frame: pd.DataFrame) -> list[str]:
    """Return roles: some rows have labels to learn from, half are to validate, others wait."""
    validation = len(frame) // 2
    pool = len(frame) - validation - TRAIN
    return ["train"] * TRAIN + ["pool"] * pool + ["validation"] * validation


def with_roles(frame: pd.DataFrame) -> Relation:
    """Return a relation of a table."""
    return Relation.from_frame(frame, "target", roles_of(frame))


def labelled(truth: pd.DataFrame, seed: int) -> Outcome:
    """Return what 20 labels were to bring, and what they did."""
    frame = truth.copy()
    frame.loc[TRAIN : len(frame) - len(frame) // 2 - 1, "target"] = None
    relation = with_roles(frame)
    told = labelling_gain(relation, AT_ONCE, seed)
    rows = list(label_next(relation, AT_ONCE).answer["row_ids"])
    frame.loc[rows, "target"] = truth.loc[rows, "target"]
    roles = roles_of(frame)
    for row in rows:
        roles[row] = "train"
    after = Relation.from_frame(frame, "target", roles)
    return Outcome("label", told, _quality(after) - _quality(relation))


def cleaned(truth: pd.DataFrame, seed: int) -> Outcome:
    """Return what filling the cells of 20 rows was to bring, and what it did."""
    rng = np.random.default_rng(seed)
    frame = truth.astype(dict.fromkeys(truth.select_dtypes("number"), float))
    columns = [name for name in frame.columns if name != "target"]
    for column in columns:
        holes = np.flatnonzero(rng.random(TRAIN) < HOLES)
        frame.loc[holes, column] = None
    relation = clean(with_roles(frame))
    planned = plan_cleaning(relation, AT_ONCE).answer["planned"]
    rows = [one["row_id"] for one in planned]
    doubtful = np.flatnonzero(frame.iloc[:TRAIN].isna().any(axis=1))
    told = cleaning_gain(relation, min(1.0, len(rows) / len(doubtful)), seed)
    frame.loc[rows] = truth.loc[rows]
    after = clean(with_roles(frame))
    return Outcome("clean", told, _quality(after) - _quality(relation))


def _quality(relation: Relation) -> float:
    rows = KnownRows(relation)
    return rows.quality(rows.now)


def summary(kind: str, way: str, pairs: Sequence[tuple[Estimate, float]]) -> list:
    """Return how what was told compares with what came."""
    told = np.array([[one.value, one.low, one.high] for one, _ in pairs])
    came = np.array([each for _, each in pairs])
    inside = (told[:, 1] - 1e-9 <= came) & (came <= told[:, 2] + 1e-9)
    row = [
        told[:, 0].mean(),
        came.mean(),
        np.abs(told[:, 0] - came).mean(),
        inside.mean(),
        (told[:, 2] - told[:, 1]).mean(),
    ]
    return [kind, way, len(pairs), *np.round(row, 4)]


def calibration(found: dict[str, list[Outcome]]) -> Iterable[list]:
    """Yield a line for each kind and way: as told, and with the experience of other tables."""
    for kind in ("label", "clean"):
        plain, learnt = [], []
        for name, outcomes in found.items():
            others = [one for other, some in found.items() if other != name for one in some]
            known = experiences(others)
            for one in outcomes:
                if one.kind == kind:
                    plain.append((one.reckoned, one.came))
                    learnt.append((known[kind].corrected(one.reckoned), one.came))
        yield summary(kind, "as told", plain)
        yield summary(kind, "corrected", learnt)
    everything = [one for some in found.values() for one in some]
    for kind, known in experiences(everything).items():
        print(f"{kind}: factor {known.factor:.3f}, margin {known.margin:.4f}")


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--tables", type=int, default=len(TABLES))
    options = read_options(parser, seeds=1, tables=2)
    print(machine_line("scikit-learn", "pandas"))
    found: dict[str, list[Outcome]] = {}
    for name in list(TABLES)[: options.tables]:
        for seed in range(options.seeds):
            truth = table(options.data, name, seed)
            found.setdefault(name, []).extend([labelled(truth, seed), cleaned(truth, seed)])
        told = [(one.kind, round(one.reckoned.value, 3), round(one.came, 3)) for one in found[name]]
        print(name, told, flush=True)
    header = ["kind", "way", "times", "told", "came", "mean error", "share inside", "mean width"]
    write_table(options.out / "calibration.csv", header, calibration(found))
    print((options.out / "calibration.csv").read_text())


if __name__ == "__main__":
    main()
