"""easeml's search as estimators of scikit-learn: ``fit``, then ``predict``.

In this process, or with ``url`` at a service.
"""

from easeml.estimators.automl import AutoMLClassifier, AutoMLRegressor

__all__ = ["AutoMLClassifier", "AutoMLRegressor"]
