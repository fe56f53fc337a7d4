"""Pre-trained models at local paths; with the libraries where they are installed, and clear words
where not.
"""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility import bayes_error, hugging_face, pretrained, torch_model


@pytest.mark.parametrize("load", [hugging_face, torch_model])
def test_a_missing_library_is_named(load: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InvalidInput, match=r"need torch.*pip install"):
        load(tmp_path)


def test_a_torch_model(tmp_path: Path):
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(3, 2)
    torch.jit.script(layer).save(str(tmp_path / "layer.pt"))
    X = np.random.default_rng(0).normal(size=(150, 3))
    found = pretrained(tmp_path / "layer.pt")
    assert found.name == "layer"
    expected = X @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    assert np.allclose(found.embed(X), expected, atol=1e-5)
    exported = torch.export.export(
        layer, (torch.zeros(64, 3),), dynamic_shapes=({0: torch.export.Dim("n", min=2)},)
    )
    torch.export.save(exported, tmp_path / "layer.pt2")
    assert np.allclose(pretrained(tmp_path / "layer.pt2").embed(X), expected, atol=1e-5)
    (tmp_path / "broken.pt").write_bytes(b"no model")
    for name in ("broken.pt", "absent.pt"):
        with pytest.raises(InvalidInput, match=name):
            torch_model(tmp_path / name)


def test_a_torch_model_of_grey_images(tmp_path: Path):
    torch = pytest.importorskip("torch")
    torch.jit.script(torch.nn.Conv2d(3, 2, 3)).save(str(tmp_path / "filter.pt"))
    assert torch_model(tmp_path / "filter.pt").embed(np.zeros((5, 8, 8))).shape == (5, 72)


def test_a_hugging_face_model_of_texts(tmp_path: Path):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "day"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(0)
    shape = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    model = transformers.BertModel(transformers.BertConfig(vocab_size=len(words), **shape)).eval()
    model.save_pretrained(tmp_path / "model")
    transformers.BertTokenizerFast(vocab=str(tmp_path / "vocab.txt")).save_pretrained(
        tmp_path / "model"
    )
    found = pretrained(tmp_path / "model", name="tiny")
    texts = np.array(["good day", "bad day", "good good good day"] * 30, dtype=object)
    matrix = found.embed(texts)
    assert matrix.shape == (90, 16)
    assert np.allclose(
        matrix[0], found.embed(texts[:1])[0], atol=1e-5
    )  # padding beside longer texts changes nothing
    assert not np.allclose(matrix[0], matrix[1], atol=1e-3)
    answer = bayes_error(texts, ["yes", "no", "yes"] * 30, representations=[found])
    assert next(tried for tried in answer.tried if tried.name == "tiny").error == 0


def test_a_hugging_face_model_of_images(tmp_path: Path):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    shape = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    model = transformers.ViTModel(transformers.ViTConfig(image_size=16, patch_size=8, **shape))
    model.save_pretrained(tmp_path)
    transformers.ViTImageProcessor(size={"height": 16, "width": 16}).save_pretrained(tmp_path)
    images = np.random.default_rng(0).integers(0, 255, (3, 20, 20)).astype(float)
    assert hugging_face(tmp_path).embed(images).shape == (3, 8)


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    pytest.importorskip("transformers")
    with pytest.raises(InvalidInput, match="No Hugging Face model"):
        hugging_face(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InvalidInput, match="cannot be loaded"):
        hugging_face(tmp_path)
