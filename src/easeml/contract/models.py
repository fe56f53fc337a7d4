"""The REST types of trained models, and of the measures that they reach."""

from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer
from easeml.contract.times import Moment


class Measure(Answer):
    """A measure in its own unit, with its 95 % interval where there is one.

    ``in_unit_of_target``: its unit is that of the target column. ``baseline``: what always guessing
    ``guess`` (such as the commonest class) reaches on the same rows. ``objective``: what was
    measured; ``unit``: of the value, the name of the target. Measures of older versions of easeml
    have neither. ``rows`` and ``folds``: how many rows have judged by how many folds, where the
    validation rows have not judged alone.
    """

    value: float
    low: float | None = None
    high: float | None = None
    lower_is_better: bool
    in_unit_of_target: bool
    baseline: float | None = None
    guess: str = ""
    objective: str = ""
    unit: str = ""
    rows: int = 0
    folds: int = 0


class EnsembleMember(Answer):
    """A model of an ensemble, and its share of what the ensemble predicts."""

    model_id: str
    name: str
    weight: float


class TrainedModel(Answer):
    """A trained model; quality on the validation rows of the version that it learned from, and of a
    small one by folds on its train rows as well.

    ``measure``: the quality in its own unit; ``measures``: by every objective that fits. Models of
    older versions of easeml have none.

    ``comparable``: these are the validation rows that the application's data has now, and its search
    went by the objective that counts now. ``former_objective``: that it went by, where not.
    """

    id: str
    name: str
    quality: float
    measure: Measure | None = None
    measures: dict[str, Measure] = Field(default_factory=dict)
    low: float | None = None  # 95 % interval of the quality on these rows
    high: float | None = None
    latency: float | None = None  # seconds to predict one row, as measured after training
    cost: float = 0.0  # device seconds of its training
    size: int = 0  # bytes of the artefact
    config: dict[str, Any] = Field(default_factory=dict)
    metrics: dict[str, Any] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    task_id: str
    version: int = 0  # number of the version
    comparable: bool = True
    former_objective: str = ""
    error: str = ""  # why it cannot be loaded any more
    retired: bool = False  # its files went because nobody needed them
    refitted: bool = False  # it serves as fitted on train and validation rows, after its quality
    members: list[EnsembleMember] = Field(default_factory=list)  # where it is an ensemble
    created: Moment


class Measures(Answer):
    """What the models of an application are measured by, beside the objectives that fit its target.

    ``asked``: names; ``offered``: some that could be asked. ``task_id``: the task that measures what
    was trained before; empty where nothing has to be.
    """

    application_id: str
    asked: list[str] = Field(default_factory=list)
    offered: list[str] = Field(default_factory=list)
    task_id: str = ""


class Signature(Answer):
    """The signature of an exported model: what its file ``model.sig`` holds."""

    bundle: dict[str, Any]


class SigningKey(Answer):
    """The public key, as PEM, by which exported models are signed."""

    pem: str
