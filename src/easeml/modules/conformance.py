"""What every model module has to do, as checks that a test suite runs over the zoo and over
plug-ins alike.

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_model(check, tmp_path):
        check(registry.get("my-model"), registry, tmp_path)

A check raises ``AssertionError`` with what is wrong. Each makes its own small tables with a fixed
seed.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from easeml.errors import InvalidInput
from easeml.search import spaces

from .contract import Context, Data, Predictions
from .module import Module
from .pipeline import TrainedPipeline, fit, load_trained, save
from .process import ProcessModel
from .programs import ProgramFailed
from .registry import Registry

ConformanceCheck = Callable[[Module, Registry, Path], None]

_ROWS = 80
_CONFIGURATIONS = 4
_COLOURS = ["red", "green", "blue", "never"]
_LABELS = ["no", "yes", "rare", "unseen"]
_SCHEMA_IN: dict[str, Any] = {
    "nodes": {
        "size": {
            "singleton": True,
            "type": "tensor",
            "dim": [1],
            "optional": True,
            "column": "Size (cm)",
        },
        "same": {
            "singleton": True,
            "type": "tensor",
            "dim": [1],
            "optional": True,
            "column": "same",
        },
        "colour": {
            "singleton": True,
            "type": "category",
            "class": "colour",
            "optional": True,
            "column": "colour",
        },
        "seen": {"singleton": True, "type": "timestamp", "optional": True, "column": "seen"},
    },
    "classes": {"colour": {"dim": len(_COLOURS), "labels": _COLOURS}},
}
_STORY = {"singleton": True, "type": "text", "optional": True, "column": "story"}
_INPUTS = ["Size (cm)", "same", "colour", "seen", "story"]


def schemas(module: Module, registry: Registry) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the input and output schema of the suite's tables for a model.

    A text is among the inputs where the model takes no table without one.
    """
    return _input_schema(module, registry), _output_schema(module)


def _input_schema(module: Module, registry: Registry) -> dict[str, Any]:
    output = _output_schema(module)
    if registry.match(module, _SCHEMA_IN, output).fits:
        return _SCHEMA_IN
    return {**_SCHEMA_IN, "nodes": {**_SCHEMA_IN["nodes"], "story": _STORY}}


def _output_schema(module: Module) -> dict[str, Any]:
    if not _is_classifier(module):
        return {"nodes": {"target": {"singleton": True, "type": "tensor", "dim": [1]}}}
    target = {"singleton": True, "type": "category", "class": "target"}
    labels = {"dim": len(_LABELS), "labels": _LABELS}
    return {"nodes": {"target": target}, "classes": {"target": labels}}


def _is_classifier(module: Module) -> bool:
    assert module.schema_out is not None, f"{module.name}: a model has an output schema"
    target = next(iter(module.schema_out.first.nodes.values()))
    return target.type == "category"


def table(module: Module, seed: int = 0, rows: int = _ROWS) -> pd.DataFrame:
    """Return a table with a missing value in each column, a constant column, and a class with one
    row.
    """
    random = np.random.default_rng(seed)
    size, colour = random.normal(50, 20, rows), random.integers(0, 3, rows)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 400, rows), unit="D")
    signal = size / 20 + colour + random.normal(0, 0.3, rows)
    frame = pd.DataFrame(
        {
            "Size (cm)": np.where(np.arange(rows) % 9 == 1, np.nan, size),
            "same": np.full(rows, 3.0),
            "colour": pd.Categorical.from_codes(
                np.where(np.arange(rows) % 11 == 2, -1, colour), _COLOURS
            ),
            "seen": pd.Series(days).where(np.arange(rows) % 13 != 3),
            "story": _stories(random, signal),
        }
    )
    if _is_classifier(module):
        codes = (signal > np.median(signal)).astype(int)
        codes[0] = 2
        frame["target"] = pd.Categorical.from_codes(codes, _LABELS)
    else:
        frame["target"] = 1000 + 200 * signal
    return frame


def _stories(random: np.random.Generator, signal: Any) -> list[str | None]:
    """Return texts whose words lean with a signal; one in seventeen is missing."""
    stories: list[str | None] = []
    for place, value in enumerate(signal):
        mood = "great" if value + random.normal() > np.median(signal) else "dull"
        filler = " ".join(random.choice(["the", "film", "was", "long", "and"], 4))
        stories.append(None if place % 17 == 5 else f"{filler} {mood}")
    return stories


