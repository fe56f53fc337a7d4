"""Pickles: a program that is confined reads one, once, and writes it anew by skops.

Reading a pickle may run whatever its maker wanted. So it is read where uploaded programs run
(decision 0038): in a process without a network, that starts nothing, and reads and writes its own
folder alone. What it leaves is a file as anybody may send one, and is read as such. Nothing is ever
unpickled again (decision 0076).
"""

from __future__ import annotations

from easeml.errors import InvalidInput
from easeml.modules.program_folder import program_folder
from easeml.modules.programs import Limits, ProgramFailed, run

_READ = "read"
_PROGRAM = """\
#!/usr/bin/env python3
import joblib
import skops.io

skops.io.dump(joblib.load("data/model"), "output/model")
"""
_LIMITS = Limits(seconds=60)
_REMEDY = "Write the model by skops.io.dump, or as ONNX."


def as_skops(content: bytes, where: str) -> bytes:
    """Return the estimator in a pickle (also of cloudpickle or joblib) as a skops file.

    Raises ``InvalidInput`` where it cannot be read, or what it holds cannot be written by skops, and
    ``Conflict`` where programs cannot be confined on this machine.
    """
    with program_folder({_READ: _PROGRAM}) as place:
        (place / "data" / "model").write_bytes(content)
        try:
            run(place, _READ, [], _LIMITS)
        except ProgramFailed as error:
            why = error.message.splitlines()[-1]  # of what Python says, the end names the error
            said = f"The pickle cannot be read, or is not written by skops: {why}"
            raise InvalidInput(said[:600], where=where, remedy=_REMEDY) from error
        found = place / "output" / "model"
        if found.is_symlink() or not found.is_file():
            raise InvalidInput("The pickle left no model.", where=where, remedy=_REMEDY)
        return found.read_bytes()
