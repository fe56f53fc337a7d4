"""What is forecast, and how far."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """``target``: the column that is forecast, at most ``ahead`` steps after what is known, by
    ``time``.

    ``series``: the columns by which series are told apart; empty where there is one.
    """

    target: str
    time: str
    ahead: int
    series: tuple[str, ...] = ()
