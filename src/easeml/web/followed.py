"""What pages say after a remedy was followed, by its kind and whether easeml did it."""

import time

from easeml.contract.applications import Application
from easeml.contract.jobs import Job
from easeml.contract.states import ENDED_JOBS, JobState
from easeml.web.formatting import counted, seconds

_QUESTIONS = "The questions come to this list. Skip those that you do not want to answer."
_LEFT_OUT = " Models that fit were left out, and may be right more often: let them in below, under Left out."
_TEXTS = {
    "check-labels-done": _QUESTIONS,
    "repair-cells-done": _QUESTIONS,
    "collect-done": (
        "Rows like these without an answer come to this list as questions. Where there are none, add "
        "rows like these on Data, with answers."
    ),
    "collect-open": "No rows without an answer are like these. Add rows like them here, with answers.",
    "repair-source-open": (
        "Repair the column where it comes from; the training rows are in order. Then add the rows "
        "that come, or fetch the source again."
    ),
    "retrain-done": (
        "A version with these rows is made, and the search goes on with it. To undo it, use the "
        "version before. Whether a better model serves then stands on Release and watch."
    ),
    "retrain-open": "These rows are not kept any more. Add them here, as training rows.",
    "search-done": "The search goes on: {limits}. To undo it, set its limits back, or pause it, below.",
    "search-open": "Nothing was changed. {why}",
    "search-done-narrow": "The search goes on: {limits}." + _LEFT_OUT,
    "search-open-narrow": "Nothing was changed. {why}" + _LEFT_OUT,
}


def told(outcome: str, application: Application) -> str:
    """Return what a page says after ``outcome``, such as ``search-done``; empty for any other.

    It tells the state of the search as it is now.
    """
    job = application.job
    limits = "it has no limits" if job is None else _limits(job)
    return _TEXTS.get(outcome, "").format(limits=limits, why=_why(job))


def _limits(job: Job) -> str:
    """Return what a search may use in all, as people say it."""
    parts = []
    if job.limits.get("tasks") is not None:
        parts.append(f"{counted(job.limits['tasks'], 'task')} in all")
    if job.limits.get("seconds") is not None:
        parts.append(f"{seconds(job.limits['seconds'])} of device time in all")
    if job.limits.get("deadline") is not None:
        left = job.limits["deadline"] - time.time()
        parts.append(f"{seconds(max(left, 0.0))} from now at the latest")
    return ", ".join(parts) or "it has no limits"


def _why(job: Job | None) -> str:
    """Return why searching on was of no use, or not possible."""
    if job is None or job.state in ENDED_JOBS:
        return "The search has ended for good. New rows begin another: add them on Data."
    if job.state == JobState.RESTING:
        return f"More time would not help now. {job.waiting_reason}"
    if job.limits.get("deadline") is None:
        return f"The search has no limits: it goes on by itself. {job.waiting_reason}".rstrip()
    until = f"The search goes on: {_limits(job)}. For more time, set a later end below."
    return f"{until} {job.waiting_reason}".rstrip()
