"""What answers of people move, reckoned while somebody waits: without rows, on NumPy alone (pure)."""

from easeml.lifecycle.questions.encoding import Encoding, Targets
from easeml.lifecycle.questions.order import (
    CELL,
    CHECK,
    DOUBTED,
    FAR,
    FAR_TEST,
    LABEL,
    Answer,
    Item,
    Key,
    Learned,
    Order,
)
from easeml.lifecycle.questions.order_files import CODE, read, written
from easeml.lifecycle.questions.surrogate import Surrogate

__all__ = [
    "CELL",
    "CHECK",
    "CODE",
    "DOUBTED",
    "FAR",
    "FAR_TEST",
    "LABEL",
    "Answer",
    "Encoding",
    "Item",
    "Key",
    "Learned",
    "Order",
    "Surrogate",
    "Targets",
    "read",
    "written",
]
