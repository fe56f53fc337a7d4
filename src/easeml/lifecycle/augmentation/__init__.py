"""More train rows, made of those that there are: ``augment``. See ``rows``."""

from easeml.lifecycle.augmentation.rows import BALANCE, augment
from easeml.lifecycle.augmentation.ways import WAYS

__all__ = ["BALANCE", "WAYS", "augment"]
