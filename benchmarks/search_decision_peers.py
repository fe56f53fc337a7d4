"""How long one decision takes beside general libraries: the next of 1,000 candidates after one more
observation.

    python benchmarks/search_decision_peers.py [--folder CACHE] [--rounds 20]

easeml: 100 tenants of 1,000 candidates, 16 devices; a decision looks at all of them
(``search_decision.py`` has the whole table). The peers are given *one* tenant: GPyTorch conditions
an exact Gaussian process with fixed parameters and predicts its 1,000 candidates; BoTorch rates
them by log expected improvement, as well without fitting anything; Optuna's GP sampler is asked for
its next trial, which fits its parameters. Peers are installed into an environment of their own
below ``--folder``. Prints the median and the 99th percentile in milliseconds by the number of
observations.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from common import CACHE, arguments, machine_line, read_options
from search_decision import measure

PACKAGES = ("torch==2.13.0", "gpytorch", "botorch", "optuna")
PEER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import botorch, gpytorch, optuna, torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP
optuna.logging.set_verbosity(optuna.logging.ERROR)
torch.set_num_threads(1)
rounds, told = int(sys.argv[1]), {}

def timed(act, count):
    act()
    found = []
    for _ in range(count):
        begin = time.perf_counter()
        act()
        found.append(1e3 * (time.perf_counter() - begin))
    return found

for n in map(int, sys.argv[2].split(",")):
    torch.manual_seed(0)
    x, y = torch.rand(n, 4, dtype=torch.double), torch.rand(n, 1, dtype=torch.double)
    candidates = torch.rand(1000, 4, dtype=torch.double)

    def predict():
        model = SingleTaskGP(x, y, outcome_transform=None)
        model.eval()
        with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
            posterior = model(candidates)
            return posterior.mean, posterior.variance

    def rate():
        model = SingleTaskGP(x, y, outcome_transform=None)
        model.eval()
        with torch.no_grad():
            return int(LogExpectedImprovement(model, best_f=y.max())(candidates.unsqueeze(1)).argmax())

    told.setdefault(f"GPyTorch {gpytorch.__version__}, posterior", {})[n] = timed(predict, rounds)
    told.setdefault(f"BoTorch {botorch.__version__}, log EI", {})[n] = timed(rate, rounds)
    if n <= 300:
        space = {f"x{i}": optuna.distributions.FloatDistribution(0, 1) for i in range(4)}
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.GPSampler(seed=0))
        for point, value in zip(x.tolist(), y[:, 0].tolist()):
            params = {f"x{i}": p for i, p in enumerate(point)}
            study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=value))
        told.setdefault(f"Optuna {optuna.__version__}, GP sampler", {})[n] = timed(
            lambda: study.ask(space), max(2, rounds // 10))
print(json.dumps({"torch": torch.__version__, "times": told}))
"""


def peers_python(folder: Path) -> Path:
    """Return the interpreter of the peers' environment, made where it is missing."""
    python = folder / "search_peers" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", *PACKAGES], check=True, stdout=subprocess.DEVNULL
        )
    return python


def main() -> None:
    """Print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--folder", type=Path, default=CACHE)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--observations", default="10,100,1000")
    options = read_options(parser, rounds=2, observations="10")
    counts = [int(count) for count in options.observations.split(",")]
    command = [peers_python(options.folder), "-c", PEER, str(options.rounds), options.observations]
    told = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    )
    print(machine_line("numpy"))
    print(f"torch {told['torch']} (one thread)")
    print(f"{'decision [ms]':<44}" + "".join(f"{f'{count} observations':>24}" for count in counts))
    ours = {
        count: measure(100, 1000, 16, 10 * options.rounds, count)[0].tolist() for count in counts
    }
    print_line("easeml, 100 tenants x 1,000 candidates", ours, counts)
    for name, times in told["times"].items():
        print_line(
            f"{name}, one tenant", {int(count): found for count, found in times.items()}, counts
        )


def print_line(name: str, times: dict[int, list[float]], counts: list[int]) -> None:
    """Print median and 99th percentile for each number of observations."""
    cells = [
        f"{np.median(times[count]):.3f} / {np.quantile(times[count], 0.99):.3f}"
        if count in times
        else "-"
        for count in counts
    ]
    print(f"{name:<44}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
