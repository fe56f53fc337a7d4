"""Returning from a released model that the truth shows to be worse than the one before it."""

from easeml.contract.measures import figure
from easeml.contract.states import PromotionKind, RolloutState
from easeml.service.models import promotion, retired
from easeml.service.rollouts import kept
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Rollout


def decide(tx: Transaction, rollout: Rollout) -> None:
    """Let the model before serve again where the released one is proven worse, and say so.

    The step is told to the application's owner. A model of the same version of the data does not
    take its place again by its validation rows.
    """
    from easeml.lifecycle import rollout as rollouts

    if not rollouts.is_worse(kept.plan_of(rollout), kept.evidence_of(rollout)):
        return
    tables = tx.scoped(rollout.tenant_id)
    application = tables.applications.get(rollout.application_id)
    reason = says(tables, application, rollout)
    before = tables.models.get(rollout.against_id)
    if before.error:
        said = f"It is worse, but {before.name} cannot be loaded any more. {reason}"
        kept.close(tx, rollout, RolloutState.STOPPED, said)
        return
    ended = kept.close(tx, rollout, RolloutState.TAKEN_BACK, reason)
    before = retired.bring_back(tables, before)
    promotion.make_live(tx, application, before, PromotionKind.RETURNED, reason)
    released = tables.models.get(ended.model_id)
    data = {
        "model_id": before.id,
        "name": before.name,
        "worse_id": released.id,
        "worse": released.name,
        "reason": reason,
    }
    tx.events.append(kept.RETURNED, application.id, data, application.tenant_id)


def says(tables: Tables, application: Application, rollout: Rollout) -> str:
    """Return what the rows say of a released model and the one before, in a sentence."""
    from easeml.lifecycle import released
    from easeml.lifecycle import rollout as rollouts

    models = (rollout.model_id, rollout.against_id)
    names = dict(tables.models.pick("id", "name", id=models))
    evidence = kept.evidence_of(rollout)
    new, old = (names.get(id, "a model that is gone") for id in models)
    told = released.said(evidence, _measure(application, rollout), new, old)
    chance = rollouts.chance_if_not_worse(evidence)
    allowed = 1 - rollout.plan.reliability
    return f"{told} p = {chance:.2g} for not being worse; {allowed:.2g} returns to {old}."


def stops(tx: Transaction, rollout: Rollout, fault: str) -> None:
    """End the comparison of a released model with one that cannot predict the rows any more."""
    kept.close(tx, rollout, RolloutState.STOPPED, f"It could not be compared: {fault}")


def _measure(application: Application, rollout: Rollout) -> str:
    if rollout.plan.run:
        return "Balanced accuracy"
    if rollout.scale <= 0:
        return "Share of right answers"
    what = "error" if kept.power_of(application, rollout) == 1 else "squared error"
    return f"Quality (1 less the {what} as a share of {figure(rollout.scale)})"
