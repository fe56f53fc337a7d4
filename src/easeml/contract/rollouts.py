"""The REST types of roll-outs: how a better model comes to serve."""

from typing import Literal

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import RolloutEnd, RolloutState, RolloutWay, TruthWay
from easeml.contract.times import Moment

WayBefore = Literal[RolloutWay.AT_ONCE, RolloutWay.SHADOW, RolloutWay.SHARE]
"""How a model comes to serve: not what follows when it does."""


class NewRolloutRule(Request):
    """How better models come to serve an application.

    ``way``: at once; as a shadow, that predicts beside the model that answers; or by shares of the
    requests that grow. ``tolerance``: by how much a model may be worse, as a difference of the share
    of right answers, or for a number as a share of ``scale``. ``reliability``: one minus the chance
    of each error. ``scale``: the largest error that counts; 0: twice that of the model that serves.

    ``days``: how long after that the model before is compared with it, and serves again where the
    truth shows that it would be better; 0: not, null: as before. ``truth``: which rows have a truth:
    any, of which runs count where nearly all of it came, or such that were chosen by chance.
    """

    way: WayBefore
    tolerance: float = Field(0.02, gt=0, lt=1)
    reliability: float = Field(0.95, ge=0.5, lt=1)
    shares: list[float] = Field(default=[0.1, 0.25, 0.5], min_length=1, max_length=20)
    scale: float = Field(0.0, ge=0, allow_inf_nan=False)
    days: float | None = Field(None, ge=0, le=3650)
    truth: TruthWay = TruthWay.ANY


class NewRollout(Request):
    """A model to compare with the one that serves. ``way``: as of the rule by default."""

    model_id: str
    way: WayBefore | None = None


class EndRollout(Request):
    """What becomes of the new model: it serves from now on, or it does not."""

    end: RolloutEnd


class Rollout(Answer):
    """A model that is, or was, compared with the one that serves, or that served before it.

    ``champion``, ``challenger``: names of the models. ``share``: of the requests that the new one
    answers. ``compared``: rows that both have predicted, ``changed``: those where they differ.
    ``better``, ``worse``, ``alike``: requests whose truth is known, by how the new model did.
    ``unknown``: truths that name no class, or are no number. ``failures``: requests that the new
    model failed on. ``p_worse``: the chance of so good a record for a model that is worse than
    tolerated; ``p_not_worse``: of so bad a record for one that is not worse. ``to_come``: requests
    with truth that are likely to decide, an estimate; null where it is too early to say.
    ``quality``, ``quality_before``: means of the new and of the other model, in [0, 1], of classes
    the share of right answers; ``interval``: of their difference, reliable at .95 whenever one
    looks, known of classes where each row counts alone.
    """

    id: str
    way: RolloutWay
    state: RolloutState
    model_id: str
    challenger: str
    against_id: str
    champion: str
    share: float
    compared: int
    changed: int
    better: int
    worse: int
    alike: int
    unknown: int
    failures: int
    p_worse: float
    p_not_worse: float
    to_come: int | None
    quality: float | None
    quality_before: float | None
    interval: tuple[float, float] | None
    says: str
    scale: float
    created: Moment
    ended: Moment | None


class Rollouts(Answer):
    """How better models come to serve an application, and the newest roll-outs, newest first.

    ``promise``: what the way promises, in a sentence. ``running``: the first of ``rollouts`` runs.
    ``keeps_requests``: whether requests are kept, without which nothing can be compared. ``days``,
    ``truth``: of ``NewRolloutRule``. ``watches``: in a sentence, what follows a release.
    ``released``: models that went live, compared with those that they replaced, newest first.
    """

    application_id: str
    way: RolloutWay
    tolerance: float
    reliability: float
    shares: list[float]
    scale: float
    promise: str
    running: bool
    keeps_requests: bool
    rollouts: list[Rollout] = Field(default_factory=list)
    days: float
    truth: TruthWay
    watches: str
    released: list[Rollout] = Field(default_factory=list)
