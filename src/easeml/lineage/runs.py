"""Running a file of steps, and what is known of the last run: what is stale, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from easeml.lineage.cache import FolderCache
from easeml.lineage.evaluation import evaluate
from easeml.lineage.expectations import is_met, summary
from easeml.lineage.fingerprints import canonical, value_digest
from easeml.lineage.nodes import Node, Value, short
from easeml.lineage.outputs import Outputs
from easeml.lineage.steps import Flow, Step, input_names, nodes_of
from easeml.relation import Relation

_SECTION = "flows"  # the folder of records beside the cache's results


@dataclass(frozen=True)
class StepRecord:
    """What decided a step's key: operator, its version, parameters as digested text, inputs.

    ``shown``: the parameters as people read them; ``key``: the step's key.
    """

    key: str
    operator: str
    version: str
    parameters: Mapping[str, str]
    shown: Mapping[str, str]
    inputs: Sequence[str]


Records = Mapping[str, StepRecord]
"""By name of the step."""


@dataclass(frozen=True)
class StepState:
    """Whether a step's result is there (``current``), and why not: sentences."""

    name: str
    current: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepResult:
    """A step that was run. ``computed``: now, not taken from the cache.

    ``summary``: what came out, in few words; empty where that was not noted. ``met``: whether it is
    as expected; None where it cannot be told, or nothing is expected.
    """

    name: str
    computed: bool
    summary: str
    expect: str
    met: bool | None


def _tell_nobody(result: StepResult) -> None:
    """Do nothing with what a step gave."""


class FlowRuns:
    """A flow with the folder that keeps its results and what is known of its last run."""

    def __init__(self, flow: Flow, title: str, folder: str | Path):
        """``title`` names the flow among those that share ``folder``. Raises InvalidInput."""
        self.flow = flow
        self.nodes = nodes_of(flow)
        self.cache = FolderCache(Path(folder) / "results")
        self._outputs = Outputs(Path(folder) / "results")
        self._title = title
        self._record = Path(folder) / _SECTION / f"{title}.json"

    def run(self, told: Callable[[StepResult], None] = _tell_nobody) -> list[StepResult]:
        """Compute every step whose result is not there, and look at what is expected.

        What was computed is kept when a later step fails. ``told`` is called after each step.

        Raises:
            NodeFailed: naming the step that failed.
        """
        now = records_of(self.nodes)
        before = self.last_run()
        known = {name: before[name] for name in before if name in now}
        results = []
        for name, node in self.nodes.items():
            found = self._result(name, node)
            self._outputs.note(node.key, self._title, self.flow.steps[name], found.summary)
            known[name] = now[name]
            self._remember(known)
            results.append(found)
            told(found)
        return results

    def value(self, name: str) -> Value:
        """Return what a step gives. Raises NodeFailed."""
        return evaluate(self.nodes[name], cache=self.cache)

    def digests(self) -> dict[str, str]:
        """Return the digests of the relations that steps gave, of those whose results are there."""
        found = {}
        for name, node in self.nodes.items():
            value = self.cache.get(node.key)
            if isinstance(value, Relation):
                found[name] = value_digest(value)
        return found

    def states(self) -> list[StepState]:
        """Say of each step whether its result is there, and if not, why not."""
        before = self.last_run()
        changed = changes(before, records_of(self.nodes))
        states = []
        for name, node in self.nodes.items():
            if self.cache.has(node.key):
                states.append(StepState(name, current=True))
                continue
            reasons = ["It was never run."]
            if name in before:
                reasons = changed.get(name) or ["Its result was thrown away."]
            states.append(StepState(name, current=False, reasons=tuple(reasons)))
        return states

    def last_run(self) -> Records:
        """Return what decided the keys when the steps were last run; empty where they never were."""
        try:
            written = json.loads(self._record.read_text("utf-8"))
            return {name: StepRecord(**record) for name, record in written.items()}
        except (OSError, ValueError, TypeError):  # without a readable record, nothing is known
            return {}

    def _result(self, name: str, node: Node) -> StepResult:
        is_there = self.cache.has(node.key)
        step = self.flow.steps[name]
        is_looked_at = step.expect or step.content
        if is_there and not is_looked_at:
            said = self._outputs.summary(node.key, self._title, step)
            return StepResult(name, computed=False, summary=said, expect="", met=None)

        value = evaluate(node, cache=self.cache)
        met = _expectations_met(step, value)
        return StepResult(
            name,
            computed=not is_there,
            summary=summary(value),
            expect=" and ".join(met),
            met=_all(met.values()),
        )

    def _remember(self, records: Records) -> None:
        self._record.parent.mkdir(parents=True, exist_ok=True)
        written = {name: asdict(record) for name, record in records.items()}
        part = self._record.with_suffix(".part")
        part.write_text(json.dumps(written, indent=1), "utf-8")
        part.replace(self._record)


