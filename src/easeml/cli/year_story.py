"""The steps of ``demo year``: each calls a running service, as anybody would, and measures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.cli.year_data import TARGET, month_of_rows, with_wrong_labels
from easeml.client import Client, made_request
from easeml.contract.applications import Declaration, Prediction
from easeml.contract.gates import NewGate
from easeml.contract.production import Feedback, NewRequestLog
from easeml.errors import TimedOut

if TYPE_CHECKING:
    import pandas as pd

    from easeml.contract.watching import WatchReport

_CONDITION = "n - o > 0.02 +/- 0.02"
_RELIABILITY = 0.95
_STEPS = 3  # models that the first test rows can test
_FIRST_MODEL = "logistic"
_BETTER_MODEL = "hist-gradient-boosting-classifier"
_TASKS = 3  # candidates of each search
_PATIENCE = 240.0  # seconds for one search, or one task
_LEAST_LABELS = 10  # that are asked for at a time
_MOST_LABELS = 200
_ROWS_OF_A_REQUEST = 100


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
        self.client.wait(self.application_id, until="converged", timeout=_PATIENCE)

    def live_id(self) -> str:
        """Return the id of the model that serves."""
        live = self.client.application(self.application_id).live_model
        return live.id if live else ""

    def newest_promotion(self) -> Any:
        """Return the newest change of what serves, or refusal of one."""
        return list(self.client.promotions(self.application_id))[-1]

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
    live, test = application.live_model, application.test_quality
    assert live is not None
    year.note(
        "December",
        "first model",
        f"A first model serves: {live.name}, {live.quality:.3f} on validation rows.",
        f"easeml app create december.csv --target {TARGET} --models {_FIRST_MODEL} --max-tasks 1",
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
    client.limit_job(job.id, max_tasks=_TASKS)
    client.try_model(year.application_id, _BETTER_MODEL)
    year.settle()
    _note_decision(year, "January", "better model", f"easeml app try ID --model {_BETTER_MODEL}")
    year.december_model = year.live_id()


def calm_production(year: Year) -> None:
    """Requests are kept, their truth comes later, and the inputs are as before."""
    year.client.set_request_log(year.application_id, NewRequestLog(share=1.0, days=30.0))
    found = _live_through(year, 2)
    _note_watching(year, "February", "production", found)


def wrong_labels(year: Year) -> None:
    """A broken till feeds wrong labels: what learned them looks better, and is refused."""
    rows = with_wrong_labels(month_of_rows(3, 5 * year.rows, year.seed))
    before = {version.id for version in year.client.versions(year.application_id)}
    version = year.client.feed(year.application_id, year.write(rows, "till"))
    year.client.wait_version_ready(version.id)
    assert version.id not in before
    year.settle()
    _note_decision(year, "March", "bad model", "easeml app feed ID till.csv", rows_fed=len(rows))


def drift(year: Year) -> None:
    """Summer: advertising doubles, and the truth that comes says that the model is wrong."""
    found = _live_through(year, 6)
    _note_watching(year, "June", "drift", found)


def _live_through(year: Year, month: int) -> WatchReport:
    """Send a month's rows to the endpoint, tell what was true of them, and look at them."""
    rows = month_of_rows(month, year.rows, year.seed + 1)
    told = []
    for start in range(0, len(rows), _ROWS_OF_A_REQUEST):
        asked = rows.iloc[start : start + _ROWS_OF_A_REQUEST]
        answer = year.predicted(asked)
        for number, value in enumerate(asked[TARGET]):
            told.append({"request_id": answer.request_id, "row": number, "value": value})
    _wait_until_kept(year, len(rows))
    year.client.give_feedback(year.application_id, Feedback.model_validate(told))
    task = year.client.look_at_production(year.application_id)
    year.client.wait_task(task.id, timeout=_PATIENCE)
    return year.client.watch_report(year.application_id)


def _wait_until_kept(year: Year, rows: int) -> None:
    """Wait till the log has the rows: it is written off the path of the request."""
    ends = time.monotonic() + _PATIENCE
    while year.client.watch_report(year.application_id).waiting < rows:
        if time.monotonic() > ends:
            raise TimedOut("The requests were not kept.", where=year.application_id)
        time.sleep(0.2)


def _note_watching(year: Year, month: str, name: str, found: WatchReport) -> None:
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
        labelled=true.quality,
        labelled_interval=(true.low, true.high),
        labelled_rows=true.rows,
    )


def _note_decision(year: Year, month: str, name: str, command: str, **more: Any) -> None:
    """Keep what the gate decided last, and what is left of its test rows."""
    decided = year.newest_promotion()
    (gate,) = year.client.gates(year.application_id).gates
    year.note(
        month,
        name,
        f"{decided.state}: {decided.reason}",
        command,
        decision=decided.state,
        model_id=decided.model_id,
        steps_spent=gate.steps_spent,
        steps_left=gate.steps_left,
        worn_out=gate.worn_out,
        **more,
    )


QUICK = (first_model, set_gate, better_model, calm_production)
WHOLE = (*QUICK, wrong_labels, drift)

LEFT_OUT = (
    "a worn-out test set that is renewed: it takes new test rows and the gate set again by hand.",
    "last December's model picked again: the tool pick does it, and this story does not yet.",
    "a slice of mistakes that leads to cleaned cells: no command finds slices of mistakes yet.",
)
"""What the year of the plan has, and easeml cannot do yet."""
