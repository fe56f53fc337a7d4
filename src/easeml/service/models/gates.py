"""The gate of an application, as its owner sets, reads and removes it."""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from easeml.contract.gates import BoughtLabels, Gate, GateGroup, Gates, NewGate, WaitingModel
from easeml.contract.states import VersionState
from easeml.data import row_ids
from easeml.data.types.label_lists import LABELS
from easeml.errors import Conflict, InvalidInput, NotFound
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models, test_row_disclosure, tools
from easeml.service.answers import doubted_tests
from easeml.service.datasets import changing
from easeml.service.gates import bought_labels, group_sizes, kept, reserves
from easeml.service.models import promotion
from easeml.service.rollouts import kept as rollouts
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction, records
from easeml.store.records import Application, DatasetVersion
from easeml.store.shapes import WaitingTest

if TYPE_CHECKING:
    from easeml.lifecycle.ci import Config

NO_GATE = (
    "Nothing has to be proven: a model replaces the live one if its quality on "
    "validation rows is higher, or if it learned from newer data and is worse by no more than "
    "chance. The live model is fitted again on all rows except the test rows."
)
_WORN_OUT = (
    "The test rows are worn out. Retire them: models learn from them then, and are tested on other "
    "rows. Where there are none, feed new labelled rows, and set the gate again."
)
_RETIRED = (
    "No model can be tested: the test rows were worn out, and are train rows now. "
    "Feed new labelled rows, and set the gate again."
)
_LAST = "The last model that can be tested waits for labels; no other can be tested after it."
_ROW_F1 = "row-f1"
_OF_LABELLED_ROWS = ("score", "brier")
_OF_A_CLASS = ("f1", "brier")
_CALLED = {"score": _ROW_F1}  # metrics of lifecycle.ci that have a name of their own here
_MANY = 32  # models for which the page tells what they would need


