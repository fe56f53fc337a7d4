"""The page of a job: one file that needs no service and no network."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from .plan import Member
from .states import State
from .usage import Usage, megabytes

MOST_ATTEMPTS = 5
"""That a page shows: it is written anew at each event."""
Run = tuple[int, Member]  # a process in an attempt


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows of a job.

    ``name``: its file. ``attempts``: those that are shown, the latest first. ``usages``: what each
    process used that has ended. ``logs``: the address of each log, from the page. ``reasons``: why
    attempts failed, a sentence each. ``tail``: the last lines of the log of who died last.
    """

    name: str
    state: State
    is_over: bool
    attempts: tuple[int, ...]
    usages: Mapping[Run, Usage]
    logs: Mapping[Run, str]
    reasons: tuple[str, ...]
    tail: tuple[str, ...]
    suggestions: tuple[str, ...]

    @property
    def standing(self) -> str:
        """Say in a word where the job stands."""
        if self.is_over:
            return self.state.ending
        return "ending" if self.state.is_ending else "running"


def page(shown: Shown) -> str:
    """Return the page of a job as HTML; while the job runs, it loads itself anew."""
    return _template().render(shown=shown)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("easeml.gang", ""),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["megabytes"] = megabytes
    return environment.get_template("page.html")
