"""A measure in words: the one place from which pages, commands and events take them."""

from collections.abc import Mapping
from typing import Any

from easeml.contract.applications import Application, TestQuality
from easeml.contract.jobs import Job
from easeml.contract.models import Measure
from easeml.contract.pareto import ParetoAxis
from easeml.objective_names import in_words


def kept(measure: Mapping[str, Any]) -> Measure | None:
    """Return a measure as a task kept it; None where it kept none."""
    return Measure.model_validate(measure) if measure else None


_SMALL = 1e-3  # what is less has digits that say nothing, where the unit is 1
_ALMOST_ONE = 0.9999
_LARGE = 100
_LARGEST = 1e15  # from which on digits before the point say nothing


def figure(value: float) -> str:
    """Return a measured number with about four digits, thousands apart: 0.9798, 15,566,000."""
    if 1000 <= abs(value) < _LARGEST:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def score(value: float) -> str:
    """Return a score to four places: 0.9798. What is less than 1 is never told as 1.0000.

    What is large, as a number of mistakes is, has no place for them: 112, 144,718.
    """
    if abs(value) >= _LARGE:
        return f"{value:,.0f}"
    return f"{_short_of_one(value):.4f}"


def _short_of_one(value: float) -> float:
    if value < 1:
        return min(value, _ALMOST_ONE)
    return value


def _figure_of(measure: Measure, value: float) -> str:
    has_unit = measure.in_unit_of_target or bool(measure.unit)
    return figure(value) if has_unit else without_unit(value)


def without_unit(value: float) -> str:
    """Return a measured number whose size is 1, to four places; what is less is never told as 1."""
    if abs(value) < _SMALL:
        rounded = round(value, 4)
        return figure(rounded + 0.0)  # without the sign of -0.0
    return figure(_short_of_one(value))


def in_unit(measure: Measure, target: str = "") -> str:
    """Return the value with its unit: 0.9798, or 5,012 price.

    ``target``: the unit of measures that do not know theirs.
    """
    value = _figure_of(measure, measure.value)
    unit = measure.unit
    if measure.in_unit_of_target:
        unit = unit or target
    return f"{value} {unit}".strip()


def named(measure: Measure) -> str:
    """Return the value with what was measured: accuracy 0.9798, or rmse 5,012 price."""
    return f"{called(measure.objective)} {in_unit(measure)}".strip()


called = in_words


def interval(measure: Measure) -> str:
    """Return the 95 % interval, 4,800 to 5,230; nothing where there is none."""
    if measure.low is None or measure.high is None:
        return ""
    return f"{_figure_of(measure, measure.low)} to {_figure_of(measure, measure.high)}"


def judged_on(measure: Measure | None) -> str:
    """Return on which rows a measure was taken: validation rows, or 240 rows by four folds."""
    if measure is None or not measure.folds:
        return "validation rows"
    return f"{measure.rows:,} rows by {measure.folds} folds"


def against_baseline(measure: Measure) -> str:
    """Return how much better than always guessing alike; nothing where that is not known."""
    if measure.baseline is None:
        return ""
    guessed = _figure_of(measure, measure.baseline)
    within = ", within the interval" if _holds(measure, measure.baseline) else ""
    always = f"always guessing {measure.guess} ({guessed}{within})"
    gained = measure.value - measure.baseline
    if measure.lower_is_better:
        saved = -gained
        if saved > 0:
            return f"{_share(saved / measure.baseline)} below {always}"
    elif gained > 0:
        return f"{_figure_of(measure, gained)} above {always}"
    return f"no better than {always}"


def _holds(measure: Measure, value: float) -> bool:
    """Return whether a value lies in the interval of a measure: chance alone may set them apart."""
    if measure.low is None or measure.high is None:
        return False
    return measure.low <= value <= measure.high


def _share(gain: float) -> str:
    """Return a share in percent; one that is not all is never rounded to all."""
    if gain < 0.995:
        return f"{gain:.0%}"
    if gain < 0.9995:
        return f"{gain:.1%}"
    return "more than 99.9%"


def times_read(found: TestQuality) -> str:
    """Return how often test rows were read, and of what: never twice of the same.

    Where people corrected answers of these, how many.
    """
    corrected = ""
    if found.corrected:
        corrected = f"; {found.corrected} of their answers, far from all others, corrected before"
    if found.readings == 1:
        return f"read once{corrected}"
    count = {2: "twice"}.get(found.readings, f"{found.readings} times")
    return f"read {count}, each time of what served then{corrected}"


def best_of(job: Job | None) -> Measure | None:
    """Return the best measure that a search found so far; None where there is none."""
    if job is None or not job.improvements:
        return None
    return job.improvements[-1].measure


def best_judged_on(application: Application) -> str:
    """Return on which rows the best that a search found so far was measured."""
    return judged_on(best_of(application.job))


def best_found(application: Application) -> str:
    """Return the best that a search found so far, in its own unit; nothing before its first model.

    Searches of older versions of easeml know the score alone.
    """
    name, value = _best(application)
    return f"{name} {value}".strip()


def best_value(application: Application) -> str:
    """Return the same without the name of the objective, for places that show its title."""
    _, value = _best(application)
    return value


def _best(application: Application) -> tuple[str, str]:
    """Return what is measured, and the best of it so far; a score says itself that it is one."""
    job = application.job
    if job is None or job.best_quality is None:
        return "", ""
    best = best_of(job)
    together = _better_together(application, job.best_quality)
    if together is not None and not _is_worse(together, best):
        return called(application.objective), in_unit(together, application.target)
    if best is None:
        return "", f"score {score(job.best_quality)}"
    return called(application.objective), in_unit(best, application.target)


def _better_together(application: Application, single: float) -> Measure | None:
    """Return the measure of the ensemble that serves, where it is better than each model alone."""
    serves = application.live_model
    if serves is None:
        return None
    counts = bool(serves.members) and serves.comparable and not serves.former_objective
    return serves.measure if counts * serves.quality > single else None


def _is_worse(measure: Measure, best: Measure | None) -> bool:
    """Tell whether a measure is worse than another in its own unit, which people see.

    Ensembles are judged on other rows than single models: a better score there may be a worse
    number, and the best so far never falls.
    """
    if best is None:
        return False
    gained = measure.value - best.value
    return (-gained if measure.lower_is_better else gained) < 0


def of_event(data: dict[str, Any]) -> str:
    """Return the quality that an event tells, in its own unit where it has it, else the score."""
    told = data.get("measure")
    if told:
        measure = Measure.model_validate(told)
        name = called(data.get("objective", ""))
        value = in_unit(measure, data.get("target", ""))
        return f"{name} {value}".strip()
    quality = data.get("quality")
    if quality is None:
        return ""
    return f"score {score(quality)}"


def rows_of_event(data: dict[str, Any]) -> str:
    """Return on which rows the quality that an event tells was measured."""
    return judged_on(kept(data.get("measure") or {}))


def value_on(axis: ParetoAxis, value: float) -> str:
    """Return a value of an axis of a Pareto front with its unit: 0.9798, 4.2 ms, 52,054 bytes."""
    if axis.unit == "s":
        return f"{1000 * value:.3g} ms"
    return f"{figure(value)} {axis.unit}".strip()
