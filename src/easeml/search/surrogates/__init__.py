"""Beliefs about the quality of arms that were not tried yet."""

from easeml.search.surrogates.gaussian import Posterior, Prior
from easeml.search.surrogates.scales import Scales

__all__ = ["Posterior", "Prior", "Scales"]
