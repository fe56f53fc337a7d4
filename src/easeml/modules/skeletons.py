"""Working folders to begin a module with, in Python or shell: a model, or an objective."""

import shutil
from pathlib import Path

from easeml.errors import Conflict, InvalidInput

from .packed import DESCRIPTION, RUN

LANGUAGES = ("python", "shell", "r")
_TOML = """\
name = "{name}"
kind = "model"
version = "1.0"
contract = 1
title = "{title}"
about = "Predicts the class whose mean is nearest."
accepts = "classification"

[runtime]
kind = "process"
data = "csv"
{space}"""
_SPACE = """
[space.sharpness]
".float" = [0.1, 10.0]
".scale" = "log"
"""
_PYTHON_TRAIN = '''\
#!/usr/bin/env python3
"""train --data DIR --config FILE --output DIR: learn the mean of each class."""

import json
import sys
from pathlib import Path

import numpy as np

data, config, output = (Path(sys.argv[place]) for place in (2, 4, 6))
features = np.loadtxt(data / "features.csv", delimiter=",", skiprows=1, ndmin=2)
target = np.loadtxt(data / "target.csv", skiprows=1)
about = json.loads((data / "about.json").read_text())

means = [features[target == label].mean(axis=0) for label in range(about["classes"])]
print(json.dumps({"step": 1, "quality": None}))
np.save(output / "means.npy", np.stack(means))
(output / "config.json").write_text(config.read_text())
'''
_PYTHON_PREDICT = '''\
#!/usr/bin/env python3
"""predict --data DIR --memory DIR --output DIR: nearer means are more probable."""

import json
import sys
from pathlib import Path

import numpy as np

data, memory, output = (Path(sys.argv[place]) for place in (2, 4, 6))
features = np.loadtxt(data / "features.csv", delimiter=",", skiprows=1, ndmin=2)
means = np.load(memory / "means.npy")
sharpness = json.loads((memory / "config.json").read_text())["sharpness"]

squares = ((features[:, None, :] - means[None, :, :]) ** 2).mean(axis=2)
weights = np.exp(-sharpness * (squares - squares.min(axis=1, keepdims=True)))
shares = weights / weights.sum(axis=1, keepdims=True)
header = ",".join(f"p{label}" for label in range(shares.shape[1]))
np.savetxt(output / "predictions.csv", shares, "%.17g", ",", header=header, comments="")
'''
_SHELL_TRAIN = """\
#!/bin/sh
# train --data DIR --config FILE --output DIR: learn the mean of each class.
exec awk -F, '
  FNR == 1 { file++; next }
  file == 1 { label[FNR] = $1; rows[$1]++; if ($1 > last) last = $1; next }
  { width = NF; for (i = 1; i <= NF; i++) sum[label[FNR], i] += $i }
  END {
    for (c = 0; c <= last; c++) {
      for (i = 1; i <= width; i++) {
        printf "%s%.17g", (i > 1 ? "," : ""), sum[c, i] / rows[c] > output
      }
      print "" > output
    }
  }
' output="$6/means.csv" "$2/target.csv" "$2/features.csv"
"""
_SHELL_PREDICT = """\
#!/bin/sh
# predict --data DIR --memory DIR --output DIR: nearer means are more probable.
exec awk -F, '
  FNR == 1 { file++ }
  file == 1 { classes = FNR; for (i = 1; i <= NF; i++) mean[FNR, i] = $i; next }
  FNR == 1 {
    for (c = 1; c <= classes; c++) printf "%sp%d", (c > 1 ? "," : ""), c - 1 > output
    print "" > output
    next
  }
  {
    for (c = 1; c <= classes; c++) {
      far[c] = 0
      for (i = 1; i <= NF; i++) far[c] += ($i - mean[c, i]) ^ 2 / NF
      if (c == 1 || far[c] < least) least = far[c]
    }
    total = 0
    for (c = 1; c <= classes; c++) total += weight[c] = exp(least - far[c])
    for (c = 1; c <= classes; c++) printf "%s%.17g", (c > 1 ? "," : ""), weight[c] / total > output
    print "" > output
  }
' output="$6/predictions.csv" "$4/means.csv" "$2/features.csv"
"""
_OBJECTIVE_TOML = """\
name = "{name}"
kind = "objective"
version = "1.0"
contract = 1
title = "{title}"
about = "The share predicted right, where rows of the last class count twice."
accepts = "classification"

[runtime]
kind = "process"
data = "csv"

[measure]
worst = 0.0
best = 1.0
"""
_PYTHON_EVAL = '''\
#!/usr/bin/env python3
"""eval --data DIR --output DIR: the share predicted right, the last class counting twice."""

import json
import sys
from pathlib import Path

import numpy as np

data, output = Path(sys.argv[2]), Path(sys.argv[4])
about = json.loads((data / "about.json").read_text())

values = []
for file in sorted(data.glob("*.csv")):
    table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
    actual, said = table[:, 0], table[:, 1:].argmax(axis=1)
    weights = np.where(actual == about["classes"] - 1, 2.0, 1.0)
    values.append(np.average(actual == said, weights=weights))
np.savetxt(output / "values.csv", values, "%.17g", header="value", comments="")
'''
_SHELL_EVAL = """\
#!/bin/sh
# eval --data DIR --output DIR: the share predicted right, the last class counting twice.
exec awk -F, '
  FNR == 1 { table++; next }
  {
    said = 2
    for (i = 3; i <= NF; i++) if ($i > $said) said = i
    weight = ($1 == NF - 2) ? 2 : 1
    total[table] += weight
    if ($1 == said - 2) right[table] += weight
  }
  END {
    print "value" > output
    for (i = 1; i <= table; i++) printf "%.17g\\n", right[i] / total[i] > output
  }
' output="$4/values.csv" "$2"/*.csv
"""


