"""easeml's search as estimators of scikit-learn: ``fit``, then ``predict``, in this process."""

from easeml.estimators.automl import AutoMLClassifier, AutoMLRegressor

__all__ = ["AutoMLClassifier", "AutoMLRegressor"]
