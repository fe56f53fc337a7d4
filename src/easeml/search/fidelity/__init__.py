"""Fidelity: which candidates deserve more epochs or data, and which may stop.

For simulations and for those who use the library. No task of the service is stopped by it yet.
"""

from easeml.search.fidelity.curves import Forecast, forecast, is_hopeless, worth_returning
from easeml.search.fidelity.halving import Halving, Rung

__all__ = ["Forecast", "Halving", "Rung", "forecast", "is_hopeless", "worth_returning"]
