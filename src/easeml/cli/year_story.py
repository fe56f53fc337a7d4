"""The steps of ``demo year``: each calls a running service, as anybody would, and measures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.cli.asking import waited_report
from easeml.cli.year_data import TARGET, month_of_rows, with_wrong_labels
from easeml.cli.year_slice import cleaned_slice
from easeml.client import Client, made_request
from easeml.contract.applications import Declaration, Prediction, Promotion
from easeml.contract.gates import NewGate
from easeml.contract.measures import judged_on
from easeml.contract.production import Feedback, NewRequestLog
from easeml.contract.states import PromotionState
from easeml.errors import TimedOut

if TYPE_CHECKING:
    import pandas as pd

    from easeml.contract.reports import Report
    from easeml.contract.watching import WatchReport

_CONDITION = "n - o > 0.02 +/- 0.02"
_RELIABILITY = 0.95
_STEPS = 6  # models that the first test rows can test
_FIRST_MODEL = "logistic"
_BETTER_MODEL = "hist-gradient-boosting-classifier"
_TASKS = 3  # candidates of each search
_ROOM = 50  # more candidates than a search tries before it is limited again
PATIENCE = 240.0  # seconds for one search, or one task
_PICKING: dict[str, Any] = {"tolerance": 0.05, "confidence": 0.9}
_MOST_FEEDS = 4
_LOOK_EVERY = 0.2  # seconds
_MOST_LABELS = 200
_ROWS_OF_A_REQUEST = 100
RENEWED, WORN_OUT = "renewed test rows", "test rows wear out"


@dataclass(frozen=True, slots=True)
class Step:
    """What happened in a month, said in a sentence, with what was measured."""

    month: str
    name: str
    told: str
    command: str
    numbers: dict[str, Any]
    seconds: float


@dataclass(slots=True)
class Year:
    """An application that lives for a year, and what happened so far."""

    client: Client
    folder: Path
    rows: int  # of a month, as far as they are labelled
    tell: Callable[[Step], None]
    seed: int = 7
    application_id: str = ""
    december_model: str = ""
    steps: list[Step] = field(default_factory=list)
    _decisions: int = 0  # that were looked at
    _began: float = field(default_factory=time.monotonic)

    def note(self, month: str, name: str, told: str, command: str, **numbers: Any) -> None:
        """Keep what happened, and tell it."""
        now = time.monotonic()
        step = Step(month, name, told, command, numbers, round(now - self._began, 1))
        self._began = now
        self.steps.append(step)
        self.tell(step)

    def write(self, rows: pd.DataFrame, name: str) -> Path:
        """Write rows as a CSV file, and return its path."""
        path = self.folder / f"{name}.csv"
        rows.to_csv(path, index=False)
        return path

    def settle(self) -> None:
        """Wait until the search rests, and all that follows from it is done."""
        self.client.wait(self.application_id, until="converged", timeout=PATIENCE)

    def live_id(self) -> str:
        """Return the id of the model that serves."""
        live = self.client.application(self.application_id).live_model
        return live.id if live else ""

    def new_decisions(self) -> list[Promotion]:
        """Return what was let serve or refused since this was asked last."""
        all_of_them = list(self.client.promotions(self.application_id))
        new = all_of_them[self._decisions :]
        self._decisions = len(all_of_them)
        return new

    def wait_until_served(self, model_id: str) -> None:
        """Wait until the endpoint answers by a model: it is loaded beside the one before."""
        ends = time.monotonic() + PATIENCE
        row = month_of_rows(1, 1, self.seed)
        while self.predicted(row).model_id != model_id:
            if time.monotonic() > ends:
                raise TimedOut("The model does not answer.", where=model_id)
            time.sleep(_LOOK_EVERY)

    def predicted(self, rows: pd.DataFrame) -> Prediction:
        """Ask the endpoint about rows without their answers."""
        inputs = rows.drop(columns=[TARGET])
        return self.client.predict(self.application_id, inputs.to_dict("records"))


def first_model(year: Year) -> None:
    """December: a table is brought, and a first model serves."""
    path = year.write(month_of_rows(0, 2 * year.rows, year.seed), "december")
    client = year.client
    dataset = client.upload(path)
    version = client.wait_version_ready(dataset.version.id)
    declaration = made_request(
        Declaration,
        dataset_id=dataset.id,
        version_id=version.id,
        name="shops",
        target=TARGET,
        models=[_FIRST_MODEL],
        max_tasks=1,
    )
    year.application_id = client.create_application(declaration).id
    year.settle()
    application = client.application(year.application_id)
    live = application.live_model
    test = application.test_quality
    assert live is not None
    year.new_decisions()
    year.note(
        "December",
        "first model",
        f"A first model serves: {live.name}, {live.quality:.3f} on {judged_on(live.measure)}.",
        f"easeml app create december.csv --target {TARGET} --models {_FIRST_MODEL} --max-tasks 1",
        live=live.id,
        quality=live.quality,
        test_quality=test.value if test else None,
        rows=2 * year.rows,
    )


def set_gate(year: Year, month: str = "January", steps: int = _STEPS) -> None:
    """A condition has to be proven from now on."""
    told = {"condition": _CONDITION, "reliability": _RELIABILITY, "steps": steps}
    wish = NewGate.model_validate(told)
    found = year.client.set_gate(year.application_id, wish)
    (gate,) = found.gates
    year.note(
        month,
        "gate",
        found.promise,
        f"easeml app gate ID '{_CONDITION}' --reliability {_RELIABILITY} --steps {steps}",
        rows=gate.rows,
        rows_needed=gate.rows_needed,
        rows_needed_32=gate.rows_needed_32,
        steps_left=gate.steps_left,
    )


def better_model(year: Year) -> None:
    """A better model is tried, proven on test rows, and serves."""
    client = year.client
    job = client.application(year.application_id).job
    assert job is not None
    client.limit_job(job.id, max_tasks=_ROOM)  # the search goes on too, and may be quicker
    client.try_model(year.application_id, _BETTER_MODEL)
    client.limit_job(job.id, max_tasks=_TASKS)
    year.settle()
    note_decision(year, "January", "better model", f"easeml app try ID --model {_BETTER_MODEL}")
    year.december_model = year.live_id()


def calm_production(year: Year) -> None:
    """Requests are kept, their truth comes later, and the inputs are as before."""
    year.client.set_request_log(year.application_id, NewRequestLog(share=1.0, days=30.0))
    _live_through(year, 2, "February", "production")


def wrong_labels(year: Year) -> None:
    """A broken till feeds wrong labels: what learned them looks better, and is refused."""
    rows = with_wrong_labels(month_of_rows(3, 5 * year.rows, year.seed))
    before = {version.id for version in year.client.versions(year.application_id)}
    version = year.client.feed(year.application_id, year.write(rows, "till"))
    year.client.wait_version_ready(version.id)
    assert version.id not in before
    year.settle()
    note_decision(year, "March", "bad model", "easeml app feed ID till.csv", rows_fed=len(rows))


def drift(year: Year) -> None:
    """Summer: advertising doubles, and the truth that comes says that the model is wrong."""
    _live_through(year, 6, "June", "drift")


def _live_through(year: Year, month: int, title: str, name: str) -> None:
    """Send a month's rows to the endpoint, tell what was true of them, and look at them."""
    rows = month_of_rows(month, year.rows, year.seed + 1)
    told, right = [], 0
    for start in range(0, len(rows), _ROWS_OF_A_REQUEST):
        asked = rows.iloc[start : start + _ROWS_OF_A_REQUEST]
        answer = year.predicted(asked)
        for number, value in enumerate(asked[TARGET]):
            told.append({"request_id": answer.request_id, "row": number, "value": value})
            right += str(answer.predictions[number]) == value
    _wait_until_kept(year, len(rows))
    year.client.give_feedback(year.application_id, Feedback.model_validate(told))
    task = year.client.look_at_production(year.application_id)
    year.client.wait_task(task.id, timeout=PATIENCE)
    found = year.client.watch_report(year.application_id)
    _note_watching(year, title, name, found, right / len(rows))


