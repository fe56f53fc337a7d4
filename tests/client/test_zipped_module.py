"""The folder of a module as a zip file: what is read, and what is refused before it takes anything."""

import io
import zipfile
from collections.abc import Mapping

import pytest

from easeml.contract import zipped_module
from easeml.errors import InvalidInput, TooLarge

FILES = {"module.toml": 'name = "mine"', "train": "#!/bin/sh", "predict": "#!/bin/sh"}


def packed_as_zip(
    files: Mapping[str, str | bytes], folder: str = "", method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    """Return a zip file with these in a folder."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(folder + name, content)
    return file.getvalue()


@pytest.mark.parametrize("folder", ["", "mine/", "deep/er/"])
def test_the_texts_of_a_folder_are_read(folder: str) -> None:
    more = {".DS_Store": b"\xff\xff", "__MACOSX/train": b"\xff"}
    assert zipped_module.read(packed_as_zip({**FILES, **more}, folder)) == FILES


def test_a_file_without_a_name_is_passed_over() -> None:
    packed = packed_as_zip({**FILES, "nameless-later": "x"})
    ends_at_once = packed.replace(b"nameless-later", b"\0ameless-later")
    assert zipped_module.read(ends_at_once) == FILES


def test_nothing_is_written_outside() -> None:
    """A path that leaves the folder is refused by its slash; nothing is unpacked to disk anyway."""
    for name in ("../planted", "/etc/planted", "sub/planted", "sub\\planted"):
        with pytest.raises(InvalidInput, match="in a folder of its own"):
            zipped_module.read(
                packed_as_zip({**FILES, name: "x"}, "mine/" if name[0] == "s" else "")
            )


@pytest.mark.parametrize(
    ("content", "error", "why"),
    [
        (b"PK no zip", InvalidInput, "cannot be read"),
        (packed_as_zip(FILES)[:-30], InvalidInput, "cannot be read"),
        (packed_as_zip({"train": "x"}), InvalidInput, "no module.toml"),
        (packed_as_zip({**FILES, "image.tar": b"\xff\xfe"}), InvalidInput, "not text"),
        (packed_as_zip({**FILES, "bomb": bytes(2**26)}), TooLarge, "at most"),
        (packed_as_zip({f"{i}": "" for i in range(1001)}), TooLarge, "1000 files"),
        (packed_as_zip(FILES, method=zipfile.ZIP_LZMA), InvalidInput, "another way"),
        (bytes(zipped_module.LARGEST_ZIP + 1), TooLarge, "has at most"),
    ],
    ids=["none", "cut", "no-description", "no-text", "bomb", "many", "lzma", "large"],
)
def test_what_is_no_folder_of_a_module_is_refused(
    content: bytes, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        zipped_module.read(content)
