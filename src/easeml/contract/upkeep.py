"""What the commands say that look after an installation: backups, drills and the doctor's findings."""

from enum import StrEnum

from pydantic import Field

from easeml.contract.resources import Answer


class Snapshot(Answer):
    """One state of an installation in a backup.

    ``name`` tells when it was made (UTC). ``size``: bytes of its artefacts, of which ``added`` were
    not in the backup before. ``lost``: artefacts that could not be read any more, as tenant/digest.
    """

    name: str
    version: str  # of the easeml that made it
    schema_version: str
    database: str  # digest of its file
    artefacts: int
    size: int
    added: int
    lost: list[str] = Field(default_factory=list)


class Drilled(Answer):
    """What became of one application in a drill; ``error`` is empty where its model predicts."""

    application_id: str
    name: str
    model_name: str
    error: str = ""


class FindingState(StrEnum):
    """How bad it is: ``WARNING`` may wait, ``FAILING`` may not."""

    OK = "ok"
    WARNING = "warning"
    FAILING = "failing"


class Finding(Answer):
    """What the doctor found at one place. ``repaired``: it was not well, and is now."""

    check: str
    state: FindingState
    message: str
    remedy: str = ""
    repaired: bool = False
