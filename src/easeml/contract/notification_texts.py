"""What a notification says, in a sentence whose subject is what it is about: one wording for the
pages, mails and what is posted.
"""

from collections.abc import Callable
from typing import Any

from easeml.contract.measures import of_event, rows_of_event

_LONGEST_ERROR = 200  # characters of an error
Called = Callable[[str], str]
"""What a model is called, by its name."""


def sentence(kind: str, data: dict[str, Any], called: Called = str) -> str:
    """Return what an event of ``kind`` says of its subject, such as "serves a better model: ..."."""
    tell = _SENTENCES.get(kind)
    if tell is None:
        return f"failed: {_error(data) or 'open it to see why'}"
    return tell(data, called).strip()


def _model(data: dict[str, Any], called: Called) -> str:
    return called(data.get("name", ""))


def _error(data: dict[str, Any]) -> str:
    """Return an error; of a long one the middle is left out: what helps stands at its end."""
    error = str(data.get("error", "")).strip()
    if len(error) <= _LONGEST_ERROR:
        return error
    most = _LONGEST_ERROR // 2
    begin = error[:most].rsplit(maxsplit=1)[0]
    end = error[-most:].split(maxsplit=1)[-1]
    return f"{begin} ... {end}"


def _serves(data: dict[str, Any], called: Called) -> str:
    rows = rows_of_event(data)
    if data.get("is_ensemble"):
        # The best of many single models has a flattering number, on rows that did choose it.
        rows += " that did not choose it, better there than any single model"
    said = f"{_model(data, called)}, {of_event(data)} on {rows}"
    because = str(data.get("because", "")).rstrip(".")  # these rows did not choose it
    if because:
        return f"serves another model: {said} ({because})"
    return f"serves a better model: {said}"


def _refused(data: dict[str, Any], called: Called) -> str:
    return f"does not serve {_model(data, called)}. {data.get('reason', '')}"


def _waits(data: dict[str, Any], called: Called) -> str:
    return f"has a better model that waits, {_model(data, called)}. {data.get('reason', '')}"


def _taken_back(data: dict[str, Any], called: Called) -> str:
    return (
        f"takes {_model(data, called)} back; the previous model answers all requests. "
        f"{data.get('reason', '')}"
    )


def _returned(data: dict[str, Any], called: Called) -> str:
    return (
        f"serves {_model(data, called)} again: {called(data.get('worse', ''))} was worse in "
        f"production. {data.get('reason', '')}"
    )


def _lost(data: dict[str, Any], called: Called) -> str:
    serves = data.get("serves")
    said = [f"{_model(data, called)} cannot be loaded any more: {_error(data)}"]
    said.append(
        f"{called(serves)} serves instead."
        if serves
        else "No model serves until another one is trained."
    )
    if data.get("trained_again"):
        said.append("It is trained again.")
    if data.get("was_pinned"):
        said.append("The pin ended with it.")
    return " ".join(said)


def _lost_of_tenant(data: dict[str, Any], called: Called) -> str:
    whose = f"{data.get('tenant', '')}'s {data.get('application', '')}"
    return (
        f"{_model(data, called)} of {whose} cannot be loaded any more: {_error(data)} "
        "Look at the disk, and restore the file from a backup."
    )


def _starving(data: dict[str, Any], called: Called) -> str:
    passed = f"{data.get('decisions', 0)} decisions in {data.get('seconds', 0.0):.0f} s"
    return (
        f"{data.get('tenant', '')} has something to train and was passed over by {passed}. "
        "Raise its priority, or choose another policy."
    )


def _new_model(data: dict[str, Any], called: Called) -> str:
    return f"continues with a new model: {data.get('title') or data.get('model', '')}"


_SENTENCES: dict[str, Callable[[dict[str, Any], Called], str]] = {
    "promotion.live": _serves,
    "promotion.refused": _refused,
    "promotion.waits": _waits,
    "rollout.taken-back": _taken_back,
    "release.returned": _returned,
    "model.lost": _lost,
    "provider.model-lost": _lost_of_tenant,
    "provider.starving": _starving,
    "module.fault": lambda data, _: f"has a fault: {_error(data)}",
    "job.waiting": lambda data, _: f"nothing runs. {data.get('reason', '')}",
    "job.resting": lambda *_: (
        "the search rests: there is little left to gain, or its limits are used up"
    ),
    "application.new-model": _new_model,
    "dataset.failed": lambda data, _: f"could not be read: {_error(data)}",
    "dataset.stale": lambda data, _: (
        f"could not be fetched again; the last good version stays. {_error(data)}"
    ),
    "dataset.fresh": lambda *_: "can be fetched again",
    "predictions.failed": lambda data, _: f"could not predict the rows of a source. {_error(data)}",
    "predictions.over": lambda *_: "predicts the rows of a source again",
    "watch.alert": lambda data, _: f"may not be right any more. {data.get('reason', '')}",
    "watch.over": lambda data, _: f"no longer raises an alert. {data.get('reason', '')}",
    "subscription.paused": lambda data, _: (
        f"gets no more notifications: messages did not arrive for days. {_error(data)}"
    ),
    "subscription.test": lambda *_: "this is a test: notifications arrive here",
}
