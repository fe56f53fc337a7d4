"""Variants of models: the same model behind one transform more, which was added to a running easeml.

The search looks at a variant as at a model of its own, since what is known of the model's
configurations says little about it. It is called ``MODEL+TRANSFORM``.
"""

from collections.abc import Iterable
from dataclasses import replace

from easeml.modules import Module, Registry
from easeml.search import CostBelief
from easeml.service.search.arms import Arms
from easeml.service.search.candidates import keep_added
from easeml.store import Tables, Transaction
from easeml.store.records import Candidate, Job
from easeml.store.shapes import ModuleConfig

_BEHIND = "+"


def model_of(variant: str) -> str:
    """Return the name of the model of a variant; a model is a variant of its own."""
    return variant.partition(_BEHIND)[0]


def add_variants(
    tx: Transaction, registry: Registry, job: Job, models: Iterable[str], costs: CostBelief
) -> list[Candidate]:
    """Add a candidate of each model behind each added transform that it was not tried with.

    It has the best configuration of the model so far. Returns what was added: nothing where no
    transform was added, or none fits.
    """
    seen = registry.seen_by(job.tenant_id)
    transforms = _added_transforms(seen)
    if not transforms:
        return []
    tables = tx.scoped(job.tenant_id)
    arms = Arms(job, tables.candidates.list(job_id=job.id, limit=None))
    for model in models:
        for best in _trained(tables, job, arms.of(model))[:1]:
            _add_behind(arms, seen, best, transforms)
    return keep_added(tx, registry, job, arms.added, costs)


def _add_behind(
    arms: Arms, registry: Registry, best: Candidate, transforms: Iterable[Module]
) -> None:
    """Add a candidate behind each transform that fits, and that its model was not tried with."""
    for transform in transforms:
        variant = f"{best.model}{_BEHIND}{transform.name}"
        if _fits(registry, best, transform) and not arms.of(variant):
            chain = [*best.pipeline.transforms, ModuleConfig(transform.name)]
            arms.add(best.model, replace(best.pipeline, transforms=chain), variant)


def _added_transforms(seen: Registry) -> list[Module]:
    """Return the transforms that were added to this easeml and that new searches may use."""
    programs = [module for module in seen.of_kind("transform") if module.is_programs]
    return [module for module in programs if module.name not in seen.archived]


def jobs_with(tx: Transaction, module: str) -> set[str]:
    """Return the ids of the jobs that have candidates of a model, or behind an added transform."""
    candidates = tx.unscoped().candidates
    jobs = set(candidates.column("job_id", model=module))
    behind = f"{_BEHIND}{module}-"
    return jobs | {job for job, name in candidates.pick("job_id", "name") if behind in name}


def best_models(tx: Transaction, job: Job, most: int) -> list[str]:
    """Return the models of a job that have done best, the best first; variants are none."""
    tables = tx.scoped(job.tenant_id)
    trained = _trained(tables, job, tables.candidates.list(job_id=job.id, limit=None))
    models = dict.fromkeys(one.model for one in trained if one.variant == one.model)
    return list(models)[:most]


def _trained(tables: Tables, job: Job, candidates: list[Candidate]) -> list[Candidate]:
    """Return those of these candidates of a job that were trained, the best model's first."""
    by_id = {one.id: one for one in candidates}
    models = tables.models.list(job_id=job.id, candidate_id=[*by_id], limit=None)
    models.sort(key=lambda model: -model.quality)
    return [by_id[model.candidate_id] for model in models]


def _fits(registry: Registry, candidate: Candidate, transform: Module) -> bool:
    """Whether the transform takes what stands before the model, and the model what it gives."""
    if not candidate.pipeline.transforms:
        return False
    if candidate.pipeline.monotonic:
        return False  # nothing is known of how the features that it makes rise with columns
    before = registry.get(candidate.pipeline.transforms[-1].module).schema_out
    model = registry.get(candidate.model).schema_in
    assert before and transform.schema_in and transform.schema_out and model
    is_taken = not transform.schema_in.why_not(before.first)
    return is_taken and not model.why_not(transform.schema_out.first)
