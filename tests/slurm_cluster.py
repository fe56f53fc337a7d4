"""A Slurm cluster on loopback: its controller, and a node of two processors that can be lost."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from service_process import LOOK_EVERY, free_port

_READY_SECONDS = 60.0
_PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")
_SETTINGS = {
    "ClusterName": "easeml",
    "AuthType": "auth/munge",
    "CommunicationParameters": "NoAddrCache,NoCtldInAddrAny,NoInAddrAny",
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_Core_Memory",
    "SlurmdParameters": "config_overrides",
    "SchedulerParameters": "sched_interval=1",
    "SlurmdTimeout": "5",
    "ReturnToService": "2",
    "MpiDefault": "none",
    "AccountingStorageType": "accounting_storage/none",
    "JobAcctGatherType": "jobacct_gather/none",
}


def lacks() -> str:
    """Return what this machine lacks for such a cluster; empty where it lacks nothing."""
    if os.getuid() != 0:
        return "a Slurm cluster for tests is started by root"
    missing = [name for name in _PROGRAMS if shutil.which(name, path=_path()) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


class SlurmCluster:
    """``environment``: what whoever uses it needs. ``work``: where nodes have attempts write."""

    name = "slurm"

    def __init__(self, folder: Path):
        self.port = free_port()
        self.work = folder / f"easeml-slurm-{os.getuid()}"
        self._folder = folder
        self._configuration = folder / "slurm.conf"
        self._programs: list[subprocess.Popen[bytes]] = []
        self.environment = {"SLURM_CONF": str(self._configuration), "TMPDIR": str(folder)}

    def start(self) -> None:
        """Start the controller, and a node."""
        key = self._folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        self._configure()
        places = ("socket", "pid-file", "log-file", "seed-file")
        options = [f"--{place}={self._folder / f'munge.{place}'}" for place in places]
        self._start("munged", "--foreground", "--force", f"--key-file={key}", *options)
        _wait_until(self._munge.exists)
        self._start("slurmctld", "-D", "-f", str(self._configuration))
        self._start_node()

    def replace_node(self) -> None:
        """Kill -9 the node with all that Slurm runs on it, and start another."""
        for pid in [*self._steps(), self._node.pid]:
            os.kill(pid, signal.SIGKILL)
        self._node.wait(_READY_SECONDS)
        self._start_node()

    def queue(self) -> list[str]:
        """Return the numbers of the jobs that wait or run."""
        return self._told("squeue", "--noheader", "--format=%i").split()

    def stop(self) -> None:
        """Stop all that runs."""
        self._told("scancel", "--user=root")
        for program in reversed(self._programs):
            program.terminate()
            program.wait(_READY_SECONDS)

    @property
    def _munge(self) -> Path:
        return self._folder / "munge.socket"

    def _configure(self) -> None:
        host = socket.gethostname().partition(".")[0]
        own = {
            "SlurmctldHost": f"{host}(127.0.0.1)",
            "SlurmUser": "root",
            "AuthInfo": f"socket={self._munge}",
            "SlurmctldPort": str(self.port),
            "SlurmdPort": str(free_port()),
            "StateSaveLocation": str(self._folder / "state"),
            "SlurmdSpoolDir": str(self._folder / "spool"),
            "SlurmctldPidFile": str(self._folder / "slurmctld.pid"),
            "SlurmdPidFile": str(self._folder / "slurmd.pid"),
        }
        lines = [f"{name}={value}" for name, value in {**_SETTINGS, **own}.items()]
        lines += [
            f"NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=8192",
            "PartitionName=main Nodes=node Default=YES MaxTime=INFINITE State=UP",
        ]
        self._configuration.write_text("\n".join(lines) + "\n")
        for name in ("state", "spool"):
            (self._folder / name).mkdir()

    def _start_node(self) -> None:
        self._node = self._start("slurmd", "-D", "-N", "node", "-f", str(self._configuration))
        _wait_until(lambda: self._told("sinfo", "--noheader", "--format=%t").strip().isalpha())

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **self.environment, "PATH": _path()}
        with (self._folder / f"{command[0]}.log").open("ab") as log:
            program = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        self._programs.append(program)
        return program

    def _steps(self) -> list[int]:
        """Return the processes that keep what runs on the node."""
        found = subprocess.run(["pgrep", "slurmstepd"], capture_output=True, text=True, check=False)
        pids = map(int, found.stdout.split())
        return [pid for pid in pids if self._is_ours(pid)]

    def _is_ours(self, pid: int) -> bool:
        return str(self._folder).encode() in Path(f"/proc/{pid}/environ").read_bytes()

    def _told(self, *command: str) -> str:
        environment = {**os.environ, **self.environment}
        run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        return run.stdout


def _path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin"


def _wait_until(holds: Callable[[], bool]) -> None:
    latest = time.monotonic() + _READY_SECONDS
    while not holds():
        if time.monotonic() > latest:
            raise TimeoutError("The cluster does not start.")
        time.sleep(LOOK_EVERY)
