"""A trained model in fewer bytes, written only where it loses next to nothing of its quality."""

from easeml.export.smaller.compress import (
    LARGEST_LOSS,
    LEAST_SAVING,
    Compressed,
    Evidence,
    Sizes,
    compress,
    sizes_of_parts,
)

__all__ = [
    "LARGEST_LOSS",
    "LEAST_SAVING",
    "Compressed",
    "Evidence",
    "Sizes",
    "compress",
    "sizes_of_parts",
]
