"""Keep a small home of an easeml, so that later ones can show that they open it.

    python scripts/keep_home.py FILE.tar.gz [--source CHECKOUT/src]

Run it once for each release (``tests/homes`` has the files, ``tests/service/test_upgrade.py`` opens
them). A service of the release starts in a home of its own, learns from a table that is made here,
and predicts it. The archive has the home, without what it holds of secrets, and ``kept``: the
table, what was predicted, and the id of the application. ``--source``: the code of an earlier
release, run with the libraries of this environment.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

_ROWS = 120
_SEED = 7
_LOOKS = 60
_MODELS = "logistic,decision-tree-classifier"
_ANNOUNCED = re.compile(r"EASEML_URL=(\S+) EASEML_API_KEY=(\S+)")
_APPLICATION = re.compile(r"app_[a-z0-9]+")
_LEFT_OUT = {"internal.secret", "supervisor.lock", "easeml.db.lock", "logs", "tmp", "work"}


def customers() -> pd.DataFrame:
    """Return customers, of whom some left: a table with numbers, categories and gaps."""
    random = np.random.default_rng(_SEED)
    plans = random.choice(["basic", "plus", "pro"], _ROWS)
    months = random.integers(1, 60, _ROWS)
    ages = random.integers(18, 80, _ROWS).astype(float)
    ages[random.random(_ROWS) < 0.05] = np.nan
    risk = 0.06 * (30 - months) + np.where(plans == "basic", 1.2, -0.6)
    has_left = risk + random.normal(0, 0.4, _ROWS) > 0
    return pd.DataFrame(
        {
            "age": ages,
            "plan": plans,
            "months": months,
            "churn": np.where(has_left, "yes", "no"),
        }
    )


class Service:
    """An easeml of a checkout, in a home of its own."""

    def __init__(self, source: Path, home: Path):
        self._environment = {**os.environ, "PYTHONPATH": str(source)}
        command = self._command("up", "--home", str(home), "--port", "8791", "--workers", "1")
        self._process = subprocess.Popen(
            command, env=self._environment, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := _ANNOUNCED.search(line):
                url, key = found.groups()
                self._environment |= {"EASEML_URL": url, "EASEML_API_KEY": key}
            if "is up at" in line:
                return
        raise SystemExit("The service did not start.")

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "easeml.cli", *arguments]

    def run(self, *arguments: str) -> str:
        """Run a command of the checkout against the service; return what it printed."""
        done = subprocess.run(
            self._command(*arguments),
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout

    def stop(self) -> None:
        """End the service, and wait until all of it has ended."""
        self._process.terminate()
        self._process.communicate(timeout=60)


def live(service: Service, kept: Path) -> None:
    """Let a service learn from the table until its model has learned from all rows, and predict."""
    table = kept / "customers.csv"
    customers().to_csv(table, index=False)
    wishes = ["--target", "churn", "--models", _MODELS, "--max-seconds", "2", "--yes"]
    created = service.run("app", "create", str(table), *wishes)
    application = _APPLICATION.findall(created)[0]
    service.run("app", "wait", application, "--until", "converged", "--timeout", "120")
    _wait_until_refitted(service, application)
    service.run("predict", application, str(table), "--out", str(kept / "predicted.csv"))
    (kept / "application").write_text(application)


def _wait_until_refitted(service: Service, application: str) -> None:
    """Return when the model that serves has learned from all rows; exits where it never does."""
    for _ in range(_LOOKS):  # each is a process of its own, which takes its time
        if '"refitted": true' in service.run("app", "show", application, "--json"):
            return
    raise SystemExit("The model was not fitted on all rows.")


def main() -> None:
    """Write the archive that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, kept = Path(folder, "home"), Path(folder, "kept")
        kept.mkdir()
        service = Service(options.source.resolve(), home)
        try:
            live(service, kept)
        finally:
            service.stop()
        for name in _LEFT_OUT:
            place = home / name
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
        with tarfile.open(options.file, "w:gz") as archive:
            archive.add(home, "home")
            archive.add(kept, "kept")


if __name__ == "__main__":
    main()
