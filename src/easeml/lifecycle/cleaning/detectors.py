"""Ways to find wrong cells in a table of text. Each takes a table and returns findings as a frame.

``text`` is a frame of stripped strings with a row index 0..N-1; ``missing`` a frame of bool of the
same shape. A finding has ``row``, ``column``, ``reason``, ``suggestion`` ("" where there is none)
and ``confidence`` in (0, 1]: a rule of thumb that ranks findings and weighs candidates, not a
measured probability.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.cleaning.rough_matrix import numbers_of, quick_matrix
from easeml.lifecycle.cleaning.rules import Rule, find_rules, violations

FIELDS = ["row", "column", "reason", "suggestion", "confidence"]
PLACEHOLDERS = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", "#n/a", "<na>", "missing"}
)
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?"
_WITH_UNIT = re.compile(rf"^\s*({_NUMBER})\s*([^\d\s.,:/+-][^\d]*)?$")
_MOST = 3000  # distinct values of a column beyond which misspellings are not looked for


def find_missing(text: Frame, missing: Frame) -> Frame:
    """Find empty cells and words that stand for nothing, as N/A, in columns that have values
    elsewhere.
    """
    parts = []
    for column in text:
        gone = missing[column].to_numpy()
        if gone.any() and not gone.all():
            rows = np.flatnonzero(gone)
            written = text[column].to_numpy()[rows]
            reasons = [
                f"{value!r} stands for no value" if value else "no value" for value in written
            ]
            parts.append(_found(rows, column, reasons, "", 1.0))
    return _joined(parts)


def find_format(text: Frame, missing: Frame) -> Frame:
    """Find values written unlike the rest of their column: units beside numbers, letters among
    digits, rare shapes.

    A column of which 80% start with a number and have at most a unit is one of numbers; values with
    a unit are found there unless at least 80% have the same. In other columns the shape of a value
    (runs of digits, of letters, and signs) is rare if it has under 2% of the rows while shapes of
    at least 5% have 90%.
    """
    parts = []
    for column in text:
        rows = np.flatnonzero(~missing[column].to_numpy())
        if len(rows) < 10:
            continue
        values = text[column].to_numpy()[rows]
        matches = [_WITH_UNIT.match(value) for value in values]
        if measures(values):
            parts.append(_unlike_numbers(rows, column, values, matches))
        else:
            parts.append(_rare_shapes(rows, column, values))
    return _joined(parts)


def find_outliers(text: Frame, missing: Frame, *, threshold: float = 6.0) -> Frame:
    """Find numbers far from the rest of their column: robust z-scores (median and MAD) above
    ``threshold``, by PyOD.

    Columns of less than 90% numbers, with under 20 numbers or ten different ones, or of codes are
    left out; columns whose values are all positive and spread over more than two decades are looked
    at as logarithms.
    """
    from pyod.models.mad import MAD

    parts = []
    for column in text:
        rows, numbers = numbers_of(text[column], missing[column])
        if (
            len(np.unique(numbers)) < 10
            or len(numbers) < 20
            or len(numbers) < 0.9 * (~missing[column]).sum()
        ):
            continue
        if _are_codes(numbers):
            continue
        if numbers.min() > 0 and numbers.max() / numbers.min() > 100:
            numbers = np.log(numbers)
        if np.median(np.abs(numbers - np.median(numbers))) == 0:
            continue  # more than half are equal: the spread is not known
        scores = MAD(threshold=threshold).fit(numbers.reshape(-1, 1)).decision_scores_
        far = np.flatnonzero(scores > threshold)
        reasons = [f"{score:.1f} robust deviations from the median" for score in scores[far]]
        parts.append(_found(rows[far], column, reasons, "", 1.0 - threshold / (2.0 * scores[far])))
    return _joined(parts)


def find_violations(text: Frame, missing: Frame, rules: Sequence[Rule]) -> Frame:
    """Find cells that break rules: see ``rules.violations``."""
    parts = []
    for rule in rules:
        broken = violations(text, rule, missing)
        wanted = [f"; most rows have {value!r}" if value else "" for value in broken["suggestion"]]
        reasons = [f"breaks {rule}{more}" for more in wanted]
        parts.append(
            _found(broken["row"], rule.then, reasons, broken["suggestion"], broken["confidence"])
        )
    return _joined(parts)


def find_dependencies(text: Frame, missing: Frame) -> Frame:
    """Find cells that break rules which the table itself suggests (``rules.find_rules``).

    Such rules may be wrong, so a cell is found only if most of the rules about it say so, and only
    if its value is rare in its group: a value that a fifth of the group has is another truth, not a
    slip.
    """
    import pandas as pd

    codes = np.stack([np.where(missing[c], -1, pd.factorize(text[c])[0]) for c in text], axis=1)
    place = {name: i for i, name in enumerate(text)}
    parts, opinions = [], np.zeros(codes.shape, np.int64)
    for rule in find_rules(codes, list(text)):
        given, then = codes[:, place[rule.given[0]]], codes[:, place[rule.then]]
        shared = np.flatnonzero((given >= 0) & (then >= 0))
        size = np.bincount(given[shared])
        asked = shared[size[given[shared]] >= 3]
        opinions[asked, place[rule.then]] += 1
        pairs = given[asked] * (then.max() + 1) + then[asked]
        _, inverse, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        share = pd.Series(counts[inverse] / size[given[asked]], index=asked)
        broken = find_violations(text, missing, [rule])
        parts.append(broken[broken["row"].map(share).fillna(1.0).to_numpy() <= 0.2])
    found = _joined(parts)
    if not len(found):
        return found
    votes = found.groupby(["row", "column"])["row"].transform("size").to_numpy()
    asked_of = opinions[
        found["row"].to_numpy(np.int64), found["column"].map(place).to_numpy(np.int64)
    ]
    return found[2 * votes > asked_of].reset_index(drop=True)


def find_misspellings(text: Frame, missing: Frame) -> Frame:
    """Find rare values that are a few letters away from one at least five times as frequent in the
    same column.

    Up to one letter in eight may differ, at least one; values of two letters and less are left out,
    and numbers.
    """
    from easeml.lifecycle.cleaning.edit_distance import edit_distance

    parts = []
    for column in text:
        values = text[column][~missing[column]]
        counts = values.value_counts()
        if len(counts) > _MOST or len(counts) < 2 or counts.iloc[0] < 5:
            continue
        words = [word for word in counts.index if len(word) > 2 and not re.fullmatch(_NUMBER, word)]
        codes = {
            word: np.array([ord(letter) for letter in word.lower()], np.int64) for word in words
        }
        frequent = [word for word in words if counts[word] >= 5]
        fixes: dict[str, tuple[str, int]] = {}
        for word in words:
            for model in frequent:
                if counts[model] < 5 * counts[word]:
                    break
                limit = max(1, max(len(word), len(model)) // 8)
                if word in fixes:
                    limit = fixes[word][1] - 1
                distance = int(edit_distance(codes[word], codes[model], limit)) if limit > 0 else 1
                if distance <= limit and _same_digits(word, model):
                    fixes[word] = (model, distance)
        wrong = values[values.isin(list(fixes))]
        models = [fixes[value][0] for value in wrong]
        share = [
            1.0 - counts[value] / counts[model] for value, model in zip(wrong, models, strict=True)
        ]
        reasons = [
            f"looks like {model!r}, which is {counts[model]} times there" for model in models
        ]
        parts.append(_found(wrong.index, column, reasons, models, share))
    return _joined(parts)


def find_duplicates(text: Frame, missing: Frame) -> Frame:
    """Find rows that repeat an earlier one, but for case, spacing, and columns that only number the
    rows.

    The findings have no column: the whole row is meant; ``suggestion`` is empty.
    """
    plain = text.apply(lambda column: column.str.lower().str.replace(r"\s+", " ", regex=True))
    keep = [c for c in plain if not _is_numbering(plain[c], missing[c])]
    if not keep or len(text) < 2:
        return _joined([])
    plain = plain[keep]
    again = plain.duplicated(keep="first") & ~missing[keep].all(axis=1)
    first = plain.reset_index().groupby(keep, sort=False)["index"].transform("min").to_numpy()
    rows = np.flatnonzero(again)
    return _joined([_found(rows, "", [f"repeats row {first[row]}" for row in rows], "", 1.0)])


def find_wrong_labels(text: Frame, missing: Frame, target: str, *, seed: int = 0) -> Frame:
    """Find labels that cross-validated predictions contradict: confident learning (Northcutt et
    al., JAIR 2021), by cleanlab, on a random forest. Classes with under five rows are left alone;
    fewer than two classes: nothing."""
    from cleanlab.filter import find_label_issues
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    labels = text[target].to_numpy()
    counts = text.loc[~missing[target], target].value_counts()
    kept = np.flatnonzero(
        ~missing[target].to_numpy() & np.isin(labels, counts.index[counts >= 5].to_numpy())
    )
    classes, codes = np.unique(labels[kept].astype(str), return_inverse=True)
    if len(classes) < 2 or len(classes) > 100:
        return _joined([])
    X = quick_matrix(text.drop(columns=target), missing.drop(columns=target))[kept]
    forest = RandomForestClassifier(100, min_samples_leaf=2, random_state=seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    shares = np.asarray(cross_val_predict(forest, X, codes, cv=folds, method="predict_proba"))
    wrong = np.flatnonzero(find_label_issues(codes, shares, n_jobs=1))
    best = shares[wrong].argmax(axis=1)
    margin = np.clip(shares[wrong].max(axis=1), 0.0, 1.0)
    reasons = [f"predicted as {classes[b]!r} from the other columns" for b in best]
    return _joined([_found(kept[wrong], target, reasons, [str(classes[b]) for b in best], margin)])


def mark_missing(text: Frame) -> Frame:
    """Return a frame of bool: empty cells and placeholders, in any case."""
    return text.apply(lambda column: column.str.lower().isin(PLACEHOLDERS))


def measures(values: np.ndarray) -> bool:
    """Tell whether at least 80% of values are numbers, with or without a unit."""
    return bool(np.mean([_WITH_UNIT.match(value) is not None for value in values]) >= 0.8)


def _unlike_numbers(
    rows: np.ndarray, column: str, values: np.ndarray, matches: Sequence[re.Match[str] | None]
) -> Frame:
    """Values of a column of numbers whose unit is not the usual one; with no usual unit, all that
    have a unit.
    """
    units = ["?" if match is None else (match[2] or "").strip() for match in matches]
    counts = Counter(units)
    usual, most = max(counts.items(), key=lambda item: item[1])
    if usual == "?" or most < 0.8 * (len(units) - counts["?"]):
        usual = ""
    repeated = Counter(values.tolist())
    parts: list[tuple[int, str, str]] = []
    for row, value, match, unit in zip(rows.tolist(), values, matches, units, strict=True):
        if unit == usual or (match is None and repeated[value] >= 0.02 * len(values)):
            continue  # a word that is there again and again means something
        reason = (
            f"{value!r} is no number" if match is None else f"{unit or 'no unit'} beside the number"
        )
        parts.append((row, reason, f"{_plain(match[1])} {usual}".strip() if match else ""))
    found = [list(field) for field in zip(*parts, strict=True)] or [[], [], []]
    return _found(found[0], column, found[1], found[2], 0.95)


def _is_numbering(text: Column, missing: Column) -> bool:
    """Tell whether a column counts its rows: whole numbers, all different, with at most as many
    left out.
    """
    rows, numbers = numbers_of(text, missing)
    if len(rows) < len(text) or (numbers != np.floor(numbers)).any():
        return False
    return len(np.unique(numbers)) == len(numbers) and bool(np.ptp(numbers) < 2 * len(numbers))


def _are_codes(numbers: np.ndarray) -> bool:
    """Tell whether numbers only name things: whole, and all different or all of the same four
    digits and more.
    """
    if (numbers != np.floor(numbers)).any():
        return False
    digits = np.floor(np.log10(np.maximum(np.abs(numbers), 1.0)))
    return len(np.unique(numbers)) == len(numbers) or bool(
        (digits == digits[0]).all() and digits[0] >= 3
    )


def _plain(number: str) -> str:
    """Write a number shortly: 12.0 is 12, and 0.055999999999999994 is 0.056."""
    return f"{float(number):.12g}"


def _rare_shapes(rows: np.ndarray, column: str, values: np.ndarray) -> Frame:
    import pandas as pd

    shapes = pd.Series([_shape(value) for value in values])
    share = shapes.value_counts(normalize=True)
    if share[share >= 0.05].sum() < 0.9:
        return _found(rows[:0], column, [], "", 1.0)
    rarity = shapes.map(share).to_numpy()
    rare = rarity < 0.02
    usual = str(share.index[0])
    if usual == "a":  # plain words: free text has no shape
        return _found(rows[:0], column, [], "", 1.0)
    reasons = [f"written as {shape}, usual is {usual}" for shape in shapes[rare]]
    return _found(rows[rare], column, reasons, "", 1.0 - rarity[rare] * 10)


def _shape(value: str) -> str:
    """Return 'a' for runs of letters and words, '9' for runs of digits, and all other signs as they
    are.
    """
    shape = re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", value))
    return re.sub(r"a(?:[ '.&-]+a)+", "a", shape)


def _same_digits(left: str, right: str) -> bool:
    """Tell whether two values hold the same digits, or letters in their place: numbers in names
    differ on purpose.
    """
    a, b = re.sub(r"\D", "", left), re.sub(r"\D", "", right)
    return a == b or (len(a) != len(b) and len(left) == len(right))


def _found(
    rows: object, column: str, reasons: object, suggestions: object, confidence: object
) -> Frame:
    import pandas as pd

    found = pd.DataFrame({"row": np.asarray(rows, dtype=np.int64)})
    for name, value in zip(FIELDS[1:], (column, reasons, suggestions, confidence), strict=True):
        found[name] = np.asarray(value) if not isinstance(value, str | float) else value
    return found


def _joined(parts: Sequence[Frame]) -> Frame:
    import pandas as pd

    filled = [part for part in parts if len(part)]
    if filled:
        return pd.concat(filled, ignore_index=True)
    return pd.DataFrame(
        {name: pd.Series(dtype="float64" if name == "confidence" else "object") for name in FIELDS}
    )