def set_gate(store: Store, caller: Caller, application_id: str, wish: NewGate) -> Gates:
    """Let no model serve an application any more of which a condition is not proven.

    It takes the place of the gate before, whose answers count on. Repeated, it changes nothing.
    The best model is tested at once, if it is better on validation rows than what serves. With
    another budget of labels, a test that waits for some goes on. Where rows that it may buy
    labels of are gone, the same gate is set anew, on those that are left.

    Raises ``NotFound``; ``InvalidInput`` for a condition that is none, or that the data cannot
    tell; ``Conflict`` while a model is being tested or rolled out, or where no rows are left.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        _refuse_while_a_model_is_rolled_out(tables, application)
        version = tables.versions.get(application.version_id)
        before = kept.active(tables, application.id)
        config = _configured(tables, application, wish, before)
        config = group_sizes.named(store, version, config)
        is_whole = before is not None and reserves.is_whole(store, version, before)
        if before is not None and is_whole and _is_same(before, config, wish):
            return show(tables, application)
        _refuse_while_test_rows_are_read(tables, application)
        goes_on = before is not None and is_whole and _has_other_budget(before, config, wish)
        if before is not None and goes_on:
            gate = _with_budget(before, wish.labels)
        else:
            gate = opened(store, tx, application, version, config, wish.labels, wish.rows)
        if before is not None:
            bought_labels.stop(tx, application)
            tables.gates.update(before.id, ended=True)
        tables.gates.add(gate)
        doubted_tests.leave(tables, application)
        # What the gate before refused, or waits for labels, may pass this one.
        promotion.consider(tx, application.id)
        return show(tables, application)


def _is_same(gate: records.Gate, config: "Config", wish: NewGate) -> bool:
    """Tell whether a gate asks for this already, and its rows are not worn out."""
    return _asks_for(gate, config, wish) and wish.labels == kept.budget_of(gate)


def _has_other_budget(gate: records.Gate, config: "Config", wish: NewGate) -> bool:
    """Tell whether a gate asks for this already, and may only buy more labels, or fewer."""
    return gate.reserve is not None and wish.labels > 0 and _asks_for(gate, config, wish)


def _asks_for(gate: records.Gate, config: "Config", wish: NewGate) -> bool:
    before = replace(kept.ledger_of(gate).config, groups=())  # these follow from the data
    asked = (before, gate.most)
    return asked == (config, wish.rows) and lasts_on(gate)


def lasts_on(gate: records.Gate) -> bool:
    """Tell whether a gate can test a further model."""
    reserve = kept.reserve_ledger_of(gate)
    can_buy = reserve is not None and not reserve.is_exhausted
    return can_buy or (gate.rows > 0 and not kept.ledger_of(gate).is_exhausted)


def _with_budget(gate: records.Gate, labels: int) -> records.Gate:
    """Return a gate like this one, which goes on with its tests and may buy so many labels."""
    reserve = replace(kept.reserve_of(gate), labels=labels, waiting=None, short=None)
    return replace(gate, id=new_id("gate"), reserve=reserve, ended=False, created=0.0)


def opened(
    store: Store,
    tx: Transaction,
    application: Application,
    version: DatasetVersion,
    config: "Config",
    labels: int,
    most: int,
) -> records.Gate:
    """Return a new gate on the test rows that are left, which may buy so many labels.

    ``version``: the application's. ``most``: rows that it takes, 0: all. Raises ``Conflict`` where
    it would have no rows.
    """
    from easeml.lifecycle import gates

    tables = tx.scoped(application.tenant_id)
    earlier = kept.of_application(tables, application.id)
    reserve = None
    if labels:
        reserve = reserves.open_reserve(store, version, config, earlier, labels, tx.now())
    all_rows = test_rows(store, version)
    left = kept.unspent(version, earlier, all_rows)
    rows = left[:most] if most else left
    if not rows and reserve is None:
        raise _no_rows(version, earlier)
    config = group_sizes.with_sizes(store, version, config, rows or all_rows)
    first = version.summary.retired + len(all_rows) - len(left)
    first_id, last_id = (rows[0], rows[-1]) if rows else (-1, -1)
    nats = _told(tables, application, first, first_id) + (gates.TWO_TESTS if reserve else 0.0)
    ledger = gates.open_gate(config, len(rows), nats) if rows else gates.spent_gate(config)
    return records.Gate(
        id=new_id("gate"),
        tenant_id=application.tenant_id,
        application_id=application.id,
        ledger=ledger.to_json(),
        first=first,
        rows=len(rows),
        reserve=reserve,
        first_id=first_id,
        last_id=last_id,
        most=most,
    )


def go_on_with_labels(tx: Transaction, application: Application) -> None:
    """Let the gate test again what it refused for want of labels, now that it may buy more."""
    tables = tx.scoped(application.tenant_id)
    gate = kept.active(tables, application.id)
    if gate is None or gate.reserve is None or not lasts_on(gate):
        return
    if kept.waiting(gate, application) is not None:
        bought_labels.go_on(tx, application)
        return
    if not kept.is_short(gate) or requests.under_way(tables, kept.KIND, application.id):
        return
    tables.gates.update(gate.id, ended=True)
    tables.gates.add(_with_budget(gate, gate.reserve.labels))
    promotion.consider(tx, application.id)


def go_on_with_free_labels(store: Store) -> None:
    """Let gates test again what they refused for want of labels, where they may buy more by now.

    Labels are free again when the days of their budget are over.
    """
    with store.read() as tx:
        tables = tx.unscoped()
        living = tables.applications.column("id", deleted=None)
        all_gates = tables.gates.list(ended=False, application_id=living, limit=None)
    for gate in filter(kept.is_short, all_gates):
        with suppress(NotFound), store.write() as tx:  # it was erased since then
            _go_on_if_it_may_buy_more(tx, gate)


def _go_on_if_it_may_buy_more(tx: Transaction, seen: records.Gate) -> None:
    tables = tx.scoped(seen.tenant_id)
    application = tables.applications.get(seen.application_id)
    reserve = kept.reserve_of(tables.gates.get(seen.id))
    if bought_labels.may_buy(tx, application, reserve) > (reserve.short or 0):
        go_on_with_labels(tx, application)


def test_rows(store: Store, version: DatasetVersion) -> list[int]:
    """Return the ids of all test rows of a version."""
    return row_ids(store.artefacts.members(version.tenant_id, version.artefact))["test"].tolist()


def remove_gate(store: Store, caller: Caller, application_id: str) -> Gates:
    """Let models serve again without proof; what the gate told of the test rows counts on.

    A better model that it refused serves at once. Raises ``NotFound``. Repeated, it changes nothing.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        before = kept.active(tables, application.id)
        if before is not None:
            bought_labels.stop(tx, application)
            tables.gates.update(before.id, ended=True)
            promotion.consider(tx, application.id)
        return show(tables, tables.applications.get(application_id))