def _wait_until_kept(year: Year, rows: int) -> None:
    """Wait till the log has the rows: it is written off the path of the request."""
    ends = time.monotonic() + PATIENCE
    while year.client.watch_report(year.application_id).waiting < rows:
        if time.monotonic() > ends:
            raise TimedOut("The requests were not kept.", where=year.application_id)
        time.sleep(_LOOK_EVERY)


def _note_watching(year: Year, month: str, name: str, found: WatchReport, right: float) -> None:
    moved = [column for column, test in found.drift.items() if test.alarm]
    true = found.labelled
    assert true is not None
    year.note(
        month,
        name,
        f"{found.status}: {found.reason}",
        "easeml app watch-report ID",
        status=found.status,
        moved=moved,
        estimate=found.estimate,
        interval=found.interval,
        reference=found.reference,
        right=right,
        labelled=true.quality,
        labelled_interval=(true.low, true.high),
        labelled_rows=true.rows,
    )


def note_decision(year: Year, month: str, name: str, command: str, **more: Any) -> None:
    """Keep what the gate decided, and what is left of its test rows.

    More than one model may have been tested: the best one, and what was put together of the best.
    """
    decided = year.new_decisions()
    passed = [one for one in decided if one.state == PromotionState.LIVE]
    refused = [one for one in decided if one.state == PromotionState.REFUSED]
    told = [f"{one.state}: {one.reason}" for one in (*passed, *refused)]
    (gate,) = year.client.gates(year.application_id).gates
    year.note(
        month,
        name,
        " ".join(told) or "No model was better on validation rows: none was tested.",
        command,
        passed=len(passed),
        refused=len(refused),
        live=year.live_id(),
        steps_spent=gate.steps_spent,
        steps_left=gate.steps_left,
        worn_out=gate.worn_out,
        **more,
    )


