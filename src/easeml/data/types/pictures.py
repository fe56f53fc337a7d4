"""Picture files: whether they are any, their shape, and their numbers."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from easeml.data.types.column_report import ColumnReport, dimensions

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image as Picture

_MOST_PIXELS = 1 << 28
_AXES = ("height", "width", "channels")
_DEEP = {"I": 65535.0, "I;16": 65535.0, "I;16B": 65535.0, "I;16L": 65535.0, "F": 1.0}
_THUMBNAIL = 64  # pixels
_LARGE = 320  # pixels
_EXAMPLES = 3
_SMALL = 2048  # bytes of a picture that is shown as it is
_MOST_AS_FILE = 1 << 16  # bytes of a file that a page holds as it is
_BEGINNINGS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"BM": "bmp"}


class NoPicture(ValueError):
    """These bytes are no picture that can be read."""


def shape_of(data: bytes) -> tuple[int, int, int]:
    """Height, width and channels.

    The picture is decoded, so that a damaged one is told. Raises ``NoPicture``.
    """
    with _opened(data) as image:
        return image.height, image.width, len(image.getbands())


def pixels(data: bytes, size: tuple[int, int], *, grey: bool) -> np.ndarray:
    """The picture resized to ``size`` (height, width).

    Values are in [0, 1], the shape is (height, width, 1 or 3).
    """
    import numpy as np
    from PIL import Image

    height, width = size
    mode = "L" if grey else "RGB"
    with _opened(data) as image:
        plain = _of_bytes(image).convert(mode)
    if plain.size != (width, height):
        resample = Image.Resampling.BOX if plain.width > width else None
        plain = plain.resize((width, height), resample)
    made = np.asarray(plain, dtype=np.float64) / 255.0
    return made.reshape(height, width, -1)


def _of_bytes(image: Picture) -> Picture:
    """The picture with a byte a channel, where it has more."""
    import numpy as np
    from PIL import Image

    if image.mode not in _DEEP:
        return image
    array = np.asarray(image, dtype=np.float32) / _DEEP[image.mode] * 255.0
    return Image.fromarray(np.clip(array, 0, 255).astype(np.uint8))


def picture_report(
    name: str, shapes: Sequence[tuple[int, int, int]], first: Sequence[bytes]
) -> ColumnReport:
    """What a column of pictures is, by the shape of every one: sizes that differ are variables.

    ``first``: some pictures, of which small ones are shown.
    """
    dim, spans = dimensions(shapes, "hwc")
    said = ", ".join(map("{} {}".format, _AXES, spans))
    return ColumnReport(
        name,
        "image",
        "input",
        distinct=len(shapes),
        evidence=f"Pictures: {said}.",
        examples=list(map(data_url, first[:_EXAMPLES])),
        content={"dim": dim, "format": "image"},
    )


def shown_as_it_is(data: bytes) -> bool:
    """Whether a browser may be given the very file: a small PNG."""
    return len(data) <= _SMALL and data.startswith(b"\x89PNG")


def data_url(data: bytes) -> str:
    """A picture as a page shows it.

    A small PNG is shown as it is; any other picture is decoded, and shown as a thumbnail.
    """
    if not shown_as_it_is(data):
        with _opened(data) as image:
            small = image.convert("RGB")
        small.thumbnail((_THUMBNAIL, _THUMBNAIL))
        out = io.BytesIO()
        small.save(out, "PNG")
        data = out.getvalue()
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def file_url(data: bytes) -> str | None:
    """Return the file of a picture for a browser, which decodes it; nothing is decoded here.

    None where it is larger than a page may hold, or of a kind that browsers do not read.
    """
    kinds = [kind for start, kind in _BEGINNINGS.items() if data.startswith(start)]
    if not kinds or len(data) > _MOST_AS_FILE:
        return None
    return f"data:image/{kinds[0]};base64,{base64.b64encode(data).decode()}"


def large_url(data: bytes) -> str:
    """A picture as people look at it to say what it is: decoded, at most ``_LARGE`` pixels wide."""
    with _opened(data) as image:
        plain = _of_bytes(image).convert("RGB")
    plain.thumbnail((_LARGE, _LARGE))
    out = io.BytesIO()
    plain.save(out, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"


def _opened(data: bytes) -> Picture:
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(io.BytesIO(data))
        if image.width * image.height > _MOST_PIXELS:
            raise NoPicture(f"{image.width} x {image.height} pixels are too many")
        image.load()
    except UnidentifiedImageError as error:
        raise NoPicture("its format is not known") from error
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise NoPicture(str(error)) from error
    return image
