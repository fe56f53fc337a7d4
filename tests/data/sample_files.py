"""Files of samples that are no tables, small enough to learn in a moment."""

import io
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

from easeml.data import EasemlDataset, write_easeml
from easeml.schema import Sample, Samples

CLASSES = ("stripes", "blobs")


def picture(label: str, seed: int, size: tuple[int, int] = (12, 12)) -> bytes:
    """Return a grey PNG of vertical stripes, or of a bright blob, with noise."""
    random = np.random.default_rng(seed)
    height, width = size
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    bright = (
        (x % 4 < 2) if label == "stripes" else ((x - width / 2) ** 2 + (y - height / 2) ** 2 < 9)
    )
    out = io.BytesIO()
    Image.fromarray((150 * bright + random.integers(0, 60, size)).astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


def pictures(path: Path, each: int = 15, sizes: tuple[tuple[int, int], ...] = ((12, 12),)) -> Path:
    """Write a zip file of pictures in a folder for each class."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(each):
            for label in CLASSES:
                archive.writestr(
                    f"{label}/{number:02}.png", picture(label, number, sizes[number % len(sizes)])
                )
    return path


def texts(path: Path, each: int = 20) -> Path:
    """Write a folder of texts in a folder for each class."""
    words = {
        "praise": ("lovely", "fine", "superb", "warm"),
        "blame": ("dull", "poor", "awful", "cold"),
    }
    random = np.random.default_rng(0)
    for label, own in words.items():
        (path / label).mkdir(parents=True)
        for number in range(each):
            said = " ".join(random.choice([*own, "film", "the", "plot", "was"], 12))
            (path / label / f"{number}.txt").write_text(f"It was {said}.\n")
    return path


def series(path: Path, each: int = 20) -> Path:
    """Write ``.ts`` series of two channels and unequal lengths: the first channel waves slowly or
    quickly.
    """
    random = np.random.default_rng(0)
    lines = ["@problemName waves", "@univariate false", "@classLabel true slow quick", "@data"]
    for number in range(each):
        for label, pace in (("slow", 0.2), ("quick", 0.9)):
            steps = np.arange(30 + number % 7)
            waves = np.sin(pace * steps + random.uniform(0, 6)) + random.normal(0, 0.1, len(steps))
            noise = random.normal(0, 1, len(steps))
            lines.append(
                ":".join(
                    [
                        ",".join(f"{v:.4f}" for v in waves),
                        ",".join(f"{v:.4f}" for v in noise),
                        label,
                    ]
                )
            )
    path.write_text("\n".join(lines) + "\n")
    return path


def arrays(path: Path, rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Write ``X`` (rows, 3, 4) and ``y`` (rows, 2, 2), linear in ``X`` with noise; return both."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 3, 4))
    y = (X.reshape(rows, -1) @ random.normal(size=(12, 4))).reshape(rows, 2, 2) + random.normal(
        0, 0.05, (rows, 2, 2)
    )
    np.savez(path, X=X, y=y)
    return X, y


def molecules(path: Path, each: int = 15) -> Path:
    """Write an ease.ml dataset of rings and chains of atoms, linked both ways."""
    random = np.random.default_rng(0)
    sides: dict[str, dict[str, Sample]] = {"in": {}, "out": {}}
    for number in range(2 * each):
        shape, count = ("ring", "chain")[number % 2], int(random.integers(4, 8))
        pairs = [(i, (i + 1) % count) for i in range(count if shape == "ring" else count - 1)]
        links = frozenset((("atom", a), ("atom", b)) for i, j in pairs for a, b in ((i, j), (j, i)))
        atoms = {
            "element": tuple(random.choice(["C", "O"], count)),
            "place": random.normal(size=(count, 2)),
        }
        sides["in"][f"m{number:02}"] = Sample({"atom": atoms}, links)
        sides["out"][f"m{number:02}"] = Sample({"shape": (shape,)})
    given = Samples({"element": ("C", "O")}, sides["in"])
    answers = Samples({"shape": ("chain", "ring")}, sides["out"])
    few = sorted(sides["in"])[:6]
    write_easeml(
        path,
        EasemlDataset(
            given,
            answers,
            Samples(given.classes, {one: given.samples[one] for one in few}),
            Samples(answers.classes, {one: answers.samples[one] for one in few}),
        ),
    )
    return path