def check_predictions(module: Module, registry: Registry, folder: Path) -> None:
    """Predictions are whole: one a row, finite, probabilities that add up to 1, labels of the most
    probable class.
    """
    trained, frame = _fit(module, registry), table(module, seed=1)
    predicted = trained.predict(frame.loc[:, _INPUTS])
    assert len(predicted.values) == len(frame)
    if predicted.classes is None or predicted.probabilities is None:
        assert np.isfinite(predicted.values).all()
        assert predicted.probabilities is None
        return
    assert predicted.classes.tolist() == _LABELS
    assert predicted.probabilities.shape == (len(frame), len(_LABELS))
    assert np.isfinite(predicted.probabilities).all()
    assert (predicted.probabilities >= 0).all()
    np.testing.assert_allclose(predicted.probabilities.sum(axis=1), 1.0, atol=1e-6)
    assert (predicted.probabilities[:, _LABELS.index("unseen")] == 0).all()
    assert (predicted.values == predicted.classes[predicted.probabilities.argmax(axis=1)]).all()


def check_notes(module: Module, registry: Registry, folder: Path) -> None:
    """The user is told of constant columns, missing values, categories and classes without rows,
    and rare classes.
    """
    notes = "\n".join(_fit(module, registry).notes)
    assert "'same' is constant" in notes
    assert "'Size (cm)': 9 missing values" in notes
    assert "'colour': 1 of 4 categories" in notes
    if _is_classifier(module):
        assert "Class 'rare' has one training row." in notes
        assert "Class 'unseen' has no training row and is never predicted." in notes


def check_saved(module: Module, registry: Registry, folder: Path) -> None:
    """What was saved and loaded predicts bit for bit alike, passes its parity sample, and holds no
    pickle.
    """
    trained, frame = _fit(module, registry), table(module, seed=1)
    save(trained, folder / "model", quality=0.5)
    loaded = load_trained(folder / "model")
    loaded.check_parity()
    assert loaded.manifest["quality"] == 0.5
    assert loaded.notes == trained.notes
    assert not [
        path
        for path in (folder / "model").rglob("*")
        if path.suffix in (".pkl", ".pickle", ".joblib")
    ]
    _assert_equal(loaded.predict(frame), trained.predict(frame))


def check_seed(module: Module, registry: Registry, folder: Path) -> None:
    """Equal seeds give equal predictions, also with two threads."""
    frame = table(module, seed=1)
    first = _fit(module, registry, Context(seed=7)).predict(frame)
    _assert_equal(_fit(module, registry, Context(seed=7)).predict(frame), first)
    _assert_equal(
        _fit(module, registry, Context(seed=7, threads=2)).predict(frame), first, tolerance=1e-6
    )


def check_single_row(module: Module, registry: Registry, folder: Path) -> None:
    """A row alone is predicted as among others, and no rows give no predictions."""
    trained, frame = _fit(module, registry), table(module, seed=1, rows=10)
    together = _numbers(trained.predict(frame))
    alone = np.concatenate(
        [_numbers(trained.predict(frame.iloc[[row]])) for row in range(len(frame))]
    )
    np.testing.assert_allclose(alone, together, rtol=1e-6, atol=1e-9)
    assert len(trained.predict(frame.iloc[:0]).values) == 0


def check_strange_rows(module: Module, registry: Registry, folder: Path) -> None:
    """Unseen and unknown categories, missing and infinite values, and huge numbers are predicted
    like any.
    """
    trained = _fit(module, registry)
    frame = pd.DataFrame(
        {
            "Size (cm)": [np.inf, np.nan, 1e300, -1e300],
            "same": [4.0, np.nan, -np.inf, 0.0],
            "colour": pd.Categorical(["never", None, "purple", "red"]),
            "seen": pd.to_datetime(["1970-01-01", None, "2199-12-31", "2024-02-29"]),
            "story": ["", None, "words that nobody wrote", "a"],
        }
    )
    assert np.isfinite(_numbers(trained.predict(frame))).all()


def check_missing_column(module: Module, registry: Registry, folder: Path) -> None:
    """A column that is not there is an error that names it."""
    trained = _fit(module, registry)
    try:
        trained.predict(table(module).drop(columns="Size (cm)"))
    except InvalidInput as error:
        assert "Size (cm)" in str(error)
    else:
        raise AssertionError("No error for a missing column.")


def check_no_information(module: Module, registry: Registry, folder: Path) -> None:
    """A table of constant columns only is learnt from, as far as that goes."""
    frame = table(module).assign(
        **{
            "Size (cm)": 1.0,
            "colour": _fixed(_ROWS),
            "seen": pd.Timestamp("2024-01-01"),
            "story": "the same",
        }
    )
    trained = fit(_pipeline(module, registry), frame, *schemas(module, registry))
    assert np.isfinite(_numbers(trained.predict(frame))).all()


