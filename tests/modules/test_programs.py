"""Folders of programs: what is packed, what runs, and what hostile programs come to."""

import socket
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from easeml.confinement import why_unavailable
from easeml.errors import Conflict, InvalidInput
from easeml.modules import Context, Data, Module, launch, packed, parse, programs, skeletons
from easeml.modules.process import ProcessModel
from easeml.modules.programs import ProgramFailed
from easeml.modules.skeletons import LANGUAGES
from languages import needs_language

pytestmark = pytest.mark.skipif(
    bool(why_unavailable()), reason="programs need Landlock and seccomp"
)
X = np.array([[0.0, 1.0], [0.2, 0.9], [5.0, 1.1], [5.1, 1.0]])
DATA = Data(X, np.array([0, 0, 1, 1]), classes=2)
GOOD = "#!/bin/sh\necho 1 > $6/state\n"
ANSWERS = "#!/bin/sh\nprintf 'p0,p1\\n{}' > $6/predictions.csv\n"


def module_of(folder: Path) -> Module:
    """Return the module of a folder."""
    source = packed.pack(folder)
    return replace(parse(source, "module.toml"), source=source)


def fitted(train: str = GOOD, predict: str = GOOD, **files: str):
    """Fit a model of two programs on four rows."""
    texts = {"train": train, "predict": predict, **files}
    return ProcessModel("tried", texts, "csv").fit(DATA, {}, Context())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_skeleton_learns(tmp_path: Path, language: str) -> None:
    needs_language(language)
    skeletons.make(tmp_path / "mine", "model", language)
    module = module_of(tmp_path / "mine")
    config = {"sharpness": 2.0} if module.space else {}
    steps: list[int] = []
    context = Context(report=lambda step, quality: steps.append(step))
    trained = module.make().fit(DATA, config, context)
    predicted = trained.predict(X)
    assert predicted.argmax(axis=1).tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(predicted.sum(axis=1), 1)
    (tmp_path / "saved").mkdir()
    trained.save(tmp_path / "saved")
    np.testing.assert_array_equal(module.make().load(tmp_path / "saved").predict(X), predicted)
    assert steps == ([] if language == "shell" else [1])


def test_a_folder_is_one_text(tmp_path: Path) -> None:
    skeletons.make(tmp_path / "mine", "model", "shell")
    odd = 'a "quoted" \\ line\twith\x7f and é\n'
    (tmp_path / "mine" / "notes.txt").write_text(odd)
    assert module_of(tmp_path / "mine").files["notes.txt"] == odd


def test_what_is_no_module_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="There is no module"):
        packed.pack(tmp_path)
    skeletons.make(tmp_path / "mine", "model", "shell")
    with pytest.raises(Conflict, match="not empty"):
        skeletons.make(tmp_path / "mine", "model", "shell")
    text = packed.pack(tmp_path / "mine")
    with pytest.raises(InvalidInput, match="image of the programs is not named"):
        parse(text.replace('"process"', '"container"'), "module.toml")
    with pytest.raises(InvalidInput, match="not a file of the folder"):
        parse(text + '"../outside" = "x"\n', "module.toml")
    (tmp_path / "mine" / "predict").unlink()
    with pytest.raises(InvalidInput, match="'predict' is missing"):
        module_of(tmp_path / "mine")
    with pytest.raises(InvalidInput, match="no skeleton of the language 'cobol'"):
        skeletons.make(tmp_path / "r", "model", "cobol")
    with pytest.raises(InvalidInput, match="no skeleton of the kind 'policy'"):
        skeletons.make(tmp_path / "r", "policy", "r")


