"""What runs cost: hints of modules, a model of finished runs, and its transfer to new devices."""

from easeml.search.costs.belief import CostBelief
from easeml.search.costs.devices import is_slow, pace_of
from easeml.search.costs.hints import checked_hints, hinted_cost
from easeml.search.costs.model import CostModel, Costs, Work, learn_costs, percentage_error
from easeml.search.costs.transfer import most_telling

__all__ = [
    "CostBelief",
    "CostModel",
    "Costs",
    "Work",
    "checked_hints",
    "hinted_cost",
    "is_slow",
    "learn_costs",
    "most_telling",
    "pace_of",
    "percentage_error",
]