def check_fidelity(module: Module, registry: Registry, folder: Path) -> None:
    """A part of the rows is enough to learn from, and no class gets lost."""
    trained = _fit(module, registry, Context(fidelity=0.3))
    assert np.isfinite(_numbers(trained.predict(table(module)))).all()
    if trained.target.seen is not None:
        assert trained.target.seen.tolist() == [0, 1, 2]


def check_weights(module: Module, registry: Registry, folder: Path) -> None:
    """A model that says so learns from weights: it follows the rows that weigh more."""
    if not module.weights:
        return
    frame = table(module)
    other = "yes" if _is_classifier(module) else frame["target"] + 5.0
    both = pd.concat([frame, frame.assign(target=other)], ignore_index=True)
    means = []
    for weights in (None, np.repeat([0.2, 1.8], len(frame))):
        context = Context(weights=weights)
        trained = fit(_pipeline(module, registry), both, *schemas(module, registry), context)
        said = _numbers(trained.predict(frame))
        means.append(float(np.mean(said[:, 1] if _is_classifier(module) else said)))
    alike, weighted = means
    assert weighted > alike + 0.02, f"Weights move its predictions from {alike} to {weighted}."


def check_space(module: Module, registry: Registry, folder: Path) -> None:
    """Configurations from all over the space are learnt with."""
    frame = table(module)
    for config in spaces.suggest(module.space, _CONFIGURATIONS, seed=0):
        try:
            trained = fit(_pipeline(module, registry, config), frame, *schemas(module, registry))
        except Exception as error:
            raise AssertionError(f"With {config}: {error}") from error
        assert np.isfinite(_numbers(trained.predict(frame))).all(), f"With {config}"


def check_killed(module: Module, registry: Registry, folder: Path) -> None:
    """A run that is killed, and goes on from the checkpoint that it kept if it kept one, learns the
    same.
    """
    X = np.random.default_rng(2).normal(size=(_ROWS, 3))
    is_above = X[:, 0] > 0
    classes = 2 if _is_classifier(module) else 0
    data = Data(X, is_above.astype(int) if classes else X[:, 0] * 3, classes)
    config = spaces.default(module.space)
    model: ProcessModel = module.make()
    began = time.monotonic()
    undisturbed = model.fit(data, config, Context(seed=7)).predict(X)
    half = (time.monotonic() - began) / 4  # of training, which is half of both
    context = Context(seed=7, checkpoint=folder / "checkpoint")
    with suppress(ProgramFailed):
        replace(model, seconds=half).fit(data, config, context)
    again = model.fit(data, config, context).predict(X)
    np.testing.assert_allclose(again, undisturbed, rtol=1e-6, atol=1e-9)


CHECKS = (
    check_predictions,
    check_notes,
    check_saved,
    check_seed,
    check_single_row,
    check_strange_rows,
    check_missing_column,
    check_no_information,
    check_fidelity,
    check_weights,
    check_space,
)

OF_PROGRAMS = (
    check_predictions,
    check_notes,
    check_saved,
    check_strange_rows,
    check_missing_column,
    check_no_information,
    check_fidelity,
    check_space,
    check_killed,
)
"""Those for a folder of programs: starting one takes long, so it is not done for each row."""


def _pipeline(
    module: Module, registry: Registry, config: dict[str, Any] | None = None
) -> dict[str, Any]:
    chain = registry.candidates(module, _input_schema(module, registry))
    return {
        "transforms": [transform.choice() for transform in chain],
        "model": module.choice(config),
    }


@lru_cache(maxsize=1)  # most checks look at the same trained model
def _default(name: str, registry: Registry) -> TrainedPipeline:
    return _fit(registry.get(name), registry, Context())


def _fit(module: Module, registry: Registry, context: Context | None = None) -> TrainedPipeline:
    if context is None:
        return _default(module.name, registry)
    return fit(_pipeline(module, registry), table(module), *schemas(module, registry), context)


def _fixed(rows: int) -> pd.Categorical:
    return pd.Categorical(["red"] * rows, categories=_COLOURS)


def _numbers(predictions: Predictions) -> Any:
    return predictions.values if predictions.probabilities is None else predictions.probabilities


def _assert_equal(found: Predictions, wanted: Predictions, tolerance: float = 0.0) -> None:
    np.testing.assert_allclose(_numbers(found), _numbers(wanted), rtol=tolerance, atol=tolerance)
