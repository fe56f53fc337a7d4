"""Imported once in the fork server of a worker: everything a task may need, and nothing of a user."""

import gc
import importlib
import os

from pydantic import BaseModel

from easeml.lifecycle.tool import all_tools
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
    "encodings.cp437",
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
    "easeml.figures",
    "easeml.lifecycle.evaluation",
    "easeml.modules.conformal",
    "easeml.modules.further_measures",
    "easeml.modules.guard",
    "easeml.modules.joined",
    "easeml.modules.judged_again",
    "easeml.modules.known_rows",
    "easeml.modules.pipeline",
    "easeml.modules.process",
    "easeml.modules.row_order",
    "easeml.modules.selection",
    "easeml.modules.suspicion",
):
    importlib.import_module(_name)
warm_up()
all_kinds()
all_tools()


def _fit_once() -> None:
    """Fit something: the first time a process does, narwhals looks through all installed packages."""
    from sklearn.preprocessing import StandardScaler

    StandardScaler().fit([[0.0], [1.0]])


def _build_validators(base: type[BaseModel]) -> None:
    """Build what models validate by, which those of the contract leave to their first use.

    In a child that takes many times as long: it copies every page of memory that it touches.
    """
    for model in base.__subclasses__():
        model.model_rebuild(raise_errors=False)
        _build_validators(model)


_fit_once()
_build_validators(BaseModel)

gc.collect()
gc.freeze()  # collecting garbage in a child does not copy these pages
gc.enable()
