"""The paper's headline through the real scheduler: its store, its log, its queue, its learned costs.

    python benchmarks/headline_live.py [--seeds 30] [--devices 1,4,16]

Li et al. (Ease.ml, PVLDB 2018) replay 22 data sets and 8 networks: 10 data sets are tenants under
test, the others are what the service has done before. Here ``engine.Scheduler`` decides on a
database of its own, as in a running easeml, for devices whose bodies sleep
(``sleeping_devices.py``). Qualities and seconds are those of the workload. Nobody tells the
scheduler what a run costs: it believes what finished runs taught it.

Each line of the table is a policy on the same draws: the area under the average loss (the total
regret, as a share of what it would be if nobody ever got a model), the share of all costs to four
loss levels, and how many times the default's cost that is, at the level where the gap is largest.
``simulated`` is the default in the simulator, on the same draws with learned costs and with exact
ones. Differences are paired, with their 95 % interval.
``--keep DIR``: what ran is kept there, so that a run that was cut off goes on.
"""

import pickle
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.cli.workload_files import read_workload
from easeml.contract.states import JobState, Lane, TaskState
from easeml.ids import new_id
from easeml.search.simulator import (
    LEVELS,
    Curve,
    Run,
    Setting,
    Trace,
    Workload,
    compare,
    curve,
    draw,
    half_width,
)
from easeml.store import Transaction
from easeml.store.records import Candidate, Job, Task
from sleeping_devices import Body, SleepingDevices, add_tenant

POLICIES = ("default", "hybrid", "most-cited", "most-recent")
SIMULATED = {"simulated, learned costs": "learned", "simulated, exact costs": "measured"}
BEGINNING = 1_000_000.0  # seconds of the epoch at which the tenants under test come
MEMORY = Path("/dev/shm")


@dataclass
class Lab:
    """The tenants of a workload on devices that sleep."""

    folder: Path
    workload: Workload
    devices: int
    policy: str

    def __post_init__(self) -> None:
        self._sleeping = SleepingDevices(self.folder, self.devices, self._body, self.policy)
        self._tenant_of: dict[str, int] = {}
        self._cells: dict[str, tuple[int, int]] = {}  # tenant and network by candidate
        self._model_of = {name: place for place, name in enumerate(self.workload.models)}

    def remember(self, past: Workload) -> None:
        """Note that every network was trained for the tenants of the past."""
        with self._sleeping.store.write() as tx:
            for place, name in enumerate(past.tenants):
                self._sleeping.clock = float(place)
                job, candidates = add_tenant(tx, name, past.models, JobState.STOPPED)
                for model, candidate in enumerate(candidates):
                    quality, cost = past.quality[place, model], past.cost[place, model]
                    _add_finished_task(tx, job, candidate, float(quality), float(cost))

    def search(self) -> Trace:
        """Let all tenants of the workload come at once, and search until each has its best."""
        sleeping = self._sleeping
        sleeping.clock = BEGINNING
        with sleeping.store.write() as tx:
            for place, name in enumerate(self.workload.tenants):
                job, _ = add_tenant(tx, name, self.workload.models)
                self._tenant_of[job.id] = place
        sleeping.start()
        while self._somebody_waits():
            sleeping.decide()
            sleeping.pass_to(sleeping.next_end)
        sleeping.close()
        return Trace(tuple(self._runs()), 0.0)

    def _somebody_waits(self) -> bool:
        reached = np.zeros(len(self.workload.tenants))
        for run in self._runs():
            reached[run.tenant] = np.fmax(reached[run.tenant], run.quality)
        return bool((reached < self.workload.best).any())

    def _runs(self) -> list[Run]:
        runs = []
        for slept in self._sleeping.slept:
            tenant, model = self._cells[slept.task.candidate_id]
            quality = float(self.workload.quality[tenant, model]) if slept.whole else np.nan
            start, end = slept.began - BEGINNING, slept.ended - BEGINNING
            runs.append(Run(tenant, model, slept.device, start, end, quality))
        return runs

    def _body(self, candidate: Candidate) -> Body:
        tenant, model = self._tenant_of[candidate.job_id], self._model_of[candidate.model]
        self._cells[candidate.id] = (tenant, model)
        seconds = float(self.workload.cost[tenant, model])
        return Body(seconds, float(self.workload.quality[tenant, model]))


