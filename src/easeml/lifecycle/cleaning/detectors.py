"""Ways to find wrong cells in a table of text. Each takes a table and returns findings as a frame.

``text`` is a frame of stripped strings with a row index 0..N-1; ``missing`` a frame of bool of the
same shape. A finding has ``row``, ``column``, ``reason``, ``suggestion`` ("" where there is none)
and ``confidence`` in (0, 1]: a rule of thumb that ranks findings and weighs candidates, not a
measured probability.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter

import numpy as np

from easeml.data.types.values import SHEET_ERRORS
from easeml.lifecycle.cleaning.findings import NUMBER, findings, joined
from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.cleaning.rough_matrix import RoughColumns, numbers_of
from easeml.lifecycle.cleaning.rules import Rule, find_rules, violations

PLACEHOLDERS = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", "<na>", "missing"}
    | SHEET_ERRORS
)
_NONE = "none"  # of the placeholders: see ``mark_missing``
_FEW, _MANY = 0.05, 0.2  # of a column's numbers: many far ones are no outliers, few always are
_GAP = 0.25  # of the threshold: what lies between outliers and the rest
_A_CATEGORY = 20  # rows that each value of a column of categories has, on average
_SLIPS = 3  # times that one wrong value may stand in a group, or 1% of its rows
_NEARLY = 0.01  # of a standard deviation
_MOSTLY_SLIPS = 0.5  # of the rows that break a rule: with fewer slips it is no rule
_WITH_UNIT = re.compile(rf"^\s*({NUMBER})\s*([^\d\s.,:/+-][^\d]*)?$")


def find_missing(text: Frame, missing: Frame) -> Frame:
    """Find empty cells, and words that stand for nothing, as N/A.

    A column without any value is left out: it is empty on purpose.
    """
    return of_columns(_missing_cells, text, missing)


def of_columns(find: Callable[[Column, Column], Frame], text: Frame, missing: Frame) -> Frame:
    """Return what ``find`` finds in each column, by its texts and where it has no value."""
    return joined([find(text[name], missing[name]) for name in text])


def _missing_cells(text: Column, missing: Column) -> Frame:
    rows = np.flatnonzero(missing)
    if len(rows) == len(text):
        return joined([])
    reasons = list(map(_why_missing, text.to_numpy()[rows]))
    return findings(rows, str(text.name), reasons, "", 1.0)


def _why_missing(written: str) -> str:
    if not written:
        return "no value"
    return f"{written!r} stands for no value"


def find_format(text: Frame, missing: Frame) -> Frame:
    """Find values written unlike the rest of their column: odd units, letters in numbers, rare shapes.

    A column of which 80% start with a number and have at most a unit is one of numbers; values with
    a unit are found there unless at least 80% have the same, or the units tell categories apart. In
    other columns whose usual value holds a digit, the shape of a value (runs of digits, of letters,
    and signs) is rare if it has under 2% of the rows while shapes of at least 5% have 90%.
    """
    return of_columns(_unlike_the_rest, text, missing)


def _unlike_the_rest(text: Column, missing: Column) -> Frame:
    rows = np.flatnonzero(~missing)
    if len(rows) < 10:
        return joined([])
    values = text.to_numpy()[rows]
    unlike = _unlike_numbers if measures(values) else _rare_shapes
    return unlike(rows, str(text.name), values)


def find_outliers(text: Frame, missing: Frame, *, threshold: float = 6.0) -> Frame:
    """Find numbers far from the rest of their column: robust z-scores above ``threshold``.

    By median and MAD, of PyOD. A far number that others lead up to, without a gap of a quarter of
    the threshold, is the end of a tail or of a scale, and no outlier. Columns of less than 90%
    numbers, with under 20 numbers or ten different ones, of codes, or with too many far numbers are
    left out: over 20% (two usual values), or over 5% and no gap before them (a long tail). Columns
    whose values are all positive and spread over more than two decades are looked at as logarithms.
    """
    return of_columns(partial(_far_numbers, threshold=threshold), text, missing)


def _far_numbers(text: Column, missing: Column, threshold: float) -> Frame:
    from pyod.models.mad import MAD

    rows, numbers = numbers_of(text, missing)
    if not _is_measured(numbers, values=int((~missing).sum())):
        return joined([])
    if numbers.min() > 0 and numbers.max() / numbers.min() > 100:
        numbers = np.log(numbers)
    if np.median(np.abs(numbers - np.median(numbers))) == 0:
        return joined([])  # more than half are equal: the spread is not known
    scores = MAD(threshold=threshold).fit(numbers.reshape(-1, 1)).decision_scores_
    far = np.flatnonzero(scores > threshold)
    if _are_usual(numbers, far):
        return joined([])
    far = far[_are_apart(numbers, scores, far, gap=_GAP * threshold)]
    reasons = list(map("{:.1f} robust deviations from the median".format, scores[far]))
    confidence = 1.0 - threshold / (2.0 * scores[far])
    return findings(rows[far], str(text.name), reasons, "", confidence)


def _are_usual(numbers: np.ndarray, far: np.ndarray) -> bool:
    """Tell whether so many ``numbers`` are ``far`` (their places) that they are usual, too."""
    share = len(far) / len(numbers)
    if share <= _FEW:
        return False
    if share > _MANY:
        return True
    near = np.delete(numbers, far)
    below, above = near.min() - numbers[far], numbers[far] - near.max()
    gap = np.maximum(below, above).min()
    return bool(gap <= np.ptp(near))


def _are_apart(numbers: np.ndarray, scores: np.ndarray, far: np.ndarray, gap: float) -> np.ndarray:
    """Return which ``far`` numbers (their places) lie behind a gap, seen from the middle.

    ``scores``: robust deviations from the median, as ``gap`` is one between neighbours.
    """
    apart = np.zeros(len(numbers), bool)
    middle = np.median(numbers)
    for side in (numbers >= middle, numbers <= middle):
        places = np.flatnonzero(side)
        outwards = places[np.argsort(scores[places], kind="stable")]
        steps = np.diff(scores[outwards], prepend=0.0)
        is_gap = (steps >= gap) & np.isin(outwards, far)
        apart[outwards] |= np.logical_or.accumulate(is_gap)
    return apart[far]


def _is_measured(numbers: np.ndarray, values: int) -> bool:
    """Tell whether the ``numbers`` among so many values measure something, and are many enough."""
    if len(numbers) < 20 or len(numbers) < 0.9 * values:
        return False
    return len(np.unique(numbers)) >= 10 and not _are_codes(numbers)


def find_violations(text: Frame, missing: Frame, rules: Sequence[Rule]) -> Frame:
    """Find cells that break rules: see ``rules.violations``."""
    parts = []
    for rule in rules:
        broken = violations(text, rule, missing)
        usual = broken["suggestion"]
        known = usual.map("; most rows have {!r}".format).where(usual != "", "")
        reasons = f"breaks {rule}" + known
        parts.append(findings(broken["row"], rule.then, reasons, usual, broken["confidence"]))
    return joined(parts)


def find_dependencies(text: Frame, missing: Frame) -> Frame:
    """Find cells that break rules which the table itself suggests (``rules.find_rules``).

    Such rules may be wrong, so a cell is found only if most of the rules about it say so, and only
    if its value is rare in its group: a value that a fifth of the group has, or that is there again
    and again (over three times and 1%), is another truth, not a slip. Where less than half of what
    breaks a rule are slips, the two columns only go together, and the rule says nothing. A measured
    number that is nearly the usual one is no slip either.
    """
    import pandas as pd

    place = {name: number for number, name in enumerate(text)}
    codes = np.full(text.shape, -1, np.int64)
    for name, number in place.items():
        known = ~missing[name].to_numpy()
        codes[known, number] = pd.factorize(text[name])[0][known]

    parts = []
    opinions = np.zeros(codes.shape, np.int64)
    for rule in find_rules(codes, list(text)):
        given, then = codes[:, place[rule.given[0]]], codes[:, place[rule.then]]
        is_slip = _slips(given, then)
        if not _is_broken_by_slips(given, then, is_slip):
            continue
        opinions[is_slip.index, place[rule.then]] += 1
        broken = find_violations(text, missing, [rule])
        slips = is_slip.index[is_slip]
        broken = broken[broken["row"].isin(slips)]
        parts.append(broken[~_are_nearly(text[rule.then], broken)])

    found = joined(parts)
    if not len(found):
        return found
    votes = found.groupby(["row", "column"])["row"].transform("size").to_numpy()
    rows = found["row"].to_numpy(np.int64)
    columns = found["column"].map(place).to_numpy(np.int64)
    return found[2 * votes > opinions[rows, columns]].reset_index(drop=True)


def _are_nearly(column: Column, broken: Frame) -> Column:
    """Tell of which rows the number nearly is the one that is suggested, by row of ``broken``.

    The two differ by less than ``_NEARLY`` standard deviations of the column. Whole numbers may be
    codes, where any digit counts.
    """
    import pandas as pd

    written = column.iloc[broken["row"]].set_axis(broken.index)
    gap = (_fractions(written) - _fractions(broken["suggestion"])).abs()
    numbers: Column = pd.to_numeric(column, errors="coerce")
    return gap < _NEARLY * float(numbers.std())


def _fractions(texts: Column) -> Column:
    """Return the numbers with a decimal point; all else is NaN."""
    import pandas as pd

    numbers: Column = pd.to_numeric(texts, errors="coerce")
    return numbers.where(texts.str.contains(".", regex=False))


def _slips(given: np.ndarray, then: np.ndarray) -> Column:
    """Return whether a row's value is so rare in its group that it may be a slip, by row.

    ``given`` (rows,) are the codes of the groups, ``then`` (rows,) those of the values, -1 where
    missing. Groups of fewer than three rows, and rows without either, are left out.
    """
    import pandas as pd

    shared = np.flatnonzero((given >= 0) & (then >= 0))
    size = np.bincount(given[shared])
    rows = shared[size[given[shared]] >= 5]
    pairs = given[rows] * (then.max() + 1) + then[rows]
    _, inverse, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    times, sizes = counts[inverse], size[given[rows]]
    is_rare = (times <= 0.2 * sizes) & (times <= np.maximum(_SLIPS, 0.01 * sizes))
    return pd.Series(is_rare, index=rows)


def _is_broken_by_slips(given: np.ndarray, then: np.ndarray, is_slip: Column) -> bool:
    """Tell whether at least a share ``_MOSTLY_SLIPS`` of the rows that break a rule are slips.

    A row breaks it that has not the commonest value of its group. ``is_slip``: see ``_slips``.
    """
    rows = is_slip.index.to_numpy()
    pairs = given[rows] * (then.max() + 1) + then[rows]
    unique, counts = np.unique(pairs, return_counts=True)
    commonest = np.zeros(given.max() + 1, np.int64)
    np.maximum.at(commonest, unique // (then.max() + 1), counts)
    breaking = len(rows) - int(commonest.sum())
    return int(is_slip.sum()) >= _MOSTLY_SLIPS * breaking


def find_duplicates(text: Frame, missing: Frame) -> Frame:
    """Find rows that repeat an earlier one, but for case and spacing.

    Columns that only number the rows do not count. The findings have no column: the whole row is
    meant; ``suggestion`` is empty.
    """
    plain = text.apply(lambda column: column.str.lower().str.replace(r"\s+", " ", regex=True))
    keep = [name for name in plain if not _is_numbering(plain[name], missing[name])]
    if not keep or len(text) < 2:
        return joined([])
    plain = plain[keep]
    empty = missing[keep].all(axis=1)
    again = plain.duplicated(keep="first") & ~empty
    first = plain.reset_index().groupby(keep, sort=False)["index"].transform("min").to_numpy()
    rows = np.flatnonzero(again)
    reasons = [f"repeats row {first[row]}" for row in rows]
    return joined([findings(rows, "", reasons, "", 1.0)])


def find_wrong_labels(text: Frame, missing: Frame, target: str, *, seed: int = 0) -> Frame:
    """Find labels that cross-validated predictions contradict.

    Confident learning (Northcutt et al., JAIR 2021), by cleanlab, on a random forest. Classes with
    under five rows are left alone; with fewer than two classes, or more than 100, nothing is found.
    """
    from cleanlab.filter import find_label_issues
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    labels = text[target].to_numpy()
    has_label = ~missing[target].to_numpy()
    counts = text.loc[has_label, target].value_counts()
    frequent = counts.index[counts >= 5].to_numpy()
    kept = np.flatnonzero(has_label & np.isin(labels, frequent))
    classes, codes = np.unique(labels[kept].astype(str), return_inverse=True)
    if not 2 <= len(classes) <= 100:
        return joined([])
    X = RoughColumns(text, missing).without(target)[kept]
    forest = RandomForestClassifier(100, min_samples_leaf=2, random_state=seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    shares = np.asarray(cross_val_predict(forest, X, codes, cv=folds, method="predict_proba"))
    wrong = np.flatnonzero(find_label_issues(codes, shares, n_jobs=1))
    predicted = classes[shares[wrong].argmax(axis=1)].tolist()
    margin = np.clip(shares[wrong].max(axis=1), 0.0, 1.0)
    reasons = [f"predicted as {name!r} from the other columns" for name in predicted]
    return joined([findings(kept[wrong], target, reasons, predicted, margin)])


def mark_missing(text: Frame) -> Frame:
    """Return a frame of bool: empty cells and placeholders, in any case.

    Among words "none" is a value, as for a guarantor or a telephone; among numbers and dates it
    stands for no value.
    """
    return text.apply(_are_missing)


def _are_missing(column: Column) -> Column:
    written = column.str.lower()
    missing = written.isin(PLACEHOLDERS)
    is_none = written == _NONE
    if not is_none.any():
        return missing
    others = column[~missing]
    have_digits = others.str.contains(r"\d", regex=True)
    if have_digits.sum() >= 0.5 * len(others):
        return missing
    return missing & ~is_none


def measures(values: np.ndarray) -> bool:
    """Tell whether at least 80% of values are numbers, with or without a unit.

    Numbered names, as in "1. Never married" and "2. Married", are none: each has one number only.
    """
    matches = list(map(_WITH_UNIT.match, values))
    numbers = list(filter(None, matches))
    return len(numbers) >= 0.8 * len(values) and not _number_names(numbers)


def _number_names(matches: Sequence[re.Match[str]]) -> bool:
    """Tell whether most of the numbers count names: each has its own, and there are several."""
    named = [(match[2].strip(), match[1]) for match in matches if match[2]]
    names = {name for name, _ in named}
    return len(named) > 0.5 * len(matches) and len(set(named)) == len(names) > 1


def _unlike_numbers(rows: np.ndarray, column: str, values: np.ndarray) -> Frame:
    """Return the values of a column of numbers whose unit is not the usual one.

    With no usual unit, these are all that have a unit. Units that tell categories apart are left
    alone.
    """
    matches = list(map(_WITH_UNIT.match, values))
    units = list(map(_unit, matches))
    usual = _usual_unit(units)
    names = _units_that_name(values, units, usual)
    fine = {usual, *names}
    end = _usual_end(values, units, usual)
    repeated = Counter(values.tolist())
    found, reasons, suggestions = [], [], []
    for row, value, match, unit in zip(rows.tolist(), values, matches, units, strict=True):
        if unit in fine:
            continue
        if match is None and repeated[value] >= 0.02 * len(values):
            continue  # a word that is there again and again means something
        reason, suggestion = _what_is_wrong(value, match, end)
        found.append(row)
        reasons.append(reason)
        suggestions.append("" if names else suggestion)
    return findings(found, column, reasons, suggestions, 0.95)


def _units_that_name(values: np.ndarray, units: Sequence[str], usual: str) -> set[str]:
    """Return the units that make categories of numbers, as in "1 Story", "1.5 Fin", "1.5 Unf".

    They are there again and again, in a column of few values. With no usual unit, units that begin
    with the same letter are writings of one ("oz." and "ounce").
    """
    if len(values) < _A_CATEGORY * len(np.unique(values)):
        return set()
    counts = Counter(units)
    numbers = len(units) - counts.pop("?", 0)
    counts.pop("", 0)
    times = max(_SLIPS, 0.01 * numbers)
    often = {unit for unit, count in counts.items() if count > times}
    initials = set(map(itemgetter(0), map(str.lower, often)))
    writes_one_unit = not usual and len(initials) < 2
    if writes_one_unit:
        return set()
    return often - {usual}


def _what_is_wrong(value: str, match: re.Match[str] | None, usual: str) -> tuple[str, str]:
    """Return why a value is no number with the usual end, and what is meant instead."""
    if match is None:
        return f"{value!r} is no number", ""
    unit = _unit(match)
    reason = f"{unit or 'no unit'} beside the number"
    unit_is_right = unit.endswith(usual.strip()) and bool(usual)
    if unit_is_right:
        return reason, ""  # as in "3x kg": who knows which digit x stands for
    return reason, _plain(match[1]) + usual


def _unit(match: re.Match[str] | None) -> str:
    """Return the unit behind a number; "?" where there is no number."""
    if match is None:
        return "?"
    return (match[2] or "").strip()


def _usual_unit(units: Sequence[str]) -> str:
    """Return the unit of at least 80% of the numbers; none where there is no such unit."""
    counts = Counter(units)
    usual, most = max(counts.items(), key=lambda item: item[1])
    numbers = len(units) - counts["?"]
    if usual == "?" or most < 0.8 * numbers:
        return ""
    return usual


def _usual_end(values: np.ndarray, units: Sequence[str], usual: str) -> str:
    """Return the usual unit with the space before it, where there is one."""
    if not usual:
        return ""
    example = str(values[units.index(usual)]).strip()
    number = example.removesuffix(usual)
    space = number[len(number.rstrip()) :]
    return space + usual


def _is_numbering(text: Column, missing: Column) -> bool:
    """Tell whether a column counts its rows.

    That is by whole numbers, all different, with at most as many left out.
    """
    rows, numbers = numbers_of(text, missing)
    if len(rows) < len(text) or (numbers != np.floor(numbers)).any():
        return False
    all_different = len(np.unique(numbers)) == len(numbers)
    return all_different and bool(np.ptp(numbers) < 2 * len(numbers))


def _are_codes(numbers: np.ndarray) -> bool:
    """Tell whether numbers only name things.

    They are whole, and all different, or all of the same number of digits, four at least.
    """
    if (numbers != np.floor(numbers)).any():
        return False
    if len(np.unique(numbers)) == len(numbers):
        return True
    digits = np.floor(np.log10(np.maximum(np.abs(numbers), 1.0)))
    return bool((digits == digits[0]).all() and digits[0] >= 3)


def _plain(number: str) -> str:
    """Write a number shortly: 12.0 is 12, and 0.055999999999999994 is 0.056."""
    return f"{float(number):.12g}"


def _rare_shapes(rows: np.ndarray, column: str, values: np.ndarray) -> Frame:
    """Return the values of a column of text that are written unlike the others."""
    import pandas as pd

    shapes = pd.Series(list(map(_shape, values)))
    share = shapes.value_counts(normalize=True)
    usual = str(share.index[0])
    is_free_text = "9" not in usual
    if is_free_text or share[share >= 0.05].sum() < 0.9:
        return joined([])
    rarity = shapes.map(share).to_numpy()
    rare = (rarity < 0.02) & ~_are_categories(values)
    reasons = [f"written as {shape}, usual is {usual}" for shape in shapes[rare]]
    return findings(rows[rare], column, reasons, "", 1.0 - rarity[rare] * 10)


def _are_categories(values: np.ndarray) -> np.ndarray:
    """Return which values (rows,) are categories: there again and again, in a column of few."""
    different, inverse, counts = np.unique(
        values.astype(str), return_inverse=True, return_counts=True
    )
    if len(values) < _A_CATEGORY * len(different):
        return np.zeros(len(values), bool)
    return counts[inverse] > max(_SLIPS, 0.01 * len(values))


def _shape(value: str) -> str:
    """Return what a value looks like.

    That is 'a' for runs of letters and words, '9' for runs of digits, and all other signs as they
    are. A second is written with or without its fraction.
    """
    shape = re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", value))
    shape = shape.replace(":9:9.9", ":9:9")
    return re.sub(r"a(?:[ '.&-]+a)+", "a", shape)
