"""Imported once in the fork server of a worker: everything a task may need, and nothing of a user."""

import gc
import importlib
import os

from easeml.modules import warm_up
from easeml.modules.early_skops import import_skops
from easeml.service.tasks.kinds import all_kinds

gc.disable()  # imports make many objects and hardly any garbage: collecting took an eighth of their time
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # other pools reserve far more than they use

import_skops()
for _name in (
    "numpy",
    "pandas",
    "scipy.stats",
    "encodings.utf_8_sig",
    "pyarrow.acero",
    "pyarrow.csv",
    "pyarrow.dataset",
    "pyarrow.ipc",
    "pyarrow.pandas_compat",
    "pyarrow.vendored.version",
    "sklearn.compose",
    "sklearn.metrics",
    "sklearn.pipeline",
    "threadpoolctl",
    "easeml.data",
    "easeml.data.readers.delimited",
    "easeml.data.readers.header",
    "easeml.lifecycle.evaluation",
    "easeml.modules.conformal",
    "easeml.modules.guard",
    "easeml.modules.known_rows",
    "easeml.modules.pipeline",
    "easeml.modules.suspicion",
):
    importlib.import_module(_name)
warm_up()
all_kinds()

gc.collect()
gc.freeze()  # collecting garbage in a child does not copy these pages
gc.enable()
