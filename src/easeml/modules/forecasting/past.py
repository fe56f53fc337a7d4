"""What a forecast knows of the past: a model of numbers, told what was seen before its rows.

A row is forecast from an origin: the last time whose value may be known. Its features are what was
seen until then; its target is the difference to a plain forecast from the same origin (the value of
the last season, say), so that models which do not go beyond what they learned follow a series that
rises. Rows whose values are known are forecast from origins that lie ``ahead`` steps apart, a
rolling origin (Tashman, *Out-of-sample tests of forecasting accuracy*, 2000); later ones from the
last known value.

One model forecasts all distances and all series, directly: the distance to the origin is a feature
(Ben Taieb et al., *A review and comparison of strategies for multi-step ahead time series
forecasting*, 2012; Montero-Manso and Hyndman, *Principles and algorithms for forecasting groups of
time series*, 2021).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.forecasting import series_keys
from easeml.modules.forecasting.known_values import Floats, KnownValues, Places
from easeml.modules.forecasting.rule import Rule
from easeml.modules.forecasting.steps import Steps

if TYPE_CHECKING:
    import pandas as pd

    from easeml.data import ColumnTable

_COPIES = 4  # of a training row, each with another distance to its origin
_MOST_ROWS = 40_000  # that these make
_MOST_LAGS = 24
_WITHOUT_SEASON = 7  # values of which a mean is, where no season is known
_MEAN_OF_SEASONS = 4
_STEPS_BEFORE = 3  # a row, of which a column that is not known ahead is looked at
_LEAST_SPREAD = 0.1  # of a series, as a share of that of all
_MOST_GROWTH = 0.9  # of the mean error is due to the distance
_MOST_GROWN = 2.0  # in a season
_TINY = 1e-12  # where there is no error, or one distance
_LATEST = "latest"
_AHEAD, _LEVEL = "ahead", "level"
_NEVER_SEEN = KnownValues.sorted(np.array([-1]), np.array([0]), np.array([np.nan]))


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen at the origins of rows, arrays of shape (rows,).

    ``level``: the plain forecast; ``spread``: what differences to it are divided by; ``widths``:
    how far forecasts may be off as against others; ``features``: by name.
    """

    level: Floats
    spread: Floats
    widths: Floats
    features: dict[str, Floats]

    def differences(self, values: Floats) -> Floats:
        """Return what a model learns of values (rows,)."""
        return (values - self.level) / self.spread

    def values(self, differences: Floats) -> Floats:
        """Return the values that a model means (rows,)."""
        return self.level + differences * self.spread


