"""What others packed is laid out in its folder only: by Python's own rule, and where Python is older
than 3.11.4 and has none, by ours.
"""

import os
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from easeml.folders import unpack


@pytest.fixture(params=["the rule of Python", "ours"])
def rule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule that applies."""
    if request.param == "ours":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif not hasattr(tarfile, "data_filter"):
        pytest.skip("this Python has no rule")


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644):
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, link, mode
    made.uid, made.gid, made.uname = 4321, 4321, "nobody"
    return made


def laid_out(folder: Path, *members: tarfile.TarInfo) -> Path:
    """Unpack an archive of empty files, links and folders; return where."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for one in members:
            archive.addfile(one)
    packed.seek(0)
    folder.mkdir()
    with tarfile.open(fileobj=packed) as archive:
        unpack(archive, folder)
    return folder


HOSTILE: dict[str, Callable[[Path], list[tarfile.TarInfo]]] = {
    "a file above": lambda _: [member("../out")],
    "a file above, from within": lambda _: [member("a/../../out")],
    "a link up": lambda _: [member("up", tarfile.SYMTYPE, "..")],
    "a link to elsewhere": lambda there: [member("far", tarfile.SYMTYPE, str(there))],
    "a hard link up": lambda _: [member("up", tarfile.LNKTYPE, "../kept")],
    "a way through two links": lambda _: [
        member("a/b", tarfile.DIRTYPE, mode=0o755),
        member("a/b/up", tarfile.SYMTYPE, "../.."),
        member("a/b/up2", tarfile.SYMTYPE, "up/.."),
        member("a/b/up2/out"),
    ],
    "a device": lambda _: [member("device", tarfile.CHRTYPE)],
    "a pipe": lambda _: [member("pipe", tarfile.FIFOTYPE)],
}


@pytest.mark.usefixtures("rule")
@pytest.mark.parametrize("case", HOSTILE)
def test_what_would_lie_or_lead_outside_is_refused(case: str, tmp_path: Path):
    (tmp_path / "kept").write_text("x")
    with pytest.raises(tarfile.TarError):
        laid_out(tmp_path / "folder", *HOSTILE[case](tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "folder"}


@pytest.mark.usefixtures("rule")
def test_files_belong_to_who_unpacks_and_only_they_may_change_them(tmp_path: Path):
    folder = laid_out(
        tmp_path / "folder",
        member("in", tarfile.DIRTYPE, mode=0o500),
        member("in/file", mode=0o4666),
        member("in/program", mode=0o777),
        member("in/link", tarfile.SYMTYPE, "file"),
    )
    assert (folder / "in" / "link").readlink() == Path("file")
    for name, mode in (("file", 0o644), ("program", 0o755)):
        found = (folder / "in" / name).stat()
        assert found.st_mode & 0o7777 == mode
        assert (found.st_uid, found.st_gid) == (os.getuid(), os.getgid())
    (folder / "in" / "more").write_text("x")


@pytest.mark.usefixtures("rule")
def test_a_file_that_its_owner_could_not_read_can_be_read(tmp_path: Path):
    folder = laid_out(tmp_path / "folder", member("file", mode=0))
    assert (folder / "file").stat().st_mode & 0o7777 == 0o600
