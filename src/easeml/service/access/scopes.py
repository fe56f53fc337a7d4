"""What a key may be used for, of what its owner may do.

Asked before any route is looked up: what a scope does not name is refused, new routes as well.
"""

from collections.abc import Callable

from easeml.contract.states import KeyScope
from easeml.errors import NotAllowed
from easeml.service.access.caller import Caller
from easeml.service.access.sharing import Asked

_READING = ("GET", "HEAD")
_METRICS = ("GET", "/metrics")
_ABOUT_MODEL = {("GET", "v2", ""), ("GET", "v2", "/ready")}
_SIGNING = ("POST", "models", "/signatures")
_ABOUT_SERVER = ("GET", "/v2")  # the Open Inference Protocol asks it first
_MAKE = "Make a key with a larger scope: easeml key create NAME --scope SCOPE."


def check(caller: Caller, method: str, path: str, asked: Asked | None) -> None:
    """Raise ``NotAllowed`` where the caller's key is for less than a request.

    ``asked``: what of an application the path names.
    """
    _CHECKS[caller.scope](caller, method, path, asked)


def _check_nothing(caller: Caller, method: str, path: str, asked: Asked | None) -> None:
    """Let a key be used for all that its owner may do."""


def _check_reads(caller: Caller, method: str, path: str, asked: Asked | None) -> None:
    is_signing = asked is not None and asked.what == _SIGNING  # which changes nothing
    if method not in _READING and not is_signing:
        raise NotAllowed("The scope of this key is reading only.", where="key", remedy=_MAKE)


def _check_watches(caller: Caller, method: str, path: str, asked: Asked | None) -> None:
    if (method, path) != _METRICS:
        raise NotAllowed("The scope of this key is metrics only.", where="key", remedy=_MAKE)


def _check_predicts(caller: Caller, method: str, path: str, asked: Asked | None) -> None:
    if (method, path) == _ABOUT_SERVER:
        return
    if asked is None or not _is_about_predictions(asked):
        raise NotAllowed("The scope of this key is predictions only.", where="key", remedy=_MAKE)
    if caller.application_id not in ("", asked.id):
        raise NotAllowed(
            f"The scope of this key is predictions of {caller.application_id} only.",
            where="key",
            remedy="Make a key for this application as well.",
        )


_CHECKS: dict[KeyScope, Callable[[Caller, str, str, Asked | None], None]] = {
    KeyScope.ALL: _check_nothing,
    KeyScope.READ: _check_reads,
    KeyScope.METRICS: _check_watches,
    KeyScope.PREDICT: _check_predicts,
}


def _is_about_predictions(asked: Asked) -> bool:
    return asked.is_prediction or asked.what in _ABOUT_MODEL
