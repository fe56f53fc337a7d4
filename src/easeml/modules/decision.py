"""Which label is said, given the probabilities of the classes: what is best for the objective.

For most measures that is the most probable class. Balanced accuracy is the mean over the classes of
P(said k | k); it is largest where the class with the highest P(k | x) / P(k) is said (A. Menon et
al., On the statistical consistency of algorithms for binary classification under class imbalance,
ICML 2013, section 3). Macro F1 and Matthews' correlation lie between accuracy and balanced accuracy,
and so do their weights (decision 0063). For a table of costs it is the label of the least expected
cost (C. Elkan, The foundations of cost-sensitive learning, IJCAI 2001). The probabilities stay what
they are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .added import objective_for


def class_weights(
    objective: str, rows: NDArray[Any], classes: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Return by what probabilities count when a label is chosen, as of ``Predictions``.

    ``rows`` (k,): training rows of each of the ``classes``, or their weight. None: the most probable
    class is said, as for every objective without a method ``class_weights``, and for none (an empty
    name). Raises ``NotFound`` for an unknown one.
    """
    if not objective:
        return None
    chosen = getattr(objective_for(objective, classes), "class_weights", None)
    return None if chosen is None else chosen(rows)
