"""Advise: the quality of kept predictions on the test rows, and of an older model on newer
validation rows.
"""

from pathlib import Path

from easeml.contract.tasks import RescoreSpec, TaskResult, TestQualitySpec

from .predictions import read_predictions


def test_quality(spec: TestQualitySpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{value, low, high, rows}``: quality on the test rows with its interval.

    Writes no output.
    """
    from easeml.data import read_version
    from easeml.modules import interval

    version = read_version(inputs / "version")
    rows, predictions = read_predictions(inputs / "predictions", "test")
    actual = version.test.set_index("_row").loc[rows, version.target]
    value, low, high = interval(spec.objective, actual.to_numpy(), predictions)
    return TaskResult(ok=True, value={"value": value, "low": low, "high": high, "rows": len(rows)})


test_quality.__test__ = False  # type: ignore[attr-defined]  # not a pytest function


def rescore(spec: RescoreSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{quality, rows}``: of the trained model, on the validation rows of the version.

    Writes no output.
    """
    from easeml.data import read_version
    from easeml.modules import score
    from easeml.modules.pipeline import load_trained

    version = read_version(inputs / "version")
    rows = version.validation
    predictions = load_trained(inputs / "model").predict(rows)
    quality = score(spec.objective, rows[version.target], predictions)
    return TaskResult(ok=True, value={"quality": quality, "rows": len(rows)})
