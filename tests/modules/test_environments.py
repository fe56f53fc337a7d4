"""Packages of modules: what may be named, what pip may do, and what becomes of it on a machine."""

import copy
import json
import os
import socket
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import wheels
from easeml.confinement import why_unavailable
from easeml.errors import Conflict, InvalidInput, TooLarge
from easeml.modules import Context, Data, launch, packed, parse, skeletons
from easeml.modules.environments import placing, requirements
from easeml.modules.environments.building import Source, build
from easeml.modules.process import ProcessModel
from easeml.modules.programs import Limits, ProgramFailed, watched

DIGEST = "0" * 64
REFERENCE = f"{placing.BY_DIGEST}{DIGEST}"
needs_confinement = pytest.mark.skipif(
    bool(why_unavailable()), reason="programs need Landlock and seccomp"
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of wheels: one needs another."""
    folder = tmp_path_factory.mktemp("wheels")
    wheels.write(folder, "luckynumbers", "1.2", "NUMBER = 7\n")
    return wheels.write(folder, "needy", "3", "from luckynumbers import *\n", ["luckynumbers>1"])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("--index-url http://192.0.2.1/simple", "is an option of pip"),
        ("-r /etc/passwd", "is an option of pip"),
        ("-e git+https://example.org/x", "is an option of pip"),
        ("x @ http://169.254.169.254/x.whl", "is named by an address"),
        ("x @ file:///root/x.whl", "is named by an address"),
        ("/root/x.whl", "is not a requirement"),
        ("x==1 --hash=sha256:00", "is not a requirement"),
        ("x \\", "is not a requirement"),
    ],
)
def test_packages_and_versions_alone_are_named(line: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as refused:
        requirements.read({requirements.FILE: f"# mine\n{line}\n"})
    assert refused.value.where == "requirements.txt, line 2"


def test_what_is_named_alike_is_one_environment() -> None:
    first = requirements.read({requirements.FILE: "b>=2 # more\n\na == 1.0\n"})
    second = requirements.read({requirements.FILE: "a==1.0\nb >=2\na==1.0\n"})
    assert first == second == ["a==1.0", "b>=2"]
    keys = {requirements.key_of(first, "cpython-311"), requirements.key_of(second, "cpython-312")}
    assert len(keys) == 2
    many = "".join(f"p{number}\n" for number in range(101))
    with pytest.raises(InvalidInput, match="more than 100"):
        requirements.read({requirements.FILE: many})


@needs_confinement
def test_programs_see_the_packages_that_they_name_and_no_others(
    tmp_path: Path, index: Path
) -> None:
    file = tmp_path / "file"
    packages = build(["needy"], Source.of(str(index)), file, 2**20, 60)
    assert packages == ["luckynumbers 1.2", "needy 3"]
    fetched: list[Path] = []

    def fetch(path: Path) -> None:
        fetched.append(path)
        path.write_bytes(file.read_bytes())

    place = placing.lay_out(REFERENCE, tmp_path / "laid out", fetch)
    assert placing.lay_out(REFERENCE, tmp_path / "laid out", fetch) == place
    assert len(fetched) == 1
    assert [one.name for one in place.parent.iterdir()] == [DIGEST]
    placing.use({REFERENCE: str(place)})
    begin = "#!/usr/bin/env python3\nimport sys, needy\n"
    train = f"{begin}import numpy\n"
    data = Data(np.zeros((4, 1)), np.arange(4.0), classes=0)
    model = ProcessModel("packed", {"train": train, "predict": train}, "csv", REFERENCE)
    with pytest.raises(ProgramFailed, match="No module named 'numpy'"):
        model.fit(data, {}, Context())
    plant = f"{begin}open(needy.__file__, 'a').write('NUMBER = 8')\n"
    model = ProcessModel("packed", {"train": plant, "predict": plant}, "csv", REFERENCE)
    with pytest.raises(ProgramFailed, match=r"Permission denied|Read-only"):
        model.fit(data, {}, Context())
    tell = f"{begin}open(sys.argv[6] + '/state', 'w').write(str(needy.NUMBER))\n"
    model = ProcessModel("packed", {"train": tell, "predict": tell}, "csv", REFERENCE)
    assert model.fit(data, {}, Context()).memory == {"state": b"7"}


@needs_confinement
def test_what_cannot_be_installed_is_told_as_pip_says_it(tmp_path: Path, index: Path) -> None:
    out = tmp_path / "file"
    with pytest.raises(InvalidInput, match="No matching distribution found for unknown==9") as told:
        build(["unknown==9"], Source.of(str(index)), out, 2**20, 60)
    assert "bring an image" in told.value.remedy
    with pytest.raises(InvalidInput, match=r"pip was ended: it ran longer than 0\.01 s"):
        build(["needy"], Source.of(str(index)), out, 2**20, 0.01)
    with pytest.raises(TooLarge, match="more than the 500 that may be stored"):
        build(["needy"], Source.of(str(index)), out, 500, 60)
    with pytest.raises(Conflict, match="installs no packages"):
        Source.of("none")


@needs_confinement
def test_no_password_is_shown_among_the_arguments_of_what_installs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that is asked, and looks at its caller meanwhile as every user of the machine can."""
    seen: list[bytes] = []
    asked: list[str] = []

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("Authorization", ""))
            seen.extend(command_lines())
            self.send_error(404)

        def log_message(self, *told: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_port}"
        address = f"http://reader:verysecret@{place}/simple"
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setenv("https_proxy", "http://reader:verysecret@127.0.0.1:9")
        with pytest.raises(InvalidInput, match="No matching distribution") as told:
            build(["unknown"], Source.of(address), tmp_path / "file", 2**20, 60)
        server.shutdown()
    assert "verysecret" not in str(told.value)
    assert asked[0].startswith("Basic ")
    assert any(b"install" in one for one in seen)
    assert not [one for one in seen if b"verysecret" in one]


