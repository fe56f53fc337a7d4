"""Fidelity: which candidates deserve more epochs or data, and which may stop.

The optimizer ``hyperband`` proposes by ``Halving``. Forecasts of learning curves are for those who
use the library: the service stops no task by them yet.
"""

from easeml.search.fidelity.curves import Forecast, forecast, is_hopeless, worth_returning
from easeml.search.fidelity.halving import Halving, Rung

__all__ = ["Forecast", "Halving", "Rung", "forecast", "is_hopeless", "worth_returning"]
