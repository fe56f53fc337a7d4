"""What is forecast, and how far."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """``target``: the column that is forecast, at most ``ahead`` steps after what is known, by
    ``time``.

    ``series``: the columns by which series are told apart; empty where there is one. ``past_only``:
    columns of numbers that are known up to an origin and no further, as the target is (*past
    covariates*).
    """

    target: str
    time: str
    ahead: int
    series: tuple[str, ...] = ()
    past_only: tuple[str, ...] = ()
