"""Before a model goes live, the gate of its application tests it, if it has one.

A search's own models compete on validation rows. The test rows see only what would serve when the
search has come to an end, and the best of the first ten, hundred and so on before that: so a search
that finds two hundred ever better models spends three steps.
"""

from dataclasses import dataclass, field

from easeml.contract.states import SEARCHING_JOBS, PromotionState
from easeml.service.gates import bought_labels, kept
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Gate, Job, TrainedModel
from easeml.store.shapes import Shape


@dataclass(frozen=True, slots=True)
class Held:
    """A model may not go live now. ``refusal``: why it never will; empty while that is open."""

    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: which gate tests which model against which, on rows of which version.

    ``reserve``: rows without labels, where it is tested on those, with the ``labels`` bought so far,
    of a ``budget``, and the rows that are ``unknown`` to people.
    """

    gate_id: str
    new_id: str
    old_id: str
    version_id: str
    reserve: list[int] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    unknown: list[int] = field(default_factory=list)
    budget: int = 0

    @property
    def could_buy(self) -> int:
        """How many labels it might still buy when it was tested."""
        return max(0, self.budget - len(self.labels))


def hold(tx: Transaction, application: Application, model: TrainedModel) -> Held | None:
    """Return what keeps a model from going live now, after having it tested if that is due.

    None: it may. That is so where the application has no gate, and where there is no model to
    compare the first one with.
    """
    tables = tx.scoped(application.tenant_id)
    gate = kept.active(tables, application.id)
    if gate is None:
        return None
    if not application.live_model_id and kept.compares_models(gate):
        return None
    if not _may_be_tested(tables, application, gate, model):
        return Held()
    return _tested(tx, application, gate, model)


def _tested(tx: Transaction, application: Application, gate: Gate, model: TrainedModel) -> Held:
    """Have a model tested on labelled test rows, or, where these are worn out, by bought labels."""
    from easeml.lifecycle import gates

    ledger, reserve = kept.ledger_of(gate), kept.reserve_ledger_of(gate)
    if not ledger.is_exhausted:
        _request(tx, application, gate, model)
    elif reserve is None:
        return Held(gates.worn_out(ledger))
    elif reserve.is_exhausted:
        return Held(gates.worn_out(reserve))
    else:
        bought_labels.request_test(tx, application, gate, model, application.version_id)
    return Held()


def _may_be_tested(
    tables: Tables, application: Application, gate: Gate, model: TrainedModel
) -> bool:
    """Tell whether a gate should test a model now: it is free, has not decided, and it is time."""
    if requests.under_way(tables, kept.KIND, application.id):
        return False
    if kept.waiting(gate, application) is not None:
        return False
    if was_decided(tables, application, gate, model):
        return False
    return _is_due(tables, tables.jobs.get(model.job_id))


def was_decided(tables: Tables, application: Application, gate: Gate, model: TrainedModel) -> bool:
    """Tell whether the gate has refused a model against what serves."""
    refused = tables.promotions.newest(
        application_id=application.id,
        model_id=model.id,
        previous_model_id=application.live_model_id,
        state=PromotionState.REFUSED,
    )
    return refused is not None and refused.created >= gate.created


def _is_due(tables: Tables, job: Job) -> bool:
    """Tell whether the best model of a search may spend a step by now."""
    if job.state not in SEARCHING_JOBS:
        return True
    trained = tables.models.count(job_id=job.id)
    powers_of_ten = len(str(trained)) - 1
    tested = requests.of_kind(tables, kept.KIND, job_id=job.id)
    return len(tested) < powers_of_ten


def _request(tx: Transaction, application: Application, gate: Gate, model: TrainedModel) -> None:
    tables = tx.scoped(application.tenant_id)
    requests.request(
        tx,
        application.tenant_id,
        kept.KIND,
        application.id,
        job_id=model.job_id,
        gate_id=gate.id,
        version_id=application.version_id,
        ledger=gate.ledger,
        first=kept.place_in(tables.versions.get(application.version_id), gate.first),
        first_id=gate.first_id,
        last_id=gate.last_id,
        new_id=model.id,
        old_id=application.live_model_id,
    )
