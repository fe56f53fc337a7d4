"""The smallest loss of quality that buys a smaller model."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from easeml.data import VersionTables
from easeml.errors import InvalidInput
from easeml.export.smaller.files import packed_size, plain_size
from easeml.export.smaller.recipes import Recipe, recipes_for, seal_smaller, write_smaller
from easeml.modules import conformal
from easeml.modules.contract import Predictions
from easeml.modules.ensemble import TrainedEnsemble, load_model
from easeml.modules.pipeline import TrainedPipeline
from easeml.modules.score import score
from easeml.modules.weights import by_id

LEAST_SAVING = 0.62
"""The share of the bytes that has to go: KnowledgeNet's figure."""
LARGEST_LOSS = 0.01
"""Of quality, where 1 is best: one point."""
_NOT_OF_PARTS = ("manifest.json", "known-rows.npz")

Measure = Callable[[Predictions], float]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of the fitted parts of a model: of the files, and of the files once packed."""

    plain: int
    packed: int

    def saving(self, smaller: "Sizes") -> float:
        """Return the share of the bytes that the files of ``smaller`` do without."""
        return 1 - smaller.plain / self.plain

    def packed_saving(self, smaller: "Sizes") -> float:
        """Return the same once both are packed: what no archive would have saved anyway."""
        return 1 - smaller.packed / self.packed


@dataclass(frozen=True, slots=True)
class Compressed:
    """What a smaller model costs. Qualities are those of validation rows that no fit has seen.

    ``predicted_otherwise``: share of the test rows with another label than the model itself says;
    of numbers (not ``of_labels``), the root mean square of the differences as a share of the deviation
    of the answers. ``tried``: how many smaller models were measured on the validation rows.
    """

    recipe: Recipe
    before: Sizes
    after: Sizes
    quality_before: float
    quality_after: float
    validation_rows: int
    predicted_otherwise: float
    of_labels: bool
    test_rows: int
    tried: int

    def to_json(self) -> dict[str, Any]:
        """Return what ``export.json`` tells."""
        return {
            "how": self.recipe.described(),
            "bytes": {"before": self.before.plain, "after": self.after.plain},
            "packed_bytes": {"before": self.before.packed, "after": self.after.packed},
            "saving": self.before.saving(self.after),
            "packed_saving": self.before.packed_saving(self.after),
            "quality": {"before": self.quality_before, "after": self.quality_after},
            "validation_rows": self.validation_rows,
            "predicted_otherwise": self.predicted_otherwise,
            "of_labels": self.of_labels,
            "test_rows": self.test_rows,
            "tried": self.tried,
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """By what a way to make a model smaller is chosen.

    ``first_fit``: the folder of the same model fitted on the train rows alone: what serves may have
    learned from the validation rows. ``rows``: validation rows with their answers, test rows
    without.
    """

    first_fit: Path
    rows: VersionTables


def sizes_of_parts(model: Path) -> Sizes:
    """Return the sizes of what was fitted: what tells of a model, and knows its rows, stays."""
    parts = [path for path in model.iterdir() if path.name not in _NOT_OF_PARTS]
    return Sizes(sum(map(plain_size, parts)), sum(map(packed_size, parts)))


def compress(
    model: Path,
    evidence: Evidence,
    objective: str,
    out: Path,
    sizes: Callable[[Path], Sizes] = sizes_of_parts,
) -> Compressed:
    """Write a smaller model into the new folder ``out``; return what it costs.

    ``model``: the folder of what serves. ``sizes``: of what is exported of a model's folder. Raises
    ``InvalidInput`` where no way takes ``LEAST_SAVING`` of the bytes and at most ``LARGEST_LOSS`` of
    the quality, with the nearest one; ``NotFound`` for an objective that is not known here.
    """
    rows = evidence.rows
    answers = rows.validation[rows.target]
    weights = by_id(rows.weights, rows.validation["_row"])

    def measure(predictions: Predictions) -> float:
        return score(objective, answers, predictions, weights)

    judged = load_model(evidence.first_fit)
    quality = measure(judged.predict(rows.validation))
    with TemporaryDirectory(prefix="easeml-smaller-") as temporary:
        tried = _all_tried(judged, evidence, measure, sizes, Path(temporary))
        chosen = _chosen(tried, quality)
    band = conformal.describe(answers.tolist(), chosen.predictions, weights)
    facts = {"quality": chosen.quality} | ({conformal.FACT: band} if band else {})
    trained = load_model(model)
    write_smaller(trained, model, chosen.recipe, out)
    smaller = seal_smaller(out, **facts)
    before, after = sizes(model), sizes(out)
    if before.saving(after) < LEAST_SAVING:  # fitted on more rows, it may have grown elsewhere
        raise _refusal(replace(chosen, saving=before.saving(after)), quality)
    return Compressed(
        recipe=chosen.recipe,
        before=before,
        after=after,
        quality_before=quality,
        quality_after=chosen.quality,
        validation_rows=len(rows.validation),
        predicted_otherwise=_otherwise(trained, smaller, rows),
        of_labels=chosen.predictions.classes is not None,
        test_rows=len(rows.test),
        tried=chosen.tried,
    )


@dataclass(frozen=True, slots=True)
class _Tried:
    """A smaller model: the shares of bytes that it saves, and what it predicts of validation rows."""

    recipe: Recipe
    saving: float
    packed_saving: float
    predictions: Predictions
    quality: float
    tried: int


def _chosen(tried: Iterable[_Tried], quality: float) -> _Tried:
    """Return the gentlest way that is small and good enough.

    One whose files are smaller packed as well goes before one whose plain files alone are. Raises
    ``InvalidInput`` where there is neither.
    """
    plain: _Tried | None = None
    nearest: _Tried | None = None
    for one in tried:
        if nearest is None or one.quality > nearest.quality:
            nearest = one
        if one.quality < quality - LARGEST_LOSS:
            continue
        if one.packed_saving >= LEAST_SAVING:
            return one
        plain = plain or one
    if plain is None:
        raise _refusal(nearest, quality)
    return plain


def _all_tried(
    judged: TrainedPipeline | TrainedEnsemble,
    evidence: Evidence,
    measure: Measure,
    sizes: Callable[[Path], Sizes],
    temporary: Path,
) -> Iterator[_Tried]:
    """Yield the smaller models that are small enough, the gentlest first."""
    before = sizes(evidence.first_fit)
    tried = 0
    for number, recipe in enumerate(recipes_for(judged)):
        out = temporary / str(number)
        write_smaller(judged, evidence.first_fit, recipe, out)
        after = sizes(out)
        saving = before.saving(after)
        if saving >= LEAST_SAVING:
            tried += 1
            predictions = load_model(out).predict(evidence.rows.validation)
            quality = measure(predictions)
            packed = before.packed_saving(after)
            yield _Tried(recipe, saving, packed, predictions, quality, tried)
        shutil.rmtree(out)


def _refusal(nearest: _Tried | None, quality: float) -> InvalidInput:
    asked = f"No way makes this model {LEAST_SAVING:.0%} smaller within {LARGEST_LOSS:g} of quality"
    why = "its files hold hardly more than they have to."
    if nearest is not None:
        why = (
            f"{nearest.saving:.0%} smaller ({nearest.recipe.described()}), its quality on "
            f"validation rows is {nearest.quality:.4f} instead of {quality:.4f}."
        )
    remedy = "Export it as it is, or export another model: easeml app models."
    return InvalidInput(f"{asked}: {why}", where="compress", remedy=remedy)


def _otherwise(
    model: TrainedPipeline | TrainedEnsemble,
    smaller: TrainedPipeline | TrainedEnsemble,
    rows: VersionTables,
) -> float:
    expected, found = model.predict(rows.test), smaller.predict(rows.test)
    if expected.classes is not None:
        return float(np.mean(expected.values != found.values))
    truth = np.asarray(expected.values, dtype=np.float64)
    apart = np.asarray(found.values, dtype=np.float64) - truth
    answers = np.asarray(rows.validation[rows.target].tolist(), dtype=np.float64)
    return float(np.sqrt(np.mean(apart**2)) / (np.nanstd(answers) or 1.0))
