"""The arms of a job while they become more: each candidate gets the next numbers."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from easeml.ids import new_id
from easeml.store.records import Candidate, Job, Json
from easeml.store.shapes import CandidatePipeline, ModuleConfig


class Arms:
    """The candidates that a job has, and those that are ``added`` to them.

    A variant never gets the same pipeline twice. Costs are not predicted yet.
    """

    def __init__(self, job: Job, there: Iterable[Candidate] = ()):
        self.added: list[Candidate] = []
        self._job = job
        self._count = 0
        self._of_variant: defaultdict[str, list[Candidate]] = defaultdict(list)
        for candidate in sorted(there, key=lambda one: one.arm):
            self._keep(candidate)

    def of(self, variant: str) -> list[Candidate]:
        """Return the candidates of a model, or of a variant, in order."""
        return self._of_variant.get(variant, [])

    def add(self, model: str, pipeline: CandidatePipeline, variant: str) -> None:
        """Add a pipeline of a variant; ``variant`` is the model where no transform was added."""
        same = self.of(variant)
        if pipeline in [one.pipeline for one in same]:
            return
        number = len(same) + 1
        is_default = number == 1 and variant == model
        candidate = Candidate(
            id=new_id("cand"),
            tenant_id=self._job.tenant_id,
            job_id=self._job.id,
            arm=self._count,
            name=model if is_default else f"{variant}-{number}",
            model=model,
            pipeline=pipeline,
            predicted_cost=0.0,
        )
        self._keep(candidate)
        self.added.append(candidate)

    def add_config(self, variant: str, config: Json) -> None:
        """Add a configuration of a variant that is there, behind its transforms, if it is new."""
        same = self.of(variant)
        known = [one.pipeline.model.config for one in same]
        if same and config not in known:
            first = same[0]
            chosen = ModuleConfig(first.model, config)
            self.add(first.model, replace(first.pipeline, model=chosen), variant)

    def _keep(self, candidate: Candidate) -> None:
        self._of_variant[candidate.variant].append(candidate)
        self._count += 1