def list_gates(store: Store, caller: Caller, application_id: str) -> Gates:
    """Return what has to be proven before a model serves an application; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return show(tables, tables.applications.get(application_id))


def show(tables: Tables, application: Application) -> Gates:
    """Return what has to be proven before a model serves ``application``."""
    all_gates = kept.of_application(tables, application.id)
    gate = next((one for one in reversed(all_gates) if not one.ended), None)
    if gate is None:
        version = tables.versions.get(application.version_id)
        left = kept.rows_from(version, kept.first_unspent(all_gates))
        return Gates(
            application_id=application.id,
            promise=NO_GATE,
            rows_left=left,
            retirable=_retirable(tables, application, all_gates),
        )
    shown = _show_gate(tables, application, gate)
    return Gates(
        application_id=application.id,
        promise=shown.promise,
        rows_needed=shown.rows_needed,
        rows_left=shown.rows_left,
        retirable=_retirable(tables, application, all_gates),
        gates=[shown],
    )


def _retirable(tables: Tables, application: Application, all_gates: list[records.Gate]) -> int:
    """Return how many worn-out test rows could be train rows; none while the data is changed."""
    version = tables.versions.get(application.version_id)
    rows = kept.retirable(all_gates, version)
    if rows and changing.can_change(tables, application):
        return rows
    return 0


def _show_gate(tables: Tables, application: Application, gate: records.Gate) -> Gate:
    from easeml.lifecycle import gates

    ledger = kept.ledger_of(gate)
    config = ledger.config
    labels = _show_labels(tables, application, gate)
    by_labels = labels.steps_left if labels else 0
    steps_left = max(ledger.steps_left, by_labels)
    nats = ledger.spent.nats - gates.own_nats(config)
    version = tables.versions.get(application.version_id)
    worn = kept.retirable(kept.of_application(tables, application.id), version)
    rows = min(gate.rows, ledger.examples)  # erased rows are tested on no more
    rows_for_gains = gates.rows_that_show_gains(ledger)
    return Gate(
        id=gate.id,
        condition=str(config.condition),
        reliability=config.reliability,
        adaptivity=config.adaptivity.value,
        steps=config.steps,
        metric=_CALLED.get(config.metric.value, config.metric.value),
        positive=config.positive,
        promise=gates.promise(config),
        rows=rows,
        rows_for_gains=rows_for_gains,
        rows_needed=gates.rows_that_always_tell(ledger),
        rows_needed_32=gates.rows_needed(config, _MANY, nats),
        rows_left=0 if ledger.is_exhausted else rows,
        steps_spent=len(ledger.history),
        steps_left=steps_left,
        worn_out=not lasts_on(gate),
        lasts=_lasts(
            ledger.steps_left, by_labels, worn, waits=kept.waiting(gate, application) is not None
        ),
        too_few="" if by_labels else _too_few(config, rows, rows_for_gains),
        most=gate.most,
        groups=_show_groups(config, rows),
        testing=bool(requests.under_way(tables, kept.KIND, gate.application_id)),
        labels=labels,
        created=gate.created,
    )


def _show_groups(config: "Config", rows: int) -> list[GateGroup]:
    """Return about how many of a gate's test rows are in each group that its condition names."""
    from easeml.lifecycle.ci import groups_of

    shares = dict.fromkeys(map(str, groups_of(config.condition)), 0.0) | dict(config.groups)
    return [GateGroup(group=name, rows=round(share * rows)) for name, share in shares.items()]


