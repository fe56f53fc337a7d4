"""The REST types of how a trained model does on validation rows, and of what an attempt printed."""

from pydantic import Field

from easeml.contract.resources import Answer

OTHERS = "all others"  # the classes that a confusion matrix does not name


class RocCurve(Answer):
    """Share of the other rows that are taken for ``label`` against share of its own that are found,
    and the area.
    """

    label: str
    false_positives: list[float]
    true_positives: list[float]
    area: float


class CalibrationBin(Answer):
    """Predictions of like confidence: their mean ``confidence``, and how many of ``rows`` were
    ``right``.

    ``low`` and ``high``: 95 % interval of the share that is right.
    """

    confidence: float
    right: float
    low: float
    high: float
    rows: int


class Residual(Answer):
    """A row's number and what was predicted for it."""

    actual: float
    predicted: float


class WorstExample(Answer):
    """A row on which the model did badly. ``row``: its place in the upload, from 0; ``values``: of
    its inputs.

    ``score``: probability of the actual class, the absolute error, or F1 of the row's labels.
    """

    row: int
    actual: str
    predicted: str
    score: float
    values: dict[str, str] = Field(default_factory=dict)


class LabelFound(Answer):
    """How a label is found, where rows may have several: ``rows`` have it, ``said`` were given it.

    ``precision``, ``recall`` and ``f1`` in [0, 1]; null where nothing tells, as of a label that no
    row has or is given.
    """

    label: str
    rows: int
    said: int
    precision: float | None
    recall: float | None
    f1: float | None


class CurvePoint(Answer):
    """What a model reported while it learned."""

    step: int
    quality: float


class Evaluation(Answer):
    """How a trained model does on validation rows. What does not fit its target is empty.

    ``confusion[actual][predicted]`` counts rows of ``labels``: of many classes those with the
    most mistakes, the rest as one (``OTHERS``). ``weight``: the column of weights that rows
    have, which is not counted here: each row counts once.
    """

    rows: int
    weight: str = ""
    labels: list[str] = Field(default_factory=list)
    confusion: list[list[int]] = Field(default_factory=list)
    roc: list[RocCurve] = Field(default_factory=list)
    calibration: list[CalibrationBin] = Field(default_factory=list)
    residuals: list[Residual] = Field(default_factory=list)
    worst: list[WorstExample] = Field(default_factory=list)
    by_label: list[LabelFound] = Field(default_factory=list)
    curve: list[CurvePoint] = Field(default_factory=list)


class TaskReport(Answer):
    """How the model that a task trained does on validation rows."""

    evaluation: Evaluation | None = None
    objectives: dict[str, str] = Field(
        default_factory=dict
    )  # name -> title, to tell of qualities by them


class AttemptLog(Answer):
    """What an attempt printed, from byte ``offset`` on; send ``next`` as ``offset`` for what
    follows.

    ``ended``: nothing more will come. Of long logs the last part is kept.
    """

    attempt: int
    text: str
    offset: int
    next: int
    ended: bool
