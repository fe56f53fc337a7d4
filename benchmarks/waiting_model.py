"""A model that waits as long as one on a device of its own computes, and takes no processor."""

import time
from typing import Any

from sklearn.linear_model import LogisticRegression

SECONDS_A_ROW = 0.001


class WaitingClassifier(LogisticRegression):
    """Logistic regression whose predictions take a millisecond a row."""

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes."""
        time.sleep(SECONDS_A_ROW * len(X))
        return super().predict_proba(X)


MODULE = """
name = "waiting"
kind = "model"
version = "1.0"
contract = 1
title = "A model that waits"
about = "Logistic regression whose predictions take a millisecond a row."
accepts = "classification"

[runtime]
kind = "python"
entry = "waiting_model:WaitingClassifier"

[space]
C = { ".float" = [0.1, 10.0], ".default" = 1.0 }
"""
