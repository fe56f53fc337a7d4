"""Pools and streams made to mislead: predictions, true labels, and what is hard about them.

Each maker takes a seed and returns predictions, shape (examples, models), and labels, (examples,).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Made = tuple[np.ndarray, np.ndarray]


def predict(
    rng: np.random.Generator, truth: np.ndarray, right: np.ndarray, classes: int
) -> np.ndarray:
    """Return predictions that are right with the chances ``right``, (n, k), else any other class."""
    hit = rng.random(right.shape) < right
    other = (truth[:, None] + rng.integers(1, classes, size=right.shape)) % classes
    return np.where(hit, truth[:, None], other)


def shuffled(rng: np.random.Generator, predictions: np.ndarray, truth: np.ndarray) -> Made:
    """Return the same with the models in random order."""
    return predictions[:, rng.permutation(predictions.shape[1])], truth


def stale(seed: int, examples: int = 2000, models: int = 10, classes: int = 3) -> Made:
    """Drift: in the last quarter all models but one, the best of all, share a mistake."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=examples)
    right = np.full((examples, models), 0.85)
    right[:, 0] = 0.78
    predictions = predict(rng, truth, right, classes)
    late = np.arange(examples) >= 0.75 * examples
    mistaken = late[:, None] & (rng.random((examples, models)) < 0.95)
    mistaken[:, 0] = False
    predictions = np.where(mistaken, ((truth + 1) % classes)[:, None], predictions)
    return shuffled(rng, predictions, truth)


def rare_region(seed: int, examples: int = 2000, models: int = 10, classes: int = 3) -> Made:
    """Models alike but for 8 % of the pool, where one is right and the others agree."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=examples)
    predictions = predict(rng, truth, np.full((examples, models), 0.8), classes)
    rows = rng.choice(examples, size=int(0.08 * examples), replace=False)
    predictions[rows] = ((truth[rows] + 1) % classes)[:, None]
    predictions[rows, 0] = truth[rows]
    return shuffled(rng, predictions, truth)


def flipped(seed: int, examples: int = 2000, models: int = 10, classes: int = 2) -> Made:
    """Drift: for the last 30 % the majority turns wrong; two models stay as good as they were."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=examples)
    early = (np.arange(examples) < 0.7 * examples)[:, None]
    before, after = rng.uniform(0.82, 0.92, size=models), rng.uniform(0.15, 0.35, size=models)
    before[:2], after[:2] = rng.uniform(0.7, 0.8, size=2), rng.uniform(0.7, 0.8, size=2)
    predictions = predict(rng, truth, np.where(early, before, after), classes)
    return shuffled(rng, predictions, truth)


def sorted_by_label(seed: int, examples: int = 2000, models: int = 10, classes: int = 5) -> Made:
    """A pool in blocks by class; each model is good at classes of its own."""
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.integers(classes, size=examples))
    right = rng.uniform(0.4, 0.95, size=(classes, models))[truth]
    return predict(rng, truth, right, classes), truth


def periodic(seed: int, examples: int = 2000, models: int = 6, classes: int = 3) -> Made:
    """Three kinds of days take turns, each with other models that are good on it."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=examples)
    kind = (np.arange(examples) // 100) % 3
    right = rng.uniform(0.3, 0.95, size=(3, models))[kind]
    return predict(rng, truth, right, classes), truth


def near_copies(seed: int, examples: int = 1500, models: int = 20, classes: int = 3) -> Made:
    """Nineteen models that differ on 1 to 4 % of the examples, and a better one."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=examples)
    base = predict(rng, truth, np.full((examples, 1), 0.7), classes)
    predictions = np.repeat(base, models, axis=1)
    for model in range(models - 1):
        changed = int(examples * rng.uniform(0.005, 0.02))
        rows = rng.choice(examples, size=changed, replace=False)
        predictions[rows, model] = rng.integers(classes, size=changed)
    predictions[:, -1] = predict(rng, truth, np.full((examples, 1), 0.76), classes)[:, 0]
    return shuffled(rng, predictions, truth)


def many_classes(seed: int, examples: int = 2000, models: int = 15, classes: int = 100) -> Made:
    """A hundred classes, with mistakes that models share."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=examples)
    ease = rng.normal(1, 2, size=(examples, 1)) + rng.normal(0, 0.5, size=models)
    predictions = predict(rng, truth, 1 / (1 + np.exp(-ease)), classes)
    common = (truth + 1 + rng.integers(5, size=examples)) % classes
    shared = (predictions != truth[:, None]) & (rng.random(predictions.shape) < 0.5)
    return np.where(shared, common[:, None], predictions), truth


def like_rte(seed: int, examples: int = 277, models: int = 87) -> Made:
    """As RTE of GLUE: 277 examples, two classes, 87 models, a third of them useless or constant."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(examples) < 0.53).astype(int)
    hardness = rng.normal(size=examples)
    columns = []
    for _ in range(models):
        kind = rng.random()
        guesses = rng.integers(2, size=examples)
        if kind < 0.2:
            columns.append(np.where(rng.random(examples) < 0.9, rng.integers(2), guesses))
        elif kind < 0.35:
            columns.append(guesses)
        else:
            chance = 1 / (1 + np.exp(1.3 * hardness - rng.uniform(0.1, 1.6)))
            hit = rng.random(examples) < chance
            columns.append(np.where(hit, truth, 1 - truth))
    return np.stack(columns, axis=1), truth


POOLS: dict[str, Callable[[int], Made]] = {
    "stale": stale,
    "rare region": rare_region,
    "flipped": flipped,
    "sorted by label": sorted_by_label,
    "periodic": periodic,
    "near copies": near_copies,
    "many classes": many_classes,
    "like RTE": like_rte,
}


def switching(
    seed: int, examples: int = 4000, models: int = 6, classes: int = 3, best: tuple = (0, 1, 2, 0)
) -> Made:
    """A stream in equal parts with one model each that is right on 74 %, the others on 40 to 50 %.

    The best model of the first part is that of the last again.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=examples)
    part = np.arange(examples) * len(best) // examples
    right = 0.45 + np.tile(rng.uniform(-0.05, 0.05, size=models), (examples, 1))
    right[np.arange(examples), np.array(best)[part]] = 0.74
    return predict(rng, truth, right, classes), truth