def _add_finished_task(
    tx: Transaction, job: Job, candidate: Candidate, quality: float, cost: float
) -> None:
    tx.scoped(job.tenant_id).tasks.add(
        Task(
            new_id("task"),
            job.tenant_id,
            "train",
            Lane.SEARCH,
            {},
            job_id=job.id,
            candidate_id=candidate.id,
            state=TaskState.DONE,
            quality=quality,
            cost=cost,
        )
    )


def past_of(workload: Workload, setting: Setting, seed: int) -> Workload:
    """Return the tenants that ``draw`` leaves out: what the service did before."""
    order = np.random.default_rng(seed).permutation(len(workload.tenants))
    return workload.of(order[setting.tenants :])


def live_curve(workload: Workload, setting: Setting, policy: str, seed: int) -> Curve:
    """Return the curve of one policy on one draw through the real scheduler."""
    _, work = draw(workload, setting, seed)
    where = MEMORY if MEMORY.is_dir() else None  # commits need not reach a disk here
    with tempfile.TemporaryDirectory(prefix="easeml-headline-", dir=where) as folder:
        lab = Lab(Path(folder), work, setting.devices, policy)
        lab.remember(past_of(workload, setting, seed))
        return curve(lab.search(), work)


def simulated_curve(workload: Workload, setting: Setting, costs: str, seed: int) -> Curve:
    """Return the curve of the default policy on one draw in the simulator."""
    one = replace(setting, costs=costs, seeds=1, first_seed=seed)
    return compare(workload, ["default"], one).curves["default"][0]


def curve_of(workload: Workload, setting: Setting, name: str, seed: int) -> Curve:
    """Return the curve of a line of the table on one draw."""
    if name in SIMULATED:
        return simulated_curve(workload, setting, SIMULATED[name], seed)
    return live_curve(workload, setting, name, seed)


def kept_curve(
    workload: Workload, setting: Setting, name: str, seed: int, keep: Path | None
) -> Curve:
    """Return ``curve_of``, from the folder ``keep`` where it was computed before."""
    if keep is None:
        return curve_of(workload, setting, name, seed)
    path = keep / f"{name.replace(' ', '-')}_{setting.devices}_{seed}.pickle"
    if not path.is_file():
        path.write_bytes(pickle.dumps(curve_of(workload, setting, name, seed)))
    return pickle.loads(path.read_bytes())


def report(curves: dict[str, list[Curve]], devices: int) -> list[list[str]]:
    """Print the table for a number of devices; return its rows."""
    areas = {name: np.array([one.area for one in ran]) for name, ran in curves.items()}
    shares = {
        name: np.array([[one.share_to(level) for level in LEVELS] for one in ran])
        for name, ran in curves.items()
    }
    own_area, own_shares = areas["default"], shares["default"].mean(axis=0)
    titles = "".join(f"{f'to {level:g}':>9}" for level in LEVELS)
    print(f"\n{devices} devices, {len(own_area)} draws")
    print(f"{'':28}{'area':>8}{'default - it':>20}{titles}{'times':>8}")
    rows = []
    for name in curves:
        difference = own_area - areas[name]
        middle = float(difference.mean())
        half = 0.0 if name == "default" else float(half_width(difference))
        means = shares[name].mean(axis=0)
        times = float((means / own_shares).max())
        cells = "".join(f"{share:9.4f}" for share in means)
        compared = f"{middle:+.4f} +-{half:.4f}"
        print(f"{name:28}{areas[name].mean():8.4f}{compared:>20}{cells}{times:8.1f}")
        numbers = [areas[name].mean(), middle, half, *means, times]
        rows.append([str(devices), name, *(f"{number:.5f}" for number in numbers)])
    return rows


def main() -> None:
    """Print the tables."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--workload", default="workload_easeml_deeplearning")
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--devices", default="1,4,16")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--keep", type=Path, help="folder of what ran already")
    options = read_options(parser, seeds=1, devices="4", policies="default")
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    print(machine_line("numpy", "sqlalchemy"))
    workload, _ = read_workload(options.data / options.workload)
    names = [*options.policies.split(","), *SIMULATED]
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    rows = []
    for devices in map(int, options.devices.split(",")):
        setting = Setting(devices=devices)
        curves = {}
        for name in names:
            curves[name] = [
                kept_curve(workload, setting, name, seed, options.keep) for seed in seeds
            ]
        rows += report(curves, devices)
    titles = ["devices", "policy", "area", "default - it", "half width"]
    titles += [*(f"share to {level:g}" for level in LEVELS), "times the default's"]
    write_table(options.out / "table.csv", titles, rows)


if __name__ == "__main__":
    main()