@pytest.mark.parametrize(
    ("predict", "why"),
    [
        (ANSWERS.format("1,0\\n" * 3), "3 rows of 2 columns"),
        (ANSWERS.format("nan,nan\\n" * 4), "not a finite number"),
        (ANSWERS.format("7,7\\n" * 4), "no probabilities"),
        (ANSWERS.format("a,b\\n" * 4), "not a number"),
        ("#!/bin/sh\nexit 0\n", "wrote no predictions"),
        ("#!/bin/sh\necho tired >&2; exit 3\n", "exit code 3.\ntired"),
        ("#!/bin/sh\nexec ln -s /etc/passwd $6/predictions.csv\n", "wrote no predictions"),
        ("#!/usr/bin/env nothing-of-this-name\n", "exit code"),
        ("no program at all", "cannot be started"),
    ],
)
def test_a_bad_answer_is_told(predict: str, why: str) -> None:
    with pytest.raises(ProgramFailed, match=why):
        fitted(predict=predict).predict(X)


def test_where_r_is_missing_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path(launch.__file__)
    with_no_r = real.read_text().replace("/usr/l", "/nowhere/l")
    there = real.with_name("launch_without_r.py")
    there.write_text(with_no_r)
    monkeypatch.setattr(launch, "__file__", str(there))
    try:
        with pytest.raises(ProgramFailed, match="apt install r-base-core"):
            fitted(train="#!/usr/bin/env Rscript\nx <- 1\n")
    finally:
        there.unlink()


def test_data_that_cannot_be_learnt_from_is_no_fault() -> None:
    with pytest.raises(InvalidInput, match="too few"):
        fitted(train="#!/bin/sh\necho too few rows >&2; exit 2\n")


ATTACK = """#!/usr/bin/env python3
import os, pathlib, socket, subprocess, sys
secret = pathlib.Path(__file__).with_name("secret").read_text()
{attack}
"""
ATTACKS = {
    "read the files of others": "open(secret).read()",
    "list the folder of others": "os.listdir(os.path.dirname(secret))",
    "write outside": "open(secret + '.mine', 'w')",
    "open the network": "socket.create_connection(('127.0.0.1', int(sys.argv[0] and PORT)))",
    "listen": "socket.create_server(('127.0.0.1', 0))",
    "fork for ever": "os.fork()",
    "start programs": "subprocess.run(['/bin/true'], check=True)",
    "signal the parent": "os.kill(os.getppid(), 9)",
    "read the parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "read the parent's environment": "open(f'/proc/{os.getppid()}/environ').read()",
    "take all memory": "bytearray(64 * 2**30)",
    "fill the disk with one file": "open('big', 'wb').truncate(2**40)",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_program_is_stopped(tmp_path: Path, attack: str) -> None:
    secret = tmp_path / "easeml.db"
    secret.write_text("of another tenant")
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = ATTACKS[attack].replace("PORT", str(server.getsockname()[1]))
        with pytest.raises(ProgramFailed):
            fitted(train=ATTACK.format(attack=code), secret=str(secret))
    assert [path.name for path in tmp_path.iterdir()] == ["easeml.db"]


def test_the_same_program_without_an_attack_works(tmp_path: Path) -> None:
    assert fitted(train=ATTACK.format(attack="pass"), secret="").memory == {}


@pytest.mark.parametrize(
    ("train", "why"),
    [
        ("#!/bin/sh\nwhile true; do :; done\n", "ran longer"),
        ("#!/bin/sh\nwhile true; do echo flood of words; done\n", "printed more"),
        ("#!/bin/sh\nwhile true; do i=$((i+1)); : > $6/$i; done\n", "files"),
    ],
)
def test_a_program_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, train: str, why: str
) -> None:
    place = tmp_path / "own"
    for name in ("module", "data", "memory"):
        (place / name).mkdir(parents=True)
    packed.unpack({"train": train}, place / "module")
    limits = programs.Limits(seconds=3, printed=2**16, files=200)
    arguments = ["--data", "data", "--config", "config.json", "--output", "memory"]
    with pytest.raises(ProgramFailed, match=why):
        programs.run(place, "train", arguments, limits)


def test_what_was_learnt_is_never_unpickled() -> None:
    bomb = "#!/bin/sh\nprintf 'cos\\nsystem\\n(S\"touch bombed\"\\ntR.' > $6/model.pkl\n"
    trained = fitted(train=bomb)
    assert trained.memory["model.pkl"].startswith(b"cos\nsystem")
    with pytest.raises(ProgramFailed, match="wrote no predictions"):
        trained.predict(X)
