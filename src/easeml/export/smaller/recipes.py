"""Ways to make a trained model smaller, and the model that is made by one."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

from easeml.export.smaller.files import shorten_files
from easeml.modules import manifest
from easeml.modules.contract import CanBeShortened
from easeml.modules.ensemble import TrainedEnsemble, load_model, member_folder, reweigh
from easeml.modules.pipeline import TrainedPipeline

_BITS = (23, 12, 10, 7)
_SHARES = (0.7, 0.5, 0.35, 0.25, 0.15, 0.1)
_WEIGHTS = (0.8, 0.5, 0.0)
_HALF = 10  # bits of the fraction of a number in half precision


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to make a model smaller.

    ``bits``: of the fraction of each number that is kept. ``share``: of the steps of a model that
    has such, as trees. ``weight``: of an ensemble; its heaviest members stay that have it together.
    """

    bits: int
    share: float = 1.0
    weight: float = 1.0

    def described(self) -> str:
        """Return what it does, for people."""
        parts = [f"numbers of {self.bits} bits"]
        if self.share < 1:
            parts.append(f"{self.share:.0%} of the steps")
        if self.weight == 0:
            parts.append("its heaviest member")
        elif self.weight < 1:
            parts.append(f"the members with {self.weight:.0%} of the weight")
        return ", ".join(parts)


def recipes_for(trained: TrainedPipeline | TrainedEnsemble) -> Iterator[Recipe]:
    """Yield the ways that change a model, the gentlest first."""
    members = trained.members if isinstance(trained, TrainedEnsemble) else (trained,)
    has_steps = any(isinstance(member.model, CanBeShortened) for member in members)
    shares = (1.0, *_SHARES) if has_steps else (1.0,)
    weights = (1.0, *_WEIGHTS) if len(members) > 1 else (1.0,)
    yield from map(Recipe, _BITS)
    # The first pair is all of the steps and all of the members.
    for share, weight in islice(product(shares, weights), 1, None):
        yield Recipe(_HALF, share, weight)


def write_smaller(
    trained: TrainedPipeline | TrainedEnsemble, model: Path, recipe: Recipe, out: Path
) -> None:
    """Write what was loaded from the folder ``model`` into the new folder ``out``, made smaller.

    Its manifests are still of the model before: see ``seal_smaller``.
    """
    if isinstance(trained, TrainedPipeline):
        _write_pipeline(trained, model, recipe, out)
        return
    kept = _heaviest(trained.weights, recipe.weight)
    members = set(map(str, range(len(trained.weights))))
    shutil.copytree(model, out, ignore=lambda folder, _: members if folder == str(model) else ())
    for place, number in enumerate(kept):
        source, target = member_folder(model, number), member_folder(out, place)
        _write_pipeline(trained.members[number], source, recipe, target)
    total = sum(trained.weights[number] for number in kept)
    reweigh(out, [trained.weights[number] / total for number in kept])


def seal_smaller(out: Path, **facts: Any) -> TrainedPipeline | TrainedEnsemble:
    """Let a model that ``write_smaller`` wrote prove itself by what it predicts now; return it.

    ``facts`` take the place of those in its manifest, as of ``pipeline.save``.
    """
    smaller = load_model(out)
    if isinstance(smaller, TrainedEnsemble):
        for place, member in enumerate(smaller.members):
            manifest.reseal(member_folder(out, place), member.predict)
    manifest.reseal(out, smaller.predict, **facts)
    return smaller


def _write_pipeline(trained: TrainedPipeline, model: Path, recipe: Recipe, out: Path) -> None:
    shutil.copytree(model, out)
    last = out / str(len(trained.transforms))
    if recipe.share < 1 and isinstance(trained.model, CanBeShortened):
        shutil.rmtree(last)
        last.mkdir()
        trained.model.shortened(recipe.share).save(last)
    for number in range(len(trained.transforms) + 1):
        shorten_files(out / str(number), recipe.bits)


def _heaviest(weights: tuple[float, ...], share: float) -> list[int]:
    """Return the places of the heaviest members that together have a share of the weight."""
    order = sorted(range(len(weights)), key=lambda place: -weights[place])
    kept, held = [], 0.0
    for place in order:
        if kept and held >= share:
            break
        kept.append(place)
        held += weights[place]
    return sorted(kept)
