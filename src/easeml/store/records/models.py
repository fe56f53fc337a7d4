"""What was trained, what serves, and what takes its place."""

from dataclasses import dataclass, field

from easeml.contract.states import PromotionKind, PromotionState, RolloutState, RolloutWay, TruthWay
from easeml.store.shapes import Json, ModelFiles, RolloutEvidence, RolloutPlan


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """The artefact of a finished training task, or an ensemble of such (``candidate_id`` empty).

    ``quality`` is on validation rows (optimistic for the best); of a small version, by folds, on
    its train rows as well.
    """

    id: str
    tenant_id: str
    application_id: str
    job_id: str
    task_id: str
    candidate_id: str
    name: str
    artefact: str
    predictions: str  # digest of its predictions by row id
    quality: float
    metrics: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    created: float = 0.0
    evaluation: str = ""  # digest of how it does on validation rows; empty in old models
    error: str = ""  # why it cannot be loaded any more
    refitted: str = ""  # digest of the same fitted on train and validation rows
    refitted_predictions: str = ""  # of the test rows, by that
    compared_by: float | None = None  # in place of the quality, where that is not flattered
    measures: Json = field(default_factory=dict)  # in their own units, asked for after training
    held_out: float | None = None  # on validation rows alone, where folds give the quality

    @property
    def standing(self) -> float:
        """What it is compared with other models by that the same rows judged."""
        return self.quality if self.compared_by is None else self.compared_by

    @property
    def on_validation_rows(self) -> float:
        """What it is compared by with models that folds did not judge, or others."""
        return self.standing if self.held_out is None else self.held_out

    @property
    def served(self) -> str:
        """Digest of the files that answer requests."""
        return self.refitted or self.artefact


@dataclass(frozen=True, slots=True)
class Promotion:
    """A proposed change of what an endpoint serves; append-only."""

    id: str
    tenant_id: str
    application_id: str
    model_id: str
    previous_model_id: str
    state: PromotionState
    kind: PromotionKind
    reason: str
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Retirement:
    """The files of a model that nobody needs, until they are removed. ``id``: the model.

    ``files``: what the model's row said of them. ``size``: bytes. ``kept``: somebody wants the
    model, which has its files, and it is not retired any more.
    """

    id: str
    tenant_id: str
    application_id: str
    files: ModelFiles = field(default_factory=ModelFiles)
    size: int = 0
    kept: bool = False
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class RolloutRule:
    """How better models come to serve. ``id``: the application.

    ``tolerance``, ``reliability``, ``shares``: of ``easeml.lifecycle.rollout.Plan``. ``scale``: of
    a target that is a number, the largest error that counts; 0: chosen at the start. ``days``: how
    long a released model is compared with the one before; 0: not. ``truth``: which rows have one.
    """

    id: str
    tenant_id: str
    way: RolloutWay
    tolerance: float
    reliability: float
    shares: list[float]
    scale: float = 0.0
    days: float = 0.0
    truth: TruthWay = TruthWay.ANY
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Rollout:
    """A model that is compared with the one that serves, or with the one before, on requests.

    ``plan``, ``evidence``: of ``easeml.lifecycle.rollout``. ``share``: of the requests that the new
    model answers. ``compared``, ``changed``: rows that both have predicted, and those where they
    differ; ``unknown``: truths that name no class, or are no number. ``first``: the last row before
    it; ``seen``, ``told``: the last row and the last word on a row that were looked at. Of a model
    that was released, the rows up to ``seen`` are done with.
    """

    id: str
    tenant_id: str
    application_id: str
    model_id: str
    against_id: str
    way: RolloutWay
    plan: RolloutPlan
    evidence: RolloutEvidence
    scale: float = 0.0
    expected: float = 0.0  # quality of the model that serves on validation rows; 0: not known
    share: float = 0.0
    compared: int = 0
    changed: int = 0
    unknown: int = 0
    seen: str = ""
    told: str = ""
    first: str = ""
    state: RolloutState = RolloutState.RUNNING
    reason: str = ""
    ended: float | None = None
    created: float = 0.0