def make(folder: Path, kind: str, language: str) -> list[Path]:
    """Write a working module into a new or empty folder, and return its files.

    Raises ``InvalidInput`` for a kind or language that there is no skeleton of, ``Conflict`` where
    the folder has files.
    """
    if kind not in RUN:
        raise InvalidInput(
            f"Folders of programs are models or objectives; there is no skeleton of kind {kind!r}.",
            where="--kind",
            remedy="Write a class: docs/extending tells how for each kind.",
        )
    if language == "r":
        raise _no_r()
    if language not in LANGUAGES:
        raise InvalidInput(
            "The language is not known.",
            where="--language",
            remedy=f"Languages: {', '.join(LANGUAGES)}.",
        )
    name = folder.resolve().name.lower()
    files = _of_objective(name, language) if kind == "objective" else _of_model(name, language)
    if folder.exists() and any(folder.iterdir()):
        remedy = "Name a folder that is not there yet."
        raise Conflict("The folder is not empty.", where=str(folder), remedy=remedy)
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, text in files.items():
        path = folder / name
        path.write_text(text, "utf-8")
        if name != DESCRIPTION:
            path.chmod(0o755)
        made.append(path)
    return made


def _of_model(name: str, language: str) -> dict[str, str]:
    if language == "python":
        toml = _TOML.format(name=name, title=name, space=_SPACE)
        return {DESCRIPTION: toml, "train": _PYTHON_TRAIN, "predict": _PYTHON_PREDICT}
    toml = _TOML.format(name=name, title=name, space="")
    return {DESCRIPTION: toml, "train": _SHELL_TRAIN, "predict": _SHELL_PREDICT}


def _of_objective(name: str, language: str) -> dict[str, str]:
    toml = _OBJECTIVE_TOML.format(name=name, title=name)
    return {DESCRIPTION: toml, "eval": _PYTHON_EVAL if language == "python" else _SHELL_EVAL}


def _no_r() -> InvalidInput:
    """Return why there is no skeleton in R: its launcher starts processes, which are refused."""
    where = "Rscript is not installed on this machine"
    if shutil.which("Rscript"):
        where = "Rscript starts processes, and programs of modules may start none"
    remedy = "Use --language python or shell."
    return InvalidInput(f"There is no skeleton in R: {where}.", where="--language", remedy=remedy)