def command_lines() -> Iterator[bytes]:
    """The arguments of all processes, as ``ps`` shows them."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended
            yield (process / "cmdline").read_bytes()


ATTACK = """
import os, socket
socket.create_connection(("127.0.0.1", {port}), 5)
for attack in ("open({secret!r})", "open({secret!r} + '.mine', 'w')", "os.fork()",
               "socket.create_server(('127.0.0.1', 0))", "os.kill({pid}, 0)"):
    try:
        eval(attack)
    except OSError:
        continue
    print(attack)
print("tried")
"""


@needs_confinement
def test_pip_is_on_the_network_and_can_do_nothing_else(tmp_path: Path) -> None:
    secret = tmp_path / "others" / "secret"
    secret.parent.mkdir()
    secret.write_text("of another tenant")
    own = tmp_path / "own"
    own.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = ATTACK.format(port=port, secret=str(secret), pid=os.getpid())
        program = [sys.executable, "-I", "-c", code]
        plan = launch.Plan(str(own), 2**30, program, network=True)
        ended = watched(launch.command_of(plan), {}, own, Limits(60))
    assert ended.said == "tried", ended


def write_file(
    path: Path, names: list[str], about: object = None, compression: int = zipfile.ZIP_STORED
) -> Path:
    """Write what says that it is an environment."""
    told = {"interpreter": requirements.interpreter()} if about is None else about
    with zipfile.ZipFile(path, "w", compression) as packed_file:
        packed_file.writestr(placing.ABOUT, json.dumps(told))
        for name in names:
            packed_file.writestr(name, "x" * 1000)
    return path


def with_one_file_twice(path: Path) -> None:
    """Have an environment name the same bytes by two entries: what it unpacks to is more than it is."""
    write_file(path, ["packages/x.py"])
    with zipfile.ZipFile(path, "a") as packed_file:
        first = packed_file.infolist()[1]
        for number in range(99):
            twin = copy.copy(first)
            twin.filename = f"packages/{number}.py"
            packed_file.filelist.append(twin)
            packed_file.NameToInfo[twin.filename] = twin
        packed_file._didModify = True


def test_what_is_no_environment_is_not_laid_out(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_text("rows of another tenant")
    folder = tmp_path / "laid out"

    def lay_out() -> Path:
        return placing.lay_out(REFERENCE, folder, lambda path: path.write_bytes(given.read_bytes()))

    with pytest.raises(InvalidInput, match="not an environment of packages"):
        lay_out()
    with pytest.raises(InvalidInput, match="bin/python3 is not a file of a package"):
        write_file(given, ["packages/x.py", "bin/python3"])
        lay_out()
    with pytest.raises(Conflict, match="Let all machines have the same Python"):
        write_file(given, [], {"interpreter": "cpython-27-linux-x86_64"})
        lay_out()
    for about in ([], "text", {}, {"interpreter": [1]}):
        with pytest.raises(InvalidInput, match="not an environment of packages"):
            write_file(given, [], about)
            lay_out()
    with pytest.raises(InvalidInput, match=r"packages/x\.py is compressed"):
        write_file(given, [], compression=zipfile.ZIP_STORED)
        with zipfile.ZipFile(given, "a", zipfile.ZIP_DEFLATED) as packed_file:
            packed_file.writestr("packages/x.py", "0" * 2**20)
        lay_out()
    with pytest.raises(InvalidInput, match="It unpacks to 100,"):
        with_one_file_twice(given)
        lay_out()
    assert not list(folder.iterdir())


def test_a_module_names_no_environment_but_by_its_digest(tmp_path: Path) -> None:
    skeletons.make(tmp_path / "mine", "model", "shell")
    text = packed.pack(tmp_path / "mine")
    whole = packed.with_environment(text, DIGEST)
    assert parse(whole, "module.toml").environment == REFERENCE
    tricky = text.replace("\n", f"\nreference = '''\n{packed.MARK}\n'''\n", 1)
    assert parse(packed.with_environment(tricky, DIGEST), "module.toml").environment == REFERENCE
    with pytest.raises(InvalidInput, match="names no environment"):
        parse(whole.replace(DIGEST, "../../etc"), "module.toml")
