"""The REST types of what the pages of an application show."""

from easeml.contract.adaptation import Adaptation
from easeml.contract.applications import Application, Promotion
from easeml.contract.ending import Ending
from easeml.contract.gates import Gates
from easeml.contract.journey import Journey, Suggestion
from easeml.contract.label_budgets import LabelBudget
from easeml.contract.models import Measures, TrainedModel
from easeml.contract.pareto import Pareto
from easeml.contract.picking import PickingRule
from easeml.contract.production import RequestLog
from easeml.contract.progress import Progress
from easeml.contract.reports import Report
from easeml.contract.resources import Answer
from easeml.contract.rollouts import Rollouts
from easeml.contract.watching import Look, WatchReport


class ApplicationView(Answer):
    """All that the first page of an application shows.

    ``progress``: of its newest search; ``ending``: when that is expected to end; ``models``: the
    best five; ``reports``: the newest answer of each lifecycle tool.
    """

    application: Application
    progress: Progress | None
    ending: Ending | None = None
    models: list[TrainedModel]
    reports: list[Report]
    journey: Journey


class JourneyView(Answer):
    """All that the page *Next* of an application shows. ``suggested``: the newest first."""

    application: Application
    journey: Journey
    suggested: list[Suggestion]


class Leaderboard(Answer):
    """An application and all its trained models, the best first.

    ``measures``: by what they are measured beside what fits the target; ``breaks``: why models may
    not serve, by id; ``pareto``: by several measures at once, null where one is not known yet.
    """

    application: Application
    models: list[TrainedModel]
    measures: Measures
    breaks: dict[str, str]
    pareto: Pareto | None


class ServingHistory(Answer):
    """An application, the changes of what it serves, newest first, and the models that they name.

    ``gates``: what has to be proven before a model serves. ``watch``: whether what serves is still
    right, ``looks``: what the newest looks at production said, oldest first. ``debugged``: where the
    model errs, as the tool ``debug`` said last. ``rollouts``: how better models come to serve.
    ``picking``: when the models are compared on production. ``adaptation``: the newest one.
    ``labels``: what gate and comparisons buy of people. ``kept``: what is kept of the requests;
    null for those who may only look.
    """

    application: Application
    gates: Gates
    promotions: list[Promotion]
    models: list[TrainedModel]
    watch: WatchReport
    looks: list[Look]
    debugged: Report | None = None
    rollouts: Rollouts
    picking: PickingRule
    labels: LabelBudget
    adaptation: Adaptation
    kept: RequestLog | None = None
