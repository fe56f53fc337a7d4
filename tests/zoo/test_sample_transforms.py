"""What becomes of pictures, series, tensors and graphs: against sums done by hand."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from easeml.data import object_array, pixels
from easeml.modules import Context, load_registry
from easeml.search import spaces
from easeml.zoo.transforms.graph_features import GraphFeatures
from easeml.zoo.transforms.picture_features import oriented_gradients, shrunk
from easeml.zoo.transforms.random_kernels import Kernels, resampled, statistics

REGISTRY = load_registry()
PATH = {  # a node with a number and a label, linked to itself
    "nodes": {
        "n": {
            "singleton": False,
            "fields": {
                "x": {"type": "tensor", "dim": [1]},
                "kind": {"type": "category", "class": "kind"},
            },
            "links": {"n": [1, 1]},
        }
    },
    "classes": {"kind": {"dim": 2, "labels": ["a", "b"]}},
}


def tensor(*dim: int | str, **more: Any) -> dict[str, Any]:
    return {
        "nodes": {
            "x": {"singleton": True, "type": "tensor", "dim": list(dim), "optional": True, **more}
        }
    }


def fitted(
    name: str, cells: list[Any], schema: dict[str, Any], column: str = "x", **config: Any
) -> tuple[Any, Any]:
    module, frame = REGISTRY.get(name), pd.DataFrame({column: object_array(cells)})
    return module.make().fit(frame, schema, spaces.complete(module.space, config), Context()), frame


def png(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(array).save(out, "PNG")
    return out.getvalue()


def test_a_small_copy_holds_the_means_of_areas() -> None:
    image = np.arange(15.0).reshape(3, 5, 1)
    assert shrunk(image, 2)[:, :, 0].tolist() == [[0.5, 3.0], [8.0, 10.5]]
    assert shrunk(image, 9).tolist() == image.tolist()


def test_an_edge_votes_for_its_direction_alone() -> None:
    edge = np.zeros((8, 8))
    edge[:, 4:] = (
        1.0  # brighter to the right: direction 0, shared by the orientations at -10 and 10 degrees
    )
    votes = oriented_gradients(edge, 1)
    assert np.flatnonzero(votes).tolist() == [0, 8]
    assert votes[0] == votes[8] == pytest.approx(np.sqrt(0.5), abs=1e-3)
    across = oriented_gradients(
        edge.T, 1
    )  # direction 90 degrees: the middle of the fifth orientation
    assert np.flatnonzero(across).tolist() == [4]


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16", "CMYK"])
def test_pictures_of_every_mode_become_numbers(mode: str) -> None:
    grey = Image.fromarray(np.full((6, 5), 255, np.uint8))
    image = (
        Image.fromarray(np.full((6, 5), 65535, np.uint16)) if mode == "I;16" else grey.convert(mode)
    )
    out = io.BytesIO()
    image.save(out, "TIFF")
    assert pixels(out.getvalue(), (3, 4), grey=False).shape == (3, 4, 3)
    np.testing.assert_allclose(pixels(out.getvalue(), (3, 4), grey=True), 1.0, atol=0.02)


def test_arrays_and_pictures_of_the_same_numbers_give_the_same() -> None:
    images = [
        np.random.default_rng(seed).integers(0, 256, (9, 7), dtype=np.uint8) for seed in range(3)
    ]
    images[0][0, 0] = 255
    files, frame = fitted(
        "image-features", [png(image) for image in images], tensor(9, 7, 1, format="image")
    )
    arrays, held = fitted(
        "image-features", [image[:, :, None].astype(float) for image in images], tensor(9, 7, 1)
    )
    np.testing.assert_allclose(files.transform(frame), arrays.transform(held), atol=1e-12)


def test_statistics_by_hand() -> None:
    found = statistics(np.array([1.0, np.nan, 3.0, 2.0]))
    assert found[:7] == pytest.approx([2.0, np.std([1, 2, 3]), 1, 3, 2, 1, 2])
    assert found[7:] == pytest.approx([0.5, 1.5, -0.5, 3])
    assert statistics(np.array([np.nan])) == [0.0] * len(found)


def test_series_are_brought_to_one_length() -> None:
    given_ = np.array([[0.0, 2.0, np.nan, np.nan], [5.0, np.nan, 7.0, 8.0], [np.nan] * 4])
    assert resampled(given_, 5).tolist() == [[0, 0.5, 1, 1.5, 2], [5, 5.75, 6.5, 7.25, 8], [0] * 5]
    assert resampled(np.array([[3.0, 1.0, 2.0]]), 3).tolist() == [[3, 1, 2]]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), st.integers(1, 40), st.integers(0, 5))
def test_kernels_do_what_a_plain_convolution_does(channels: int, steps: int, seed: int) -> None:
    kernels = Kernels.draw(6, channels, steps, seed)
    series = np.random.default_rng(seed).normal(size=(2, channels, steps))
    found = kernels.transform(series)
    for kernel in range(6):
        length, dilation = int(kernels.lengths[kernel]), int(kernels.dilations[kernel])
        margin = (length - 1) * dilation // 2 if kernels.padded[kernel] else 0
        for row in range(2):
            values = []
            for start in range(-margin, steps + margin - (length - 1) * dilation):
                total = kernels.biases[kernel]
                for channel in range(channels):
                    for place in range(length):
                        at = start + place * dilation
                        inside = 0 <= at < steps
                        total += (
                            kernels.weights[kernel, channel, place] * series[row, channel, at]
                            if inside
                            else 0.0
                        )
                values.append(total)
            assert found[row, kernel] == pytest.approx(np.mean(np.array(values) > 0))
            assert found[row, 6 + kernel] == pytest.approx(max(values))


def test_a_path_by_hand() -> None:
    nodes = {"x": np.array([[1.0], [2.0], [6.0]]), "kind": ["a", "b", "b"]}
    graph = {"n": nodes, "links": [["n", 0, "n", 1], ["n", 1, "n", 2]]}
    found = GraphFeatures.of_schema(PATH).transform(graph)
    assert found[0] == 3
    assert found[1:4] == pytest.approx([3.0, 1 / 3, 2 / 3])  # means of x, a, b
    assert found[7:13] == pytest.approx([1, 0, 0, 6, 1, 1])  # least and largest
    assert found[13:17] == pytest.approx(
        [2, 2 / 3, np.std([1, 1, 0]), 1]
    )  # links that start at an instance
    following = np.array([[2.0, 0, 1], [6, 0, 1], [0, 0, 0]])
    before = np.array([[0.0, 0, 0], [1, 1, 0], [2, 0, 1]])
    held = np.array([[1.0, 1, 0], [2, 0, 1], [6, 0, 1]])
    first = np.concatenate([following, before], axis=1)
    assert found[21:27] == pytest.approx(first.mean(axis=0))
    assert found[33:51] == pytest.approx((held.T @ first / 3).reshape(-1))
    implied = GraphFeatures.of_schema(PATH).transform({**graph, "links": None})
    np.testing.assert_array_equal(implied, found)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.randoms(use_true_random=False))
def test_the_order_of_instances_does_not_matter(count: int, random: Any) -> None:
    x = np.array([[random.random()] for _ in range(count)])
    kind = [random.choice("ab") for _ in range(count)]
    links = [["n", random.randrange(count), "n", random.randrange(count)] for _ in range(count)]
    order = random.sample(range(count), count)
    new = {old: at for at, old in enumerate(order)}
    relinked = [["n", new[i], "n", new[j]] for _, i, _, j in links]
    moved = {"n": {"x": x[order], "kind": [kind[i] for i in order]}, "links": relinked}
    features = GraphFeatures.of_schema(PATH)
    np.testing.assert_allclose(
        features.transform({"n": {"x": x, "kind": kind}, "links": links}),
        features.transform(moved),
        atol=1e-12,
    )


GRAPHS = [{"n": {"x": np.ones((k, 1)), "kind": ["a"] * k}, "links": None} for k in (1, 2, 3)]
PICTURE, ANY_CHANNELS = tensor("h", 4, 3, format="image"), tensor(3, 4, "c", format="image")
NONE = {"n": {"x": [], "kind": []}, "links": []}


@pytest.mark.parametrize(
    ("name", "cells", "schema", "column"),
    [
        ("image-features", [png(np.full((k, 4, 3), k, np.uint8)) for k in (1, 9)], PICTURE, "x"),
        ("image-features", [np.full((5, 4, 4), k) for k in (0.0, np.nan, 1e200)], tensor(5, 4, 4), "x"),
        ("series-features", [np.full((2, k), 1.0 * k) for k in (1, 3, 600)], tensor(2, "t"), "x"),
        ("series-features", [np.full((k, 20), np.nan) for k in (1, 2, 3)], tensor("c", 20), "x"),
        ("series-features", [np.full((1, 3), k) for k in (1e200, np.nan, 0.0)], tensor(1, 3), "x"),
        ("sample-features", [np.full((k, k, 1), 1e200) for k in (1, 2, 3)], tensor("a", "b", 1), "x"),
        ("sample-features", [np.array([k, np.nan]) for k in (1.0, 2.0, 3.0)], tensor(2), "x"),
        ("sample-features", [png(np.full((3, 4), k, np.uint8)) for k in (1, 9)], ANY_CHANNELS, "x"),
        ("sample-features", [*GRAPHS, NONE], PATH, "graph"),
    ],
    ids=["pictures", "arrays", "lengths", "channels", "huge", "variable", "vectors", "any-channels", "graphs"],
)  # fmt: skip
def test_whatever_fits_becomes_finite_numbers_and_is_saved(
    name: str, cells: list[Any], schema: dict[str, Any], column: str, tmp_path: Path
) -> None:
    made, frame = fitted(name, cells, schema, column)
    found = made.transform(frame)
    assert found.shape[0] == len(cells)
    assert np.isfinite(found).all()
    alone = np.concatenate([made.transform(frame.iloc[[row]]) for row in range(len(frame))])
    np.testing.assert_allclose(alone, found, rtol=1e-9)
    made.save(tmp_path)
    np.testing.assert_array_equal(REGISTRY.get(name).make().load(tmp_path).transform(frame), found)


@pytest.mark.parametrize("name", ["image-features", "picture-pixels", "sample-features"])
def test_what_reads_pictures_names_its_library(name: str) -> None:
    """Or what is exported would miss it."""
    assert REGISTRY.get(name).libraries["PIL"] == "pillow"


def test_pixels_are_those_of_the_picture() -> None:
    random = np.random.default_rng(0)
    array = random.integers(0, 256, (6, 5), dtype=np.uint8)
    transform, frame = fitted("picture-pixels", [png(array)], tensor(6, 5, 1, format="image"))
    np.testing.assert_allclose(transform.transform(frame)[0, :, :, 0], array / 255, atol=1e-6)


def test_arrays_of_other_sizes_are_brought_to_one() -> None:
    cells = [np.arange(15.0).reshape(3, 5, 1), np.ones((1, 1, 1)), np.ones((40, 20, 1))]
    transform, frame = fitted("picture-pixels", cells, tensor("h", "w", 1), size=8)
    made = transform.transform(frame)
    assert made.shape == (3, 8, 8, 1)
    by_rows = np.arange(8) * 3 // 8  # of the first picture, by repeating the nearest
    np.testing.assert_allclose(made[0, :, 0, 0], cells[0][by_rows, 0, 0] / 14)


def test_series_are_brought_to_the_longest() -> None:
    cells = [np.array([[0.0, np.nan, 2.0]]), np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [0.0] * 5])]
    transform, frame = fitted("series-steps", cells, tensor("c", "t"))
    made = transform.transform(frame)
    assert made.shape == (2, 2, 5)
    assert made[0].tolist() == [[0.0, 0.5, 1.0, 1.5, 2.0], [0.0] * 5]
