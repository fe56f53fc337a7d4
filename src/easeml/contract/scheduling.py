"""The REST types of the scheduler's view.

Whoever does not run this easeml sees other tenants by number only.
"""

from pydantic import Field

from easeml.contract.resources import Answer
from easeml.contract.states import BelievedState


class DeviceTask(Answer):
    """What a device did or does. ``device`` is its place in the list; ``finished`` is None while it
    runs.

    Tasks of other tenants have no id and no name. ``place``: of the tenant, in the order in which
    tenants came; it gives a colour that stays.
    """

    device: int
    lane: str  # search, short
    tenant: str
    place: int = 0
    own: bool
    task_id: str = ""
    name: str = ""
    state: str
    started: float
    finished: float | None = None


class Device(Answer):
    """A worker's device. ``name`` is a number; ``here``: is the worker running?

    ``kind``: as its machine says; empty for the usual.
    """

    name: str
    here: bool
    kind: str = ""


class Waiting(Answer):
    """A task that waits for a device, in the order of the queue.

    ``waits``: why no machine can take it, where that is so, for its tenant and providers.
    """

    lane: str
    tenant: str
    own: bool
    task_id: str = ""
    name: str = ""
    since: float
    waits: str = ""


class Share(Answer):
    """A tenant as the scheduler sees it.

    ``gain_rate``: quality that the next task may gain a device second. ``place``: in the order in
    which tenants came. ``waiting_reason``: why nothing of it runs, for itself and providers.
    """

    tenant: str
    place: int = 0
    own: bool
    state: str  # searching, resting, paused, idle
    waiting_reason: str = ""
    searches: int
    gain_rate: float
    expected_improvement: float
    running: int
    waiting: int
    cost: float  # device seconds


class LossCurve(Answer):
    """Loss of searches: the best quality known by the end less the best at a time, averaged, and of
    the worst.

    ``at``: moments (seconds of the epoch) or device seconds spent, ascending; a loss holds until
    the next one.
    """

    name: str = ""
    at: list[float] = Field(default_factory=list)
    average: list[float] = Field(default_factory=list)
    worst: list[float] = Field(default_factory=list)
    area: float | None = None  # under the average, as share of the width


class SchedulerView(Answer):
    """The scheduler now, and since the moment ``since``."""

    policy: str
    now: float
    since: float
    devices: list[Device]
    timeline: list[DeviceTask]
    queue: list[Waiting]  # the first of them
    queued: int
    tenants: list[Share]
    losses: LossCurve
    decisions: int  # how many there are


class Rival(Answer):
    """A tenant that waited when a decision was made, and what it might have gained a device second."""

    tenant: str
    own: bool
    rate: float
    chosen: bool


class Scored(Answer):
    """A candidate that was compared: its score under the rule, its expected quality, its cost in
    device seconds, and the improvement that was expected of it.
    """

    name: str
    score: float
    mean: float
    sd: float
    cost: float
    gain: float = 0.0
    chosen: bool


class Step(Answer):
    """A decision: who got a device, with what, and why. ``number`` counts from 1.

    ``sentence`` says it in words. Applications and tasks of other tenants have no id.
    """

    number: int
    moment: float
    sentence: str = ""
    policy: str
    rule: str
    tenant: str
    own: bool
    candidate: str
    application: str = ""
    application_id: str = ""
    task_id: str = ""
    waiting: int  # tenants
    waited: int | None = None  # decisions since the tenant was last served
    best_so_far: float | None = None
    compared: int  # candidates
    rivals: list[Rival] = Field(default_factory=list)
    candidates: list[Scored] = Field(default_factory=list)
    state: str = ""  # of the task, then
    quality: float | None = None
    seconds: float | None = None


class Believed(Answer):
    """What was believed of a candidate when a decision was made: its score, mean and standard
    deviation.

    ``gain``: the improvement that was expected of it, ``cost``: in device seconds. With the result
    of the decision the mean becomes ``mean_after``, where it is known.
    """

    name: str
    state: BelievedState
    mean: float
    sd: float
    cost: float
    gain: float
    mean_after: float | None = None
    sd_after: float | None = None


class Searching(Answer):
    """A search when a decision was made, with the candidates that matter most: those with the most
    gain a second, the one chosen, and those under way.

    ``place``: of its tenant, which gives it a colour. ``best``: its best score so far.
    """

    tenant: str
    place: int
    own: bool
    application: str = ""
    application_id: str = ""
    best: float | None = None
    chosen: bool
    candidates: list[Believed]
    of: int  # candidates that there are


class OtherPolicy(Answer):
    """What a policy would have chosen. ``same``: the candidate that was chosen.

    ``candidate``: its name as in the sentence; empty where the policy would have waited.
    """

    policy: str
    sentence: str
    candidate: str = ""
    same: bool


class DecisionView(Answer):
    """A decision with all that was seen when it was made; read back from the log.

    ``searches`` and ``others`` are empty where the log does not tell (any more). ``timeline``: what
    ``devices`` did around it, from ``since`` to ``until``. ``count``: of all decisions.
    """

    step: Step
    count: int
    searches: list[Searching] = Field(default_factory=list)
    others: list[OtherPolicy] = Field(default_factory=list)
    devices: list[Device] = Field(default_factory=list)
    timeline: list[DeviceTask] = Field(default_factory=list)
    since: float
    until: float


class Replay(Answer):
    """A policy on recorded or invented work: its losses beside others', and every decision of it."""

    policy: str
    policies: list[str]  # that there are
    devices: int
    tenants: int
    searches: int
    tasks: int
    curves: list[LossCurve]  # of the policy first
    steps: list[Step]
