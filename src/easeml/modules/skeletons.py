"""Working folders to begin a module with: a model in Python or shell, by nearest class means."""

import shutil
from pathlib import Path

from easeml.errors import Conflict, InvalidInput

from .packed import DESCRIPTION

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


def make(folder: Path, kind: str, language: str) -> list[Path]:
    """Write a working module into a new or empty folder, and return its files.

    Raises ``InvalidInput`` for a kind or language that there is no skeleton of, ``Conflict`` where
    the folder has files.
    """
    if kind != "model":
        raise InvalidInput(
            f"Folders of programs are models; there is no skeleton of kind {kind!r}.",
            where="--kind",
            remedy="Write a class: docs/extending tells how for each kind.",
        )
    files = _files(folder.resolve().name.lower(), language)
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


def _files(name: str, language: str) -> dict[str, str]:
    if language == "python":
        toml = _TOML.format(name=name, title=name, space=_SPACE)
        return {DESCRIPTION: toml, "train": _PYTHON_TRAIN, "predict": _PYTHON_PREDICT}
    if language == "shell":
        toml = _TOML.format(name=name, title=name, space="")
        return {DESCRIPTION: toml, "train": _SHELL_TRAIN, "predict": _SHELL_PREDICT}
    if language == "r":
        raise _no_r()
    raise InvalidInput(
        "The language is not known.",
        where="--language",
        remedy=f"Languages: {', '.join(LANGUAGES)}.",
    )


def _no_r() -> InvalidInput:
    """Return why there is no skeleton in R: its launcher starts processes, which are refused."""
    where = "Rscript is not installed on this machine"
    if shutil.which("Rscript"):
        where = "Rscript starts processes, and programs of modules may start none"
    remedy = "Use --language python or shell."
    return InvalidInput(f"There is no skeleton in R: {where}.", where="--language", remedy=remedy)
