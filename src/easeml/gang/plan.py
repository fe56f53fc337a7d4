"""What a job is: its roles, read from a TOML file, and what each process is told (pure)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, ByteSize, ConfigDict, Field, StringConstraints, ValidationError

from easeml.errors import InvalidInput

MOST_MEMBERS = 256
_REMEDY = "docs/tutorials/gang.md has an example and every key."

# Names become parts of the names of variables, so they hold nothing that could join two of them.
_NAME = r"^[a-z][a-z0-9]{0,31}$"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_TEXT = r"^[^\x00]*$"
_PATTERNS = {
    _NAME: "A name begins with a letter, and has small letters and digits alone",
    _VARIABLE: "A variable has letters, digits and underscores, and begins with no digit",
    _TEXT: "A command or a value cannot hold a null character",
}

Name = Annotated[str, StringConstraints(pattern=_NAME)]
Variable = Annotated[str, StringConstraints(pattern=_VARIABLE)]
Text = Annotated[str, StringConstraints(pattern=_TEXT)]


class Role(BaseModel):
    """Processes of one program.

    ``ports``: names of free ports of this machine, each process has one of each. ``background``:
    the job does not wait for its end, as of a server that the other roles use. ``memory``: the most
    bytes that one process may have.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: list[Text] = Field(min_length=1)
    count: int = Field(1, ge=1, le=MOST_MEMBERS)
    env: dict[Variable, Text] = Field(default_factory=dict)
    ports: list[Name] = Field(default_factory=list)
    background: bool = False
    memory: ByteSize | None = Field(None, ge=1_000_000)


class Job(BaseModel):
    """A job: ``roles`` by name; ``restarts``: how often all are started again after one died.

    ``grace``: seconds between asking a process to end and killing it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    roles: dict[Name, Role] = Field(min_length=1)
    restarts: int = Field(0, ge=0, le=1000)
    grace: float = Field(10.0, ge=0, le=3600, allow_inf_nan=False)
    env: dict[Variable, Text] = Field(default_factory=dict)

    @property
    def members(self) -> tuple["Member", ...]:
        """All processes, by role in the order of the file."""
        found = []
        for name, role in self.roles.items():
            found += map(partial(Member, name), range(role.count))
        return tuple(found)

    @property
    def memory(self) -> int:
        """The bytes that all processes with a limit may have together."""
        limits = [(role.memory or 0) * role.count for role in self.roles.values()]
        return sum(limits)

    def is_background(self, member: "Member") -> bool:
        """Does the job end without waiting for it?"""
        return self.roles[member.role].background


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a job. ``index``: its number within its role, from 0."""

    role: str
    index: int

    def __str__(self) -> str:
        return f"{self.role} {self.index}"


@dataclass(frozen=True, slots=True)
class Port:
    """A port by name: that of one process."""

    member: Member
    name: str

    @property
    def variable(self) -> str:
        """The variable that tells it to all processes, such as ``EASEML_PORT_SERVER_0_HTTP``."""
        return f"EASEML_PORT_{self.member.role}_{self.member.index}_{self.name}".upper()


def read_job(text: str, where: str) -> Job:
    """Return the job that a text describes.

    ``where``: what errors call the text. Raises ``InvalidInput`` with the place in it.
    """
    try:
        job = Job.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"This is not TOML: {error}.", where=where, remedy=_REMEDY) from error
    except ValidationError as error:
        raise _refusal(error, where) from error
    _check_count(job, where)
    for name, role in job.roles.items():
        _check_ports(role, f"{where}: roles.{name}.ports")
    _check_end(job, where)
    return job


def _check_count(job: Job, where: str) -> None:
    """Raise ``InvalidInput`` for a job of too many processes."""
    count = len(job.members)
    if count > MOST_MEMBERS:
        raise InvalidInput(
            f"These are {count} processes.",
            where=f"{where}: roles",
            remedy=f"A job has at most {MOST_MEMBERS}.",
        )


def _check_ports(role: Role, where: str) -> None:
    """Raise ``InvalidInput`` where two ports of a role have one name."""
    if len(set(role.ports)) < len(role.ports):
        raise InvalidInput("A name stands here twice.", where=where, remedy=_REMEDY)


def _check_end(job: Job, where: str) -> None:
    """Raise ``InvalidInput`` for a job that would have no end."""
    if all(role.background for role in job.roles.values()):
        raise InvalidInput(
            "All roles are in the background, so the job has no end.",
            where=f"{where}: roles",
            remedy="Take background from the role whose end is the end of the job.",
        )


def ports_of(job: Job) -> tuple[Port, ...]:
    """Return all ports that the processes of a job need."""
    found = []
    for member in job.members:
        found += map(partial(Port, member), job.roles[member.role].ports)
    return tuple(found)


def environment_of(
    job: Job, member: Member, attempt: int, checkpoint: str, ports: Mapping[Port, int]
) -> dict[str, str]:
    """Return the variables that a process gets beside those of the shell.

    ``attempt``: how often the job was started, from 1. ``checkpoint``: the folder that is kept
    from one attempt to the next.
    """
    role = job.roles[member.role]
    told = {
        "EASEML_ROLE": member.role,
        "EASEML_INDEX": str(member.index),
        "EASEML_ATTEMPT": str(attempt),
        "EASEML_CHECKPOINT": checkpoint,
    }
    for name, other in job.roles.items():
        told[f"EASEML_COUNT_{name.upper()}"] = str(other.count)
    for port, number in ports.items():
        told[port.variable] = str(number)
    return {**job.env, **role.env, **told}


def _refusal(error: ValidationError, where: str) -> InvalidInput:
    """Return what is wrong with a description: the first fault, and the others after it."""
    first, *others = error.errors()
    also = [f"{_place(fault)}: {_sentence(fault)}." for fault in others]
    remedy = " ".join(["Also wrong:", *also, _REMEDY]) if also else _REMEDY
    return InvalidInput(f"{_sentence(first)}.", where=f"{where}: {_place(first)}", remedy=remedy)


def _place(fault: Any) -> str:
    return ".".join(str(part) for part in fault["loc"] if part != "[key]")


def _sentence(fault: Any) -> str:
    """Say what is wrong, as pydantic tells it or in plainer words."""
    if fault["type"] == "extra_forbidden":
        return "There is no such key"
    if fault["type"] == "string_pattern_mismatch":
        return _PATTERNS[fault["ctx"]["pattern"]]
    return fault["msg"].rstrip(".")