def _show_labels(
    tables: Tables, application: Application, gate: records.Gate
) -> BoughtLabels | None:
    """Return the labels that a gate may buy; None where it may buy none."""
    ledger = kept.reserve_ledger_of(gate)
    if ledger is None:
        return None
    reserve = kept.reserve_of(gate)
    test = kept.waiting(gate, application)
    return BoughtLabels(
        budget=reserve.labels,
        bought=bought_labels.bought(tables, application, reserve),
        rows=len(reserve.rows),
        rows_left=len(reserve.rows) - ledger.given_away().rows,
        steps_spent=len(ledger.history),
        steps_left=ledger.steps_left,
        waiting=None if test is None else _show_waiting(tables, test),
    )


def _show_waiting(tables: Tables, test: WaitingTest) -> WaitingModel:
    from easeml.lifecycle.gates import labels_told

    name = tables.models.get(test.new_id).name
    needs = labels_told(test.about, test.low, test.high, test.most)
    return WaitingModel(
        model_id=test.new_id,
        name=name,
        about=test.about,
        low=test.low,
        high=test.high,
        most=test.most,
        says=f"It waits for {needs}.",
    )


def _lasts(steps_left: int, by_labels: int, retirable: int, *, waits: bool) -> str:
    """Return how long the test rows of a gate last.

    ``by_labels``: models that labels of people can still tell of. ``retirable``: rows that are worn
    out and still test rows. ``waits``: a model does.
    """
    left = max(steps_left, by_labels)
    if not left and waits:
        return _LAST
    if not left:
        return _WORN_OUT if retirable else _RETIRED
    models = "1 more model" if left == 1 else f"{left:,} more models"
    if not steps_left:
        return f"{models} can be tested, by labels of people alone: the test rows tell no more."
    return f"{models} can be tested. A search that tries 200 models spends three steps at most."


def _too_few(config: "Config", rows: int, needed: int | None) -> str:
    """Return that even clear gains are seldom proven on so few test rows; empty where they are."""
    if needed is None or rows >= needed:
        return ""
    remedies = ["Add test rows", "let the gate buy labels", "or ask for less"]
    if config.names_groups or config.metric in _OF_LABELLED_ROWS:
        del remedies[1]  # for few of these it may
    return (
        f"{rows:,} test rows are few for this condition: most better models will be refused as not "
        f"proven. {needed:,} test rows would show nearly every clear gain. {', '.join(remedies)}: a "
        "larger tolerance needs fewer rows."
    )


def _configured(
    tables: Tables, application: Application, wish: NewGate, before: records.Gate | None
) -> "Config":
    """Return the configuration that a wish means. ``before``: the gate that there is."""
    from easeml.lifecycle import gates
    from easeml.lifecycle.ci import read_config

    version = tables.versions.get(application.version_id)
    if version.state != VersionState.READY:
        raise Conflict("The data is not prepared.", where=version.id, remedy="Ask again later.")
    told = wish.model_dump(exclude={"metric", "positive", "scale", "labels", "rows"})
    told["metric"] = _metric(version.target_type, wish)
    is_number = version.target_type == "number"
    if is_number and told["metric"] != "absolute-error":
        raise InvalidInput(
            "The target is a number, which is never exactly right.",
            where="metric",
            remedy="Use absolute-error with a scale, the largest error that counts, and a "
            "condition such as o - n > 0.1 +/- 0.05, in the unit of the target.",
        )
    if told["metric"] in _OF_A_CLASS:
        told["positive"] = wish.positive
        _check_class(version.target_classes, wish.positive)
    if told["metric"] == "absolute-error":
        told["scale"] = wish.scale or _usual_scale(tables, application, told, before)
    config = read_config(told)
    gates.check_direction(config)
    if wish.labels:
        gates.check_can_buy(config, application.target)
    return config


