"""An ensemble: trained models whose predictions are averaged, kept in a folder and loaded as one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import calibration, manifest
from .contract import Predictions
from .labels import LabelChoice
from .pipeline import TrainedPipeline, libraries_of, load_trained
from .thresholds import decided_by

if TYPE_CHECKING:
    import pandas as pd

    from easeml.data import ColumnTable

    from .forecasting import Past

_WEIGHTS = "ensemble"  # what a manifest keeps them as; member i lies in folder i
_TEMPERATURE = "temperature"
_CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class TrainedEnsemble:
    """Trained pipelines of one input and output, and the share of each in what is predicted.

    ``weights`` add up to 1. ``manifest``: as of ``TrainedPipeline``. ``temperature``: of the mean
    of their probabilities, see ``calibration``. ``choice``: how labels are chosen by the mean, where
    a row may have several.
    """

    members: tuple[TrainedPipeline, ...]
    weights: tuple[float, ...]
    manifest: dict[str, Any] = field(default_factory=dict)
    temperature: float = 1.0
    choice: LabelChoice | None = None

    def predict(self, frame: "pd.DataFrame | ColumnTable") -> Predictions:
        """Predict rows as ``TrainedPipeline.predict`` does; raises alike."""
        said = [member.predict(frame) for member in self.members]
        mean = calibration.at(combined(said, self.weights), self.temperature)
        return decided_by(mean, self.choice)

    def check_parity(self) -> None:
        """Predict the manifest's sample again; raises ``Damaged`` where that differs."""
        manifest.check_parity(self.manifest, self.members[0].schema_in, self.predict)

    @property
    def past(self) -> "Past | None":
        """Return of a forecast what it knows of the past, which all members know."""
        return self.members[0].past

    @property
    def schema_in(self) -> dict[str, Any]:
        """The input schema of all members."""
        return self.members[0].schema_in

    @property
    def schema_out(self) -> dict[str, Any]:
        """The output schema of all members."""
        return self.members[0].schema_out

    @property
    def notes(self) -> tuple[str, ...]:
        """What its members tell the user, each sentence once.

        Members do different things with a column: what not all of them tell is said to be of some.
        """
        told: Counter[str] = Counter()
        for member in self.members:
            told.update(dict.fromkeys(member.notes, 1))
        everywhere = len(self.members)
        return tuple(_of_some(note, count < everywhere) for note, count in told.items())

    @property
    def description(self) -> dict[str, Any]:
        """The pipeline of the member that counts most: what stands for it where one is needed."""
        return self.members[int(np.argmax(self.weights))].description


def _of_some(note: str, is_of_some: bool) -> str:
    return f"In some of its models: {note}" if is_of_some else note


def combined(predictions: Sequence[Predictions], weights: Sequence[float]) -> Predictions:
    """Return the weighted mean of predictions of the same rows: of probabilities, or of numbers.

    Labels are chosen from the means as the first of them was. Raises ``ValueError`` where only
    labels are known.
    """
    mean = _mean([one.outputs for one in predictions], weights)
    return predictions[0].with_outputs(mean)


def _mean(parts: Sequence[Any], weights: Sequence[float]) -> Any:
    if any(part is None for part in parts):
        raise ValueError("labels without probabilities cannot be averaged")
    total = np.zeros(np.shape(parts[0]))
    for part, weight in zip(parts, weights, strict=True):
        total += weight * np.asarray(part, dtype=np.float64)
    return total


def member_folder(folder: Path, number: int) -> Path:
    """Return where member ``number`` of the ensemble in ``folder`` lies, as ``pipeline.save`` wrote it."""
    return folder / str(number)


def seal(trained: TrainedEnsemble, folder: Path, sample: "pd.DataFrame", **facts: Any) -> None:
    """Write the manifest of an ensemble whose members lie in ``folder``: it needs no other files.

    ``sample``: rows whose predictions prove that what is loaded predicts alike. ``facts``: as of
    ``pipeline.save``.
    """
    first = trained.members[0]
    kept = manifest.sample_rows(sample, first.schema_in)
    libraries: set[str] = set()
    for member in trained.members:
        libraries |= libraries_of(member.description)
    document = manifest.describe(
        pipeline=trained.description,
        schema_in=first.schema_in,
        schema_out=first.schema_out,
        target=first.target.to_json(),
        notes=list(trained.notes),
        parity=manifest.parity(kept, first.schema_in, trained.predict),
        libraries=libraries,
        facts={**facts, **_own_facts(trained)},
    )
    manifest.write(folder, document)


def _own_facts(trained: TrainedEnsemble) -> dict[str, Any]:
    """Return what a manifest keeps of an ensemble alone."""
    facts: dict[str, Any] = {_WEIGHTS: list(trained.weights), _TEMPERATURE: trained.temperature}
    if trained.choice is not None:
        facts[_CHOICE] = trained.choice.to_json()
    return facts


def reweigh(folder: Path, weights: Sequence[float]) -> None:
    """Give the members that lie in the folder of an ensemble these weights, which add up to 1.

    The sample of its manifest is as before: see ``manifest.reseal``.
    """
    manifest.write(folder, {**manifest.read(folder), _WEIGHTS: list(weights)})


def load_model(folder: Path) -> TrainedPipeline | TrainedEnsemble:
    """Load a trained model, an ensemble or a single one. Raises as ``pipeline.load_trained``."""
    document = manifest.read(folder)
    if _WEIGHTS not in document:
        return load_trained(folder)
    weights = tuple(document[_WEIGHTS])
    members = [load_trained(member_folder(folder, number)) for number in range(len(weights))]
    temperature = document.get(_TEMPERATURE, 1.0)  # not of an earlier easeml
    choice = LabelChoice.from_json(document.get(_CHOICE))
    return TrainedEnsemble(tuple(members), weights, document, temperature, choice)
