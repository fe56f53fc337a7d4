"""Training a network in epochs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from torch.nn import functional  # pyright: ignore[reportMissingImports]

from easeml.folders import whole_file
from easeml.modules import Context
from easeml.modules.files import load_arrays
from easeml.modules.gpu_share import keep_torch_within

from .arrays import arrays_of, give, give_optimizer, optimizer_arrays

Tensor = Any  # of PyTorch, which is not there where types are checked
Augment = Callable[[Tensor], Tensor]
"""Changes a batch of inputs at random, so that no epoch sees the same."""

_CHECKPOINT = "training.npz"
_BATCH = 64
_LEAST_BATCHES = 8  # an epoch, where there are few rows
_LEAST_ROWS = 8  # a batch
_SMOOTHING = 0.1  # of labels (Szegedy et al., CVPR 2016, section 7)
_CLIP = 1.0  # the length of a gradient at most


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is trained: by AdamW, at a rate that rises over the first tenth of all steps and
    then falls to 0.

    I. Loshchilov, F. Hutter: Decoupled weight decay regularization (ICLR 2019).
    """

    epochs: int
    learning_rate: float
    weight_decay: float

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Recipe":
        """Return the recipe of a configuration."""
        return cls(config["epochs"], config["learning_rate"], config["weight_decay"])


def as_they_are(inputs: Tensor) -> Tensor:
    """Change nothing."""
    return inputs


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let PyTorch use so many threads within the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def device() -> Any:
    """Return a GPU where one is there, of which this process then takes no more than its share;
    else the processor.
    """
    if not torch.cuda.is_available():
        return torch.device("cpu")
    keep_torch_within(torch)
    return torch.device("cuda")


def train(
    network: Any,
    inputs: Tensor,
    answers: Tensor,
    recipe: Recipe,
    augment: Augment,
    context: Context,
) -> int:
    """Train a network; return how many epochs it had.

    ``inputs``: float32 (rows, ...); ``answers``: int64 (rows,) for classes, float32 (rows, outputs)
    for numbers. It draws from PyTorch's own random numbers, goes on from the context's checkpoint, and ends
    early where the context has enough.
    """
    place = device()
    network.to(place).train()
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    batch = _batch_of(len(inputs))
    steps = recipe.epochs * -(-len(inputs) // batch)
    schedule = _Schedule(optimizer, recipe.learning_rate, steps)

    done = _resumed(context.checkpoint, network, optimizer, schedule)
    while done < recipe.epochs:
        for rows in _batches(len(inputs), batch):
            schedule.step()
            changed = augment(inputs[rows]).to(place)
            loss = _loss(network(changed), answers[rows].to(place))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), _CLIP)
            optimizer.step()
        done += 1
        context.report(done, None)
        if done < recipe.epochs:
            _keep(context.checkpoint, network, optimizer, schedule, done)
            if context.enough():
                break
    network.to("cpu").eval()
    return done


class _Schedule:
    """The learning rate of each step."""

    def __init__(self, optimizer: Any, highest: float, steps: int):
        self._optimizer = optimizer
        self._highest = highest
        self._steps = steps
        self._warm = max(1, steps // 10)
        self.taken = 0

    def step(self) -> None:
        """Set the rate of the next step: a line up, then half a cosine down."""
        if self.taken < self._warm:
            share = (self.taken + 1) / self._warm
        else:
            left = (self.taken - self._warm) / max(1, self._steps - self._warm)
            share = (1 + np.cos(np.pi * left)) / 2
        for group in self._optimizer.param_groups:
            group["lr"] = self._highest * share
        self.taken += 1


def _loss(said: Tensor, answers: Tensor) -> Tensor:
    """Return the mean loss of what is said (rows, outputs), or by several members of a network (rows,
    members, outputs).
    """
    if said.ndim == 3:
        answers = answers.repeat_interleave(said.shape[1], dim=0)
        said = said.flatten(0, 1)
    if answers.dtype == torch.int64:
        return functional.cross_entropy(said, answers, label_smoothing=_SMOOTHING)
    return functional.smooth_l1_loss(said, answers)


def _batch_of(rows: int) -> int:
    """Return the rows of a batch: fewer where there are few, so that an epoch has several steps."""
    return max(_LEAST_ROWS, min(_BATCH, rows // _LEAST_BATCHES))


def _batches(rows: int, batch: int) -> Iterator[Tensor]:
    """Yield places of rows in a new order; none alone, since a batch is normalised by its rows."""
    order = torch.randperm(rows)
    for part in order.split(batch):
        if len(part) > 1:
            yield part


def _keep(
    folder: Path | None,
    network: Any,
    optimizer: Any,
    schedule: _Schedule,
    done: int,
) -> None:
    """Write all that the next epoch follows from."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    known = {f"network.{name}": values for name, values in arrays_of(network).items()}
    known |= {f"optimizer.{name}": values for name, values in optimizer_arrays(optimizer).items()}
    known["counted"] = np.array([done, schedule.taken])
    known["random"] = torch.get_rng_state().numpy()
    with whole_file(folder / _CHECKPOINT) as part, part.open("wb") as file:
        np.savez(file, **known)  # pyright: ignore[reportArgumentType]  # see save_arrays


def _resumed(folder: Path | None, network: Any, optimizer: Any, schedule: _Schedule) -> int:
    """Take up what ``_keep`` wrote; return the epochs that are done, 0 where nothing was kept."""
    if folder is None or not (folder / _CHECKPOINT).exists():
        return 0
    kept = load_arrays(folder / _CHECKPOINT)
    give(network, _below("network.", kept))
    give_optimizer(optimizer, _below("optimizer.", kept))
    torch.set_rng_state(torch.from_numpy(kept["random"]))
    done, schedule.taken = kept["counted"].tolist()
    return done


def _below(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): one for name, one in arrays.items() if name.startswith(prefix)
    }