@dataclass(frozen=True, slots=True)
class Past:
    """Known values of series, and how they are looked at.

    ``keys``: the series as texts, sorted. ``others``: the known values of columns that are not
    known ahead, by name; ``nodes``: these columns in the schema of the data (JSON), by which newer
    values are read. ``anchor``: a place where an origin lies. ``seasons``:
    after how many steps one comes again; ``cycles``: what of the calendar came again in training.
    ``middle`` and ``deviation``: median and standard deviation of the training values. ``plain``:
    the name of the plain forecast. ``growth``: its mean error at once, and by how much that grows
    with the root of the distance.
    """

    rule: Rule
    steps: Steps
    keys: NDArray[Any]
    known: KnownValues
    anchor: int
    seasons: tuple[int, ...]
    cycles: tuple[str, ...]
    middle: float
    deviation: float
    plain: str = _LATEST
    growth: tuple[float, float] = (1.0, 0.0)
    others: Mapping[str, KnownValues] = field(default_factory=dict)
    nodes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def learn(cls, rule: Rule, rows: "pd.DataFrame", history: "pd.DataFrame") -> "Past":
        """Look at training rows, and at the history: all rows whose values are known."""
        keys, numbers = np.unique(series_keys.of_rows(rule, history), return_inverse=True)
        times = _times(history, rule)
        steps = Steps.of(times, numbers)
        values = history[rule.target].to_numpy(np.float64)
        learned = rows[rule.target].to_numpy(np.float64)
        learned_places = steps.places(_times(rows, rule))
        length = int(learned_places.max() - learned_places.min())
        places = steps.places(times)
        others = {}
        for name in rule.past_only:
            others[name] = KnownValues.of_finite(numbers, places, _values_of(history, name))
        past = cls(
            rule=rule,
            steps=steps,
            keys=keys,
            known=KnownValues.sorted(numbers, places, values),
            anchor=int(learned_places.max()),
            seasons=steps.seasons_within(length),
            cycles=steps.cycles_within(length),
            middle=float(np.median(learned)),
            deviation=float(np.std(learned)) or 1.0,
            others=others,
        )
        return past._with_best_plain(rows)

    def _with_best_plain(self, rows: "pd.DataFrame") -> "Past":
        """Choose the plain forecast that is nearest to the training rows."""
        chosen, asked = self._asked_in_training(rows, seed=0)
        truth = rows[self.rule.target].to_numpy(np.float64)[chosen]
        errors = {}
        for name, said in self._plain_forecasts(*asked).items():
            errors[name] = float(np.abs(truth - said).mean())
        past = replace(self, plain=min(errors, key=errors.__getitem__))
        seen = past._seen(*asked)
        return replace(
            past, growth=_errors_by(seen.features[_AHEAD], np.abs(seen.differences(truth)))
        )

    def of_training(self, rows: "pd.DataFrame", seed: int) -> tuple[Places, Seen]:
        """Return the numbers of the rows to learn from, each several times, and what is seen of
        them.

        Each time a row has another distance to its origin. Rows without a past teach nothing.
        """
        chosen, asked = self._asked_in_training(rows, seed)
        return chosen, self._seen(*asked)

    def of_rows(self, table: "pd.DataFrame | ColumnTable") -> Seen:
        """Return what is seen of rows that are to be forecast.

        Values of the target that come with them are known, too.
        """
        told = self.told(table)
        return told._seen(*told._asked(table))

    def names_of_series(self) -> list[list[str | None]]:
        """Return what tells each series apart, a value a column; None where it is missing."""
        named = []
        for key in self.keys:
            named.append(series_keys.names(str(key)))
        return named

    def unused_values(self, table: "pd.DataFrame | ColumnTable") -> int:
        """Return how many values come with rows whose series nobody knows: they are not used."""
        are_values = np.isfinite(_values_of(table, self.rule.target))
        are_nobodys = self._are_nobodys(series_keys.of_rows(self.rule, table))
        return int((are_values & are_nobodys).sum())

    def _are_nobodys(self, texts: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell of which names nobody knows the series: they are missing, or none of those that a
        column may have (rows,).
        """
        return series_keys.lack_a_name(texts) & ~np.isin(texts, self.keys)

    def distances(self, table: "pd.DataFrame | ColumnTable") -> Places:
        """Return how many steps after what is known each row lies (rows,)."""
        _, places, origins = self._asked(table)
        return places - origins

    def have_past(self, table: "pd.DataFrame | ColumnTable") -> NDArray[np.bool_]:
        """Tell of which rows a value of their series is known at their origin (rows,)."""
        told = self.told(table)
        series, _, origins = told._asked(table)
        count, _ = told.known.until(series, origins)
        return count > 0

    def plain_forecasts(self, table: "pd.DataFrame | ColumnTable") -> dict[str, Floats]:
        """Return what needs no model, by name, of rows from their origins."""
        told = self.told(table)
        return told._plain_forecasts(*told._asked(table))

    def told(self, table: "pd.DataFrame | ColumnTable") -> "Past":
        """Return the past with what comes with rows that have a value of the target."""
        values = _values_of(table, self.rule.target)
        texts = series_keys.of_rows(self.rule, table)
        has_place = ~_are_missing(_times(table, self.rule)) & ~self._are_nobodys(texts)
        is_known = np.isfinite(values) & has_place
        if not is_known.any():
            return self
        texts = texts[is_known]
        keys = np.union1d(self.keys, texts)
        numbers = np.searchsorted(keys, self.keys)
        series = np.searchsorted(keys, texts)
        places = self._places_of(table)[is_known]
        known = self.known.renumbered(numbers).and_finite(series, places, values[is_known])
        others = {}
        for name, before in self.others.items():
            newer = _values_of(table, name)[is_known]
            others[name] = before.renumbered(numbers).and_finite(series, places, newer)
        return replace(self, keys=keys, known=known, others=others)

    def knowing(self, rows: "pd.DataFrame") -> "Past":
        """Return the past with the values of ``rows`` in place of those that it knows.

        At least one row has a value.
        """
        nothing = np.zeros(0, dtype=np.int64)
        known = KnownValues.sorted(nothing, nothing, np.zeros(0))
        others = dict.fromkeys(self.others, known)
        return replace(self, keys=self.keys[:0], known=known, others=others).told(rows)

    def _asked(self, table: "pd.DataFrame | ColumnTable") -> tuple[Places, Places, Places]:
        """Return the series, the places and the origins of rows that are to be forecast."""
        series, places = self._series_of(table), self._places_of(table)
        last = self.known.last_places(series, default=places - 1)
        since = places - 1 - self.anchor
        rolling = self.anchor + since // self.rule.ahead * self.rule.ahead
        return series, places, np.where(places > last, last, rolling)

    def _asked_in_training(
        self, rows: "pd.DataFrame", seed: int
    ) -> tuple[Places, tuple[Places, Places, Places]]:
        """Return the numbers of rows, with their series, places and origins."""
        ahead = self.rule.ahead
        copies = int(np.clip(_MOST_ROWS // len(rows), 1, min(ahead, _COPIES)))
        first = np.random.default_rng(seed).integers(ahead, size=len(rows))
        distances = [1 + (first + copy * ahead // copies) % ahead for copy in range(copies)]
        chosen = np.tile(np.arange(len(rows)), copies)
        series = self._series_of(rows)[chosen]
        places = self._places_of(rows)[chosen]
        origins = places - np.concatenate(distances)
        count, _ = self.known.until(series, origins)
        least = max(1, min(self._season, int(np.median(count))))
        has_past = count >= least
        if not has_past.any():
            has_past[:] = True
        asked = series[has_past], places[has_past], origins[has_past]
        return chosen[has_past], asked

    @property
    def _season(self) -> int:
        """Return of how many values a mean is taken."""
        return self.seasons[0] if self.seasons else _WITHOUT_SEASON

    def _series_of(self, table: "pd.DataFrame | ColumnTable") -> Places:
        """Return the number of the series of each row; a new series has one that none has."""
        texts = series_keys.of_rows(self.rule, table)
        numbers = np.searchsorted(self.keys, texts)
        found = self.keys[np.minimum(numbers, len(self.keys) - 1)] == texts
        return np.where(found, numbers, len(self.keys))

    def _places_of(self, table: "pd.DataFrame | ColumnTable") -> Places:
        """Return the places of rows; one without a time comes after what was learned."""
        times = _times(table, self.rule)
        is_missing = _are_missing(times)
        places = np.full(len(times), self.anchor + 1)
        places[~is_missing] = self.steps.places(times[~is_missing])
        return places

    def _plain_forecasts(
        self, series: Places, places: Places, origins: Places
    ) -> dict[str, Floats]:
        """Return what needs no model, by name."""
        known = self.known
        count, last = known.until(series, origins)
        middle = np.full(len(places), self.middle)
        latest = known.lag(count, last, 0, middle)
        mean = known.means(count, last, self._season, middle)
        told = {_LATEST: latest, "mean": mean}
        for season in self.seasons:
            back = _whole_seasons(places - origins, season)
            before = known.at(series, places - back, mean)
            count_before, last_before = known.until(series, origins - season)
            mean_before = known.means(count_before, last_before, season, mean)
            now = known.means(count, last, season, middle)
            seasons = back / season
            told[f"{season} before"] = before
            told[f"{season} before and its rise"] = before + (now - mean_before) * seasons
            told[f"{season} before and its growth"] = (
                before * _growth_of(mean_before, now) ** seasons
            )
        return told

    def _seen(self, series: Places, places: Places, origins: Places) -> Seen:
        """Return what is seen of rows at their origins."""
        known = self.known
        told = self._plain_forecasts(series, places, origins)
        level = told.pop(self.plain)
        count, last = known.until(series, origins)
        spread = np.ones(len(places))
        if self.rule.series:
            least = _LEAST_SPREAD * self.deviation
            spread = np.maximum(known.spreads(count, last), least)

        for lag in range(1, min(self._season + 1, _MOST_LAGS)):
            told[f"lag {lag}"] = known.lag(count, last, lag, level)
        for season in self.seasons:
            back = _whole_seasons(places - origins, season)
            before = told.get(f"{season} before", level)
            mean = before.copy()
            for number in range(2, _MEAN_OF_SEASONS + 1):
                place = places - back - (number - 1) * season
                before = known.at(series, place, before)
                told[f"{number * season} before"] = before
                mean += before
            told[f"mean of {_MEAN_OF_SEASONS} times {season} before"] = mean / _MEAN_OF_SEASONS
        for values in (3, 2 * self._season, 4 * self._season):
            told[f"mean of {values}"] = known.means(count, last, values, level)

        ahead = (places - origins).astype(np.float64)
        features = {_AHEAD: ahead, _LEVEL: level}
        for name, said in told.items():
            features[name] = (said - level) / spread
        features |= self._others_seen(series, places, origins)
        calendar = self.steps.calendar(places)
        features |= {name: calendar[name] for name in self.cycles if name in calendar}
        at_once, more = self.growth
        return Seen(level, spread, spread * (at_once + more * np.sqrt(ahead)), features)

    def _others_seen(self, series: Places, places: Places, origins: Places) -> dict[str, Floats]:
        """Return what columns that are not known ahead were at the origins of rows: NaN where no
        value was known.
        """
        unknown = np.full(len(places), np.nan)
        seen = {}
        for name, others in self.others.items():
            known = others if len(others.values) else _NEVER_SEEN
            count, last = known.until(series, origins)
            mean = known.means(count, last, self._season, unknown)
            latest = known.lag(count, last, 0, unknown)
            seen[f"latest of {name}"] = latest - mean
            seen[f"change of {name}"] = latest - known.lag(count, last, 1, unknown)
            # What follows a column after a while: that far before each row it is always known.
            for steps in range(self.rule.ahead, self.rule.ahead + _STEPS_BEFORE):
                before = known.at(series, places - steps, unknown)
                seen[f"{steps} before of {name}"] = before - mean
            for season in self.seasons:
                place = places - _whole_seasons(places - origins, season)
                seen[f"{season} before of {name}"] = known.at(series, place, unknown) - mean
        return seen


def _growth_of(before: Floats, now: Floats) -> Floats:
    """Return by what means have grown; 1 where they are not of one sign, and never by very much."""
    can_grow = before * now > 0
    growth = now / np.where(can_grow, before, 1.0)
    return np.where(can_grow, np.clip(growth, 1 / _MOST_GROWN, _MOST_GROWN), 1.0)


def _errors_by(ahead: Floats, errors: Floats) -> tuple[float, float]:
    """Return what errors are at once, and by how much they grow with the root of the distance.

    A line by least squares that does not fall, and is above 0 at once.
    """
    mean = max(float(errors.mean()), _TINY)
    roots = np.sqrt(ahead)
    middle = float(roots.mean())
    spread = max(float(np.square(roots - middle).sum()), _TINY)
    slope = float(((roots - middle) * errors).sum()) / spread
    slope = float(np.clip(slope, 0.0, _MOST_GROWTH * mean / middle))
    return mean - slope * middle, slope


def _whole_seasons(steps: Places, season: int) -> Places:
    """Return the least whole seasons that are at least so many steps, in steps."""
    return -(-steps // season) * season


def _times(table: "pd.DataFrame | ColumnTable", rule: Rule) -> NDArray[Any]:
    """Return the times of rows as datetime64 or float64 (rows,)."""
    times = np.asarray(table[rule.time])
    return times if times.dtype.kind == "M" else times.astype(np.float64)


def _are_missing(times: NDArray[Any]) -> NDArray[np.bool_]:
    import pandas as pd

    return pd.isna(times)


def _values_of(table: "pd.DataFrame | ColumnTable", column: str) -> Floats:
    """Return the numbers of a column that come with rows (rows,), NaN where none does."""
    if column not in table.columns:
        return np.full(len(table), np.nan)
    return np.asarray(table[column]).astype(np.float64)
