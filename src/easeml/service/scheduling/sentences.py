"""A decision in one plain sentence."""

from collections.abc import Mapping
from typing import Any

from easeml.search.policies.default import LONGEST_WAIT, NEWCOMER

_LEAST_SHOWN = 0.0001
_AHEAD = 1.05  # times another offer, above which a rate is ahead of it
_REASONS = {
    LONGEST_WAIT: "because its tenant has waited longest",
    NEWCOMER: "because its tenant is new and was never served",
}


def sentence(explanation: Mapping[str, Any], who: str, candidate: str) -> str:
    """Return what was decided and why, in a sentence.

    An example: "oncology: LightGBM, expected +.012 for 4 s, 3.1 times the next".

    ``explanation``: of a policy; ``who``: whom the run is for.
    """
    top = explanation.get("top", [])
    if not top:
        return f"{who}: {candidate}"
    best = explanation.get("best_so_far")
    seconds = _seconds(top[0]["cost"])
    if best is None:
        hope = f"expected score {_short(top[0]['mean'])} for {seconds}"
        return f"{who}: {candidate}, {hope}, {_first(explanation)}"
    hope = f"expected {_gain(gain_of(top[0], best))} for {seconds}"
    return f"{who}: {candidate}, {hope}, {_reason(explanation)}"


def gain_of(entry: Mapping[str, Any], best: float | None) -> float:
    """Return the improvement that was expected of a candidate.

    Where the explanation does not tell it (it is an old one), how far the mean is above the best.
    """
    if "gain" in entry:
        return entry["gain"]
    return max(0.0, entry["mean"] - (best or 0.0))


def next_rate(explanation: Mapping[str, Any]) -> float | None:
    """Return the most gain a second that anything else offered; None where nothing else waited."""
    best = explanation.get("best_so_far")
    served = explanation.get("turn", {}).get("tenant")
    rates = [gain_of(entry, best) / entry["cost"] for entry in explanation["top"][1:]]
    tenants = explanation.get("tenants", [])
    rates += [other["rate"] for other in tenants if other["tenant"] != served]
    return max(rates, default=None)


def _first(explanation: Mapping[str, Any]) -> str:
    rule = explanation.get("rule", "")
    if rule in _REASONS:
        return f"its first model, {_REASONS[rule]}"
    return "its first model"


def _reason(explanation: Mapping[str, Any]) -> str:
    """Return why this and nothing else: how much it was ahead, or the rule where it was not."""
    rule = explanation.get("rule", "")
    if rule in _REASONS:
        return _REASONS[rule]
    others = next_rate(explanation)
    if others is None:
        return "nothing else waited"
    chosen = explanation["top"][0]
    rate = gain_of(chosen, explanation.get("best_so_far")) / chosen["cost"]
    if rate < others:
        return f"by the rule: {rule}"
    if others == 0:
        return "nothing else could gain anything"
    if rate < _AHEAD * others:
        return "about as good as the next"
    return f"{rate / others:.1f} times the next"


def _gain(gain: float) -> str:
    if gain < _LEAST_SHOWN:
        return f"less than +{_short(_LEAST_SHOWN)}"
    return f"+{_short(gain)}"


def _short(value: float) -> str:
    """Return a number without the zero before its point."""
    shown = f"{value:.3f}" if value >= 0.001 else f"{value:.4f}"
    return shown.removeprefix("0")


def _seconds(cost: float) -> str:
    if cost < 0.1:
        return "less than .1 s"
    return f"{cost:.0f} s" if cost >= 2 else f"{cost:.1f} s"
