"""Suggest: what an optimizer that is a folder of programs would try next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from easeml.contract.tasks import Spec, TaskResult
from easeml.errors import EasemlError
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.service.search.suggesting import Wanted
    from easeml.store import Transaction
    from easeml.store.records import Task

_FAULT = "It did not answer: "


class TriedConfig(BaseModel):
    """A configuration that was or is being tried; ``quality`` None: it has none yet, or failed."""

    config: dict[str, Any]
    quality: float | None = None


class AskedModel(BaseModel):
    """A model that is to get more configurations."""

    model: str
    space: dict[str, Any]
    history: list[TriedConfig]


class SuggestSpec(Spec):
    """Suggest: configurations of some models, by an optimizer whose text is ``source``.

    ``number``: how many of each model are wanted.
    """

    kind: Literal["suggest"] = "suggest"
    optimizer: str
    source: str
    asked: list[AskedModel]
    number: int


def suggest(spec: SuggestSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{proposed, fault}``: configurations by model, and what the optimizer did wrong.

    After a fault it is asked no more. Writes no output.
    """
    from easeml.modules import parse
    from easeml.search.optimizers import Tried

    optimizer = parse(spec.source, "module.toml").make()
    proposed: dict[str, list[Any]] = {}
    for one in spec.asked:
        tried = [Tried(each.config, each.quality) for each in one.history]
        try:
            proposed[one.model] = optimizer.propose(one.space, tried, spec.number, seed=0)
        except EasemlError as error:
            return TaskResult(ok=True, value={"proposed": proposed, "fault": error.message})
    return TaskResult(ok=True, value={"proposed": proposed, "fault": ""})


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Add what was proposed to the search."""
    from easeml.service.modules import suggestions

    spec = SuggestSpec.model_validate(task.payload)
    value = result.value
    suggestions.take_in(
        tx, task, spec.optimizer, _wanted(spec), value["proposed"], str(value["fault"])
    )


def failed(tx: Transaction, task: Task) -> None:
    """Let the search go on without the optimizer."""
    from easeml.service.modules import suggestions

    spec = SuggestSpec.model_validate(task.payload)
    suggestions.take_in(tx, task, spec.optimizer, _wanted(spec), {}, _FAULT + task.error)


def _wanted(spec: SuggestSpec) -> list[Wanted]:
    from easeml.search.optimizers import Tried
    from easeml.service.search.suggesting import Wanted

    found = []
    for one in spec.asked:
        tried = [Tried(each.config, each.quality) for each in one.history]
        found.append(Wanted(one.model, one.space, tried))
    return found


KIND = Kind(
    name="suggest",
    title="Suggest configurations",
    about="Asks an added optimizer which configurations of the promising models to try next.",
    group="advise",
    spec=SuggestSpec,
    body=suggest,
    record=record,
    failed=failed,
    values=("proposed", "fault"),
    seconds=60.0,
)
