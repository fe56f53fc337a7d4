"""What every kind of task has to hold, for those who bring one."""

import math
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from easeml.service.tasks.kinds import kind_named

_HEAVY = "'sqlalchemy', 'easeml.store', 'pandas', 'sklearn', 'torch'"


def check(name: str, told: Mapping[str, Any], inputs: Mapping[str, bytes]) -> None:
    """Run the body of a kind in a folder of its own and look at what it brings.

    ``told``: the fields of its spec; ``inputs``: the contents of its input files by name. Raises
    ``AssertionError`` saying what is wrong.
    """
    kind = kind_named(name)
    assert kind.name == name, f"the kind calls itself {kind.name}"
    assert kind.title and kind.about.endswith("."), "people need a title and a sentence"
    spec = kind.spec.model_validate({"kind": name, **told})
    assert kind.spec.model_validate_json(spec.model_dump_json()) == spec, "specs are kept as JSON"
    heavy = _heavy_imports(kind.module)
    assert not heavy, f"a child loads {heavy} before it is needed: import in the functions"

    with TemporaryDirectory() as folder:
        given = Path(folder, "inputs")
        outputs = Path(folder, "outputs")
        given.mkdir()
        outputs.mkdir()
        for file, content in inputs.items():
            (given / file).write_bytes(content)
        result = kind.body(spec, given, outputs)
        assert result.ok, result.error
        for output in {*kind.outputs, *result.outputs}:
            assert (outputs / output).exists(), f"it promises output {output} and brings none"
    for value in kind.values:
        assert value in result.value, f"it promises the value {value} and brings none"
        found = result.value[value]
        assert not isinstance(found, float) or math.isfinite(found), f"{value} is {found}"


def _heavy_imports(module: str) -> str:
    code = f"import sys, {module}; print(*{{{_HEAVY}}} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return said.stdout.strip()