def _expectations_met(step: Step, value: Value) -> dict[str, bool | None]:
    """Tell of each thing that is expected of a step whether it is so; None: it cannot be told."""
    met: dict[str, bool | None] = {}
    if step.expect:
        met[step.expect] = is_met(step.expect, value, step.name)
    if step.content:
        met[f"content {step.content[:8]}"] = value_digest(value) == step.content
    return met


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Tell whether all is as expected; None where that cannot be told, or nothing is expected."""
    found = set(answers)
    if False in found:
        return False
    if found == {True}:
        return True
    return None


def records_of(nodes: Mapping[str, Node]) -> dict[str, StepRecord]:
    """Return what decides the key of each step."""
    names = {id(node): name for name, node in nodes.items()}
    records = {}
    for name, node in nodes.items():
        parameters = {}
        shown = {}
        for key, value in node.parameters.items():
            parameters[key] = canonical(value, f"{name}, {key}")
            shown[key] = short(value)
        records[name] = StepRecord(
            key=node.key,
            operator=node.operator.name,
            version=node.operator.version,
            parameters=parameters,
            shown=shown,
            inputs=input_names(node, names),
        )
    return records


def changes(before: Records, now: Records) -> dict[str, list[str]]:
    """Return, for each step that differs, what is different, as sentences."""
    found: dict[str, list[str]] = {}
    for name in {**now, **before}:
        if name not in now:
            found[name] = ["It was removed."]
        elif name not in before:
            found[name] = ["It was added."]
        elif before[name].key != now[name].key:
            found[name] = _differences(before[name], now[name], before, now)
    return found


def _differences(old: StepRecord, new: StepRecord, before: Records, now: Records) -> list[str]:
    """Return what is different in two records of one step."""
    if old.operator != new.operator:
        return [f"It does {new.operator} instead of {old.operator}."]
    said = []
    if old.version != new.version:
        said.append(f"The code of {new.operator} changed.")
    said += _changed_parameters(old, new)
    if list(old.inputs) != list(new.inputs):
        said.append(f"It reads {', '.join(new.inputs)} instead of {', '.join(old.inputs)}.")
    else:
        said += _changed_inputs(new.inputs, before, now)
    return said


def _changed_inputs(names: Sequence[str], before: Records, now: Records) -> list[str]:
    """Return, a sentence each, which inputs of a step are others than when it was run."""
    old_keys = {name: record.key for name, record in before.items()}
    changed = [name for name in names if old_keys.get(name) != now[name].key]
    return list(map("Its input {!r} changed.".format, changed))


def _changed_parameters(old: StepRecord, new: StepRecord) -> list[str]:
    """Return what is different in the parameters of two records, a sentence each."""
    said = []
    for key in {**old.parameters, **new.parameters}:
        if old.parameters.get(key) != new.parameters.get(key):
            said.append(_changed_parameter(key, old.shown, new.shown))
    return said


def _changed_parameter(key: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Say how a parameter differs, as people read it before and now."""
    before = old.get(key, "left out")
    now = new.get(key, "left out")
    if before == now:
        return f"The content of {key} ({now}) changed."
    return f"{key} is {now}; it was {before}."
