"""The page Release and watch in short: what needs its owner now, and how each quiet part stands."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from easeml.contract.application_views import ServingHistory
from easeml.contract.states import RolloutWay
from easeml.web.formatting import counted, several_of

_WAYS = {
    RolloutWay.AT_ONCE: "A better model serves at once.",
    RolloutWay.SHADOW: "A better model runs as a shadow first.",
    RolloutWay.SHARE: "A better model answers a growing share of requests.",
}
_NOT_KEPT = "No requests are recorded, so nothing shows whether the live model is still right."


@dataclass(frozen=True, slots=True)
class Need:
    """Something that waits for a person. ``path``: where it is done, below the application's page.

    ``label``: of the link there.
    """

    says: str
    label: str
    path: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the page that can be folded. ``says``: how it stands, in a line."""

    says: str
    is_open: bool = False


def needs_of(view: ServingHistory, titled: Callable[[str], str]) -> list[Need]:
    """Return what waits for a person, the most urgent first.

    ``titled``: puts titles of models in the place of their names.
    """
    found = []
    if view.watch.status == "alert":
        found.append(
            Need("The live model may not be right any more.", "See what drifted", "/history#watch")
        )
    elif view.watch.remedy and not view.adaptation.running:
        found.append(Need(view.watch.remedy, "See what drifted", "/history#watch"))
    for waiting in filter(None, map(attrgetter("waiting"), view.gates.gates)):
        found.append(Need(titled(f"{waiting.name} waits. {waiting.says}"), "Answer", "/work"))
    asking = {
        "comparison of models": view.picking.asked * view.picking.is_comparing,
        "test of the adapted models": view.adaptation.asked * view.adaptation.running,
    }
    for what in filter(asking.get, asking):
        asked = counted(asking[what], "label")
        found.append(Need(f"The {what} needs {asked}.", "Answer", "/work"))
    if view.gates.retirable:
        rows = counted(view.gates.retirable, "test row")
        found.append(Need(f"{rows} worn out.", "Learn from them", "/history#gate"))
    if _lacks_requests(view):
        found.append(Need(_NOT_KEPT, "Record requests", "/history#kept"))
    return found


def _lacks_requests(view: ServingHistory) -> bool:
    """Tell whether requests would tell how right a model is, and are not kept.

    No word on a row is taken where it has several numbers.
    """
    application = view.application
    if view.kept is None or several_of(application.schema_out) == "numbers":
        return False
    return not view.kept.share and application.live_model is not None


def parts_of(
    view: ServingHistory, titled: Callable[[str], str], *, was_told: bool = False
) -> dict[str, Part]:
    """Return the parts that can be folded, by their ids.

    Open is what is under way and what waits for a person. ``was_told``: somebody just said what was
    true.
    """
    return {
        "remedies": _remedies(view),
        "gate": _gate(view),
        "rollout": _rollout(view, titled),
        "released": _released(view),
        "picking": _picking(view, titled),
        "adapt": _adapt(view, titled),
        "label-budget": _label_budget(view),
        "kept": _kept(view, was_told),
    }


def _remedies(view: ServingHistory) -> Part:
    is_alarming = view.watch.status == "alert"
    if view.debugged is None:
        return Part("Nobody has run this yet.", is_alarming)
    return Part(view.debugged.advice, is_alarming)


def _gate(view: ServingHistory) -> Part:
    if not view.gates.gates:
        return Part("Nothing has to be proven.", bool(view.gates.retirable))
    gate = view.gates.gates[0]
    said = f"{gate.condition}: {gate.steps_spent} of {counted(gate.steps, 'test')} made."
    return Part(said, any([gate.waiting, gate.testing, view.gates.retirable]))


def _rollout(view: ServingHistory, titled: Callable[[str], str]) -> Part:
    if not view.rollouts.running:
        return Part(_WAYS[view.rollouts.way])
    one = view.rollouts.rollouts[0]
    return Part(titled(f"{one.challenger} is compared with {one.champion}."), is_open=True)


def _released(view: ServingHistory) -> Part:
    rollouts = view.rollouts
    if not rollouts.days:
        return Part("A model that goes live is not compared with the previous one.")
    said = f"A model that goes live is compared with the previous one for {rollouts.days:g} days"
    if not rollouts.released:
        return Part(f"{said}.")
    return Part(f"{said}: {counted(len(rollouts.released), 'release')} so far.")


def _picking(view: ServingHistory, titled: Callable[[str], str]) -> Part:
    picking = view.picking
    if picking.is_comparing:
        return Part(f"{counted(picking.models, 'model')} are compared now.", is_open=True)
    if picking.why_not:
        return Part(picking.why_not)
    if picking.says and not picking.proving:
        return Part(titled(picking.says))
    ways = {"daily": "They are compared every day.", "alert": "They are compared after an alert."}
    return Part(ways.get(picking.way, "They are compared only when you ask."))


def _adapt(view: ServingHistory, titled: Callable[[str], str]) -> Part:
    if view.adaptation.running:
        return Part("Adapted models are being made and tested.", is_open=True)
    if view.adaptation.says:
        return Part(titled(view.adaptation.says))
    return Part("The live model was not adapted.")


def _label_budget(view: ServingHistory) -> Part:
    labels = view.labels
    if labels.labels is None:
        return Part(f"No budget; {counted(labels.bought, 'label')} in {labels.days:g} days.")
    return Part(f"{labels.left} of {counted(labels.labels, 'label')} are left.")


def _kept(view: ServingHistory, was_told: bool) -> Part:
    kept = view.kept
    if kept is None or not kept.share:
        return Part("No requests are recorded.", was_told)
    rows, told = counted(kept.rows, "row"), counted(kept.told, "truth")
    said = f"{kept.share:.0%} of the requests, for {kept.days:g} days: {rows}, {told}."
    return Part(said, was_told)
