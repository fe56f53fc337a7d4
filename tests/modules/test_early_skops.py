"""skops trusts the same names of functions, whatever was loaded before it."""

import subprocess
import sys

from skops.io._trusted_types import NUMPY_UFUNC_TYPE_NAMES, SCIPY_UFUNC_TYPE_NAMES

LATE = """
import sys, types
holder = types.ModuleType("holder")
sys.modules["holder"] = holder
import scipy.special
from easeml.modules.early_skops import import_skops
holder.gamma = scipy.special.gamma
import_skops()
from skops.io import _trusted_types as trusted
print(*sorted({*trusted.NUMPY_UFUNC_TYPE_NAMES, *trusted.SCIPY_UFUNC_TYPE_NAMES}))
"""


def test_what_was_loaded_before_changes_no_name() -> None:
    run = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert run.stdout.split() == sorted({*NUMPY_UFUNC_TYPE_NAMES, *SCIPY_UFUNC_TYPE_NAMES})
