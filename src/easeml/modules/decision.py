"""Which label is said, given the probabilities of the classes: what is best for the objective.

For most measures that is the most probable class. Balanced accuracy is the mean over the classes of
P(said k | k); it is largest where the class with the highest P(k | x) / P(k) is said (A. Menon et
al., On the statistical consistency of algorithms for binary classification under class imbalance,
ICML 2013, section 3). The probabilities stay what they are.
"""

import numpy as np
from numpy.typing import NDArray

from .added import objective_named


def class_weights(objective: str, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Return by what the probability of each class counts when a label is chosen.

    ``rows`` (k,): training rows of each class. None: the most probable class is said, as for every
    objective without a method ``class_weights``, and for none (an empty name). Raises ``NotFound``
    for an unknown one.
    """
    if not objective:
        return None
    chosen = getattr(objective_named(objective), "class_weights", None)
    return None if chosen is None else chosen(rows)
