"""Exported folders as model artefacts for registries, by the specification of the CNCF's ModelPack.

https://github.com/modelpack/model-spec/blob/main/docs/spec.md
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from easeml.export import layout
from easeml.export.facts import ModelFacts
from easeml.export.layout import Blob

_OF_MODEL = "application/vnd.cncf.model"
_FILE_PATH = "org.cncf.model.filepath"
_WEIGHTS, _ABOUT_WEIGHTS, _CODE, _DOCUMENTS = "weight", "weight.config", "code", "doc"
_KINDS = {
    **dict.fromkeys(("model", "model.onnx"), _WEIGHTS),
    **dict.fromkeys(("MLmodel", "python_env.yaml", "requirements.txt"), _ABOUT_WEIGHTS),
    **dict.fromkeys(("code", "load.py", "serve.py", "Dockerfile"), _CODE),
}
"""What lies in an exported folder, by its name; all else is about the model."""


def write_modelpack(folder: Path, form: str, facts: ModelFacts, out: Path) -> None:
    """Write the exported ``folder``, of the format ``form``, as an OCI layout to the tar file ``out``.

    Each file and each folder in it is a layer, so that a registry keeps what did not change once.
    """
    with TemporaryDirectory(dir=out.parent) as temporary:
        place = Path(temporary)
        layers = [_layer(path, place) for path in sorted(folder.iterdir())]
        told = _config(layers, form, facts)
        config = layout.document(told, f"{_OF_MODEL}.config.v1+json", place / "config")
        kind = f"{_OF_MODEL}.manifest.v1+json"
        layout.write_layout(config, layers, facts, out, artifact_type=kind)


def _layer(path: Path, place: Path) -> Blob:
    """Return a file as it is, or a folder as a tar file."""
    kind = f"{_OF_MODEL}.{_KINDS.get(path.name, _DOCUMENTS)}.v1"
    where = {_FILE_PATH: path.name}
    if path.is_file():
        return layout.blob_of(path, f"{kind}.raw", where)
    packed = place / f"{path.name}.tar"
    layout.write_tar(layout.files_below(path, path.name), packed)
    return layout.blob_of(packed, f"{kind}.tar", where)


def _config(layers: list[Blob], form: str, facts: ModelFacts) -> dict[str, Any]:
    # The digest of a layer that is not compressed is that of its content.
    contents = [f"sha256:{layer.digest}" for layer in layers]
    return {
        "descriptor": {
            "name": facts.application_id,
            "title": f"{facts.model} of {facts.application}",
            "version": facts.model_id,
            "family": facts.model,
            "vendor": "easeml",
        },
        "config": {"architecture": facts.model, "format": form},
        "modelfs": {"type": "layers", "diffIds": contents},
    }
