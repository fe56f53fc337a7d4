"""A kind of task that tells how many threads its numerical libraries use, and how nice it is."""

import os
from pathlib import Path
from typing import Literal

from threadpoolctl import threadpool_info

from easeml.contract.states import Lane
from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind


class CountSpec(Spec):
    """Nothing to say."""

    kind: Literal["count-threads"] = "count-threads"


def count_threads(spec: CountSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{told, used, nice}``: the number in the environment, that of NumPy's library, and the
    nice value of this process.
    """
    import numpy  # its library is loaded

    assert numpy.ones(2) @ numpy.ones(2) == 2
    used = max(library["num_threads"] for library in threadpool_info())
    return TaskResult(
        ok=True, value={"told": os.environ["OMP_NUM_THREADS"], "used": used, "nice": os.nice(0)}
    )


KIND = Kind(
    name="count-threads",
    title="Count threads",
    about="Counts threads.",
    group="advise",
    lane=Lane.SEARCH,
    spec=CountSpec,
    body=count_threads,
    inputs=lambda tables, task: {},
    record=lambda tx, task, result, digests: None,
)
