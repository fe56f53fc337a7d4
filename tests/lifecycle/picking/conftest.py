import numpy as np
import pytest


@pytest.fixture(scope="session")
def three_classes():
    """Predictions of five models for 400 examples, and labels; model 3 is right on 90 %, the others
    on 50 to 75 %.
    """
    rng = np.random.default_rng(7)
    labels = rng.integers(1, 4, size=400)
    predictions = np.repeat(labels[:, None], 5, axis=1)
    for model, right in enumerate((0.5, 0.75, 0.7, 0.9, 0.6)):
        rows = rng.choice(400, size=round(400 * (1 - right)), replace=False)
        predictions[rows, model] = labels[rows] % 3 + 1
    return predictions, labels
