"""Inputs that several kinds ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.errors import EasemlError

if TYPE_CHECKING:
    from easeml.store import Tables


def version_of_job(tables: Tables, job_id: str) -> str:
    """Return the digest of the version that a job learns from; raises where it has no tables."""
    version = tables.versions.get(tables.jobs.get(job_id).version_id)
    if not version.artefact:
        raise EasemlError("The version of this job has no tables.", where=version.id)
    return version.artefact