def _metric(target_type: str, wish: NewGate) -> str:
    """Return what n and o measure, as ``lifecycle.ci`` calls it."""
    if target_type not in asked_models.SEVERAL:
        return wish.metric or "accuracy"
    if target_type != LABELS:
        raise InvalidInput(
            "A gate tests the one answer of a row, and these rows have several numbers.",
            where="gate",
            remedy="Let better models serve by their quality on validation rows.",
        )
    if (wish.metric, wish.labels) not in (("", 0), (_ROW_F1, 0)):
        raise InvalidInput(
            "Rows that may have several labels are judged by F1 of each labelled test row.",
            where="metric, labels",
            remedy=f"Use the metric {_ROW_F1}, and no labels.",
        )
    return "score"


def _check_class(classes: list[str], name: str) -> None:
    """Refuse a class that no row has: no model could be tested."""
    from easeml.lifecycle.labels import class_name

    if class_name(name) not in map(class_name, classes):
        raise InvalidInput(
            f"No row is '{name}'.", where="positive", remedy=f"Name one of {', '.join(classes)}."
        )


def _usual_scale(
    tables: Tables, application: Application, told: dict[str, Any], before: records.Gate | None
) -> float:
    """Return the largest error that counts where nobody says which.

    Where the gate ``before`` asks for the same, it is that one's: repeated, a wish changes nothing.
    """
    from easeml.lifecycle.ci import read_config

    if before:
        config = kept.ledger_of(before).config
        if replace(config, groups=()) == read_config({**told, "scale": config.scale}):
            return config.scale
    return rollouts.usual_scale(tables, application)


def _refuse_while_test_rows_are_read(tables: Tables, application: Application) -> None:
    """Refuse a gate while somebody reads test rows whose answer it would have to count."""
    from easeml.lifecycle.tool import tool_named

    reading = requests.under_way(tables, kept.KIND, application.id)
    for task in requests.under_way(tables, tools.KIND, application.version_id):
        tool = tool_named(tools.Told.from_json(task.payload).tool)
        if "test" in tool.needs:
            reading.append(task)
    if reading:
        raise Conflict(
            "The test rows are being read.", where=application.id, remedy="Try again in a moment."
        )


def _refuse_while_a_model_is_rolled_out(tables: Tables, application: Application) -> None:
    """Refuse a gate while a model that it has not tested may come to serve."""
    if rollouts.running(tables, application.id) is not None:
        raise Conflict(
            "A model is being rolled out that the gate has not tested.",
            where=application.id,
            remedy=f"End that first: easeml app rollout {application.id} --stop",
        )


def _no_rows(version: DatasetVersion, earlier: list[records.Gate]) -> Conflict:
    """Return why a gate has no test rows. ``earlier``: the gates that the application had."""
    is_worn = kept.first_unspent(earlier) > 0
    why = "The test rows are worn out." if is_worn else "The data has no test rows."
    return Conflict(why, where=version.id, remedy="Feed new labelled rows, then set the gate.")


def _told(tables: Tables, application: Application, first: int, first_id: int) -> float:
    """Return what the test rows from the ``first`` on have told so far, in nats."""
    by_gates = kept.told(tables, application.id, first, first_id)
    by_tools = test_row_disclosure.by_tools(tables, application.id)
    return by_gates + by_tools + test_row_disclosure.by_readings(tables, application)