def wrong_rows_off(year: Year) -> None:
    """The rows of the till are found wrong, and those that models learn from are switched off."""
    client = year.client
    version_id = client.application(year.application_id).version_id
    first = min(one.first for one in client.compare(version_id).ranges)
    rows = client.train_rows(year.application_id)
    wrong = [one.row for one in rows if one.row >= first]
    version = client.refine(year.application_id, off=wrong)
    client.wait_version_ready(version.id)
    year.settle()
    note_decision(year, "April", "repair", "easeml data refine ID --off ROWS", off=len(wrong))


def worn_out(year: Year) -> None:
    """The summer's rows are fed until the test rows, which are of the winter, are worn out."""
    command = "easeml app feed ID july.csv"
    feeds = 0
    is_worn_out = False
    while feeds < _MOST_FEEDS and not is_worn_out:
        rows = month_of_rows(7, 2 * year.rows, year.seed + feeds)
        version = year.client.feed(year.application_id, year.write(rows, "july"))
        year.client.wait_version_ready(version.id)
        year.settle()
        (gate,) = year.client.gates(year.application_id).gates
        is_worn_out = gate.worn_out
        feeds += 1
    note_decision(year, "July", WORN_OUT, command, feeds=feeds, **right_in(year, 7))


def renewal(year: Year) -> None:
    """New labelled test rows come, the gate is set on them, and the summer's model is proven."""
    rows = month_of_rows(8, year.rows, year.seed)
    path = year.write(rows, "august")
    version = year.client.feed(year.application_id, path, role="test")
    year.client.wait_version_ready(version.id)
    set_gate(year, "August")
    year.settle()
    command = "easeml app feed ID august.csv --role test"
    note_decision(year, "August", RENEWED, command, **right_in(year, 8))


def slice_of_mistakes(year: Year) -> None:
    """October: the model of a second table errs in one shop; its broken cells are repaired."""
    found = cleaned_slice(year.client, year.folder, year.seed)
    command = f"easeml app report ID debug; easeml app remedy ID {found.remedy}"
    year.note("October", "a slice is cleaned", found.advice, command, **found.numbers)


def december_again(year: Year) -> None:
    """December returns: few labels choose among the models that served, and the best serves."""
    client = year.client
    fresh = month_of_rows(12, year.rows, year.seed + 1)
    before_id = year.live_id()
    before = share_right(year, fresh)
    found = _picked(year, month_of_rows(12, year.rows // 2, year.seed))
    standings = next(table for table in found.tables if table.title == "Models")
    chosen = str(standings.rows[0][0]).rpartition("(")[2].rstrip(")")
    numbers = {one.name: one for one in found.numbers}
    if found.verdict == "chosen" and chosen != before_id:
        client.roll_back(year.application_id, chosen)
        year.wait_until_served(chosen)
    accuracy = numbers["accuracy"]
    year.note(
        "December",
        "picked again",
        f"{found.verdict}: {found.advice}",
        "easeml app report ID pick --newer december.csv; easeml app rollback ID MODEL",
        labels=int(numbers["labels"].value),
        rows=int(numbers["rows"].value),
        candidates=len(standings.rows),
        chosen=chosen,
        is_last_december=chosen == year.december_model,
        accuracy=accuracy.value,
        accuracy_interval=(accuracy.low, accuracy.high),
        right_before=before,
        right_after=share_right(year, fresh),
        rows_measured=len(fresh),
    )


def _picked(year: Year, rows: pd.DataFrame) -> Report:
    """Ask the tool pick, and label the rows that it asks for, until it has chosen."""
    client, labelled = year.client, rows.copy()
    labelled[TARGET] = ""
    told: set[int] = set()
    while True:
        upload = client.upload(year.write(labelled, "december-again"))
        client.wait_version_ready(upload.version.id)
        task = client.ask_tool(year.application_id, "pick", newer_id=upload.version.id, **_PICKING)
        found = waited_report(client, year.application_id, task.id, PATIENCE)
        if found.verdict != "label more" or len(told) >= _MOST_LABELS:
            return found
        wanted = [int(float(str(number))) - 1 for (number,) in found.tables[0].rows]  # from 1
        told.update(wanted)
        labelled.iloc[wanted] = rows.iloc[wanted]


def right_in(year: Year, month: int) -> dict[str, Any]:
    """Return how often what serves is right about fresh rows of a month."""
    fresh = month_of_rows(month, year.rows, year.seed + 1)
    year.wait_until_served(year.live_id())
    return {"right": share_right(year, fresh), "rows_measured": len(fresh)}


def share_right(year: Year, rows: pd.DataFrame) -> float:
    """Return how often what serves is right about rows of which the truth is known here."""
    said = year.predicted(rows).predictions
    right = 0
    for value, truth in zip(said, rows[TARGET], strict=True):
        right += str(value) == truth
    return right / len(rows)


QUICK = (first_model, set_gate, better_model, calm_production)
WHOLE = (
    *QUICK,
    wrong_labels,
    wrong_rows_off,
    drift,
    worn_out,
    renewal,
    slice_of_mistakes,
    december_again,
)
LEFT_OUT = (
    "new test rows with few labels: whole rows with labels are fed here; a gate that may buy labels "
    "(easeml app gate --labels) has the queue ask for them.",
)
"""What the year of the plan has, and easeml cannot do yet."""
