"""Searches of other programs, read as history for a search here: studies and logs, and what their
trials mean in the spaces of our models.
"""

from easeml.modules.histories.mapping import LeftOut, Mapped, Taken, mapped
from easeml.modules.histories.reading import read_study
from easeml.modules.histories.studies import Direction, Study, Trial

__all__ = [
    "Direction",
    "LeftOut",
    "Mapped",
    "Study",
    "Taken",
    "Trial",
    "mapped",
    "read_study",
]
