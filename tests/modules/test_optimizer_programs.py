"""Optimizers that are folders of programs: what they propose, and what bad ones come to."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from easeml.confinement import why_unavailable
from easeml.errors import InvalidInput
from easeml.modules import Module, checking, packed, parse, skeletons
from easeml.modules.programs import ProgramFailed
from easeml.modules.skeletons import LANGUAGES
from easeml.search import spaces
from easeml.search.optimizers import Tried
from easeml.search.optimizers.conformance import NETWORK
from languages import needs_language

pytestmark = pytest.mark.skipif(
    bool(why_unavailable()), reason="programs need Landlock and seccomp"
)
DEEP = "exec awk 'BEGIN { for (i = 0; i < 90000; i++) printf \"[\" }'"
SMALL = {"rate": {".float": [0.1, 1.0]}, "how": {".choice": ["a", "b"]}}


def module_of(folder: Path) -> Module:
    source = packed.pack(folder)
    return replace(parse(source, "module.toml"), source=source)


def with_suggest(folder: Path, program: str, exchange: str = "json") -> Module:
    """Return the skeleton's module with another program."""
    skeletons.make(folder, "optimizer", "shell")
    toml = (folder / "module.toml").read_text().replace("csv", exchange)
    (folder / "module.toml").write_text(toml)
    (folder / "suggest").write_text("#!/bin/sh\n" + program)
    return module_of(folder)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_skeleton_suggests_what_is_new_and_of_the_space(tmp_path: Path, language: str) -> None:
    needs_language(language)
    skeletons.make(tmp_path / "mine", "optimizer", language)
    optimizer = module_of(tmp_path / "mine").make()
    tried = [
        Tried(config, 0.1 * place) for place, config in enumerate(spaces.suggest(NETWORK, 5, 0))
    ]
    found = optimizer.propose(NETWORK, tried, 4, seed=1)
    assert len(found) == 4
    assert all(spaces.complete(NETWORK, config) == config for config in found)
    assert not [one for one in tried if one.config in found]


def test_the_suite_finds_one_that_repeats_itself(tmp_path: Path) -> None:
    with_suggest(tmp_path / "dull", "echo '{\"rate\": 0.5}'")
    failed = [one for one in checking.check(tmp_path / "dull") if one.error]
    assert [one.name for one in failed] == ["check_proposals"]
    assert "proposes 1 of 4" in failed[0].error


def test_a_skeleton_learns_from_what_was_tried(tmp_path: Path) -> None:
    """Half of its suggestions share values with the best, so they are better than chance."""
    skeletons.make(tmp_path / "mine", "optimizer", "python")
    optimizer = module_of(tmp_path / "mine").make()
    space = {f"x{place}": {".choice": list(range(20))} for place in range(4)}
    best = dict.fromkeys(space, 7)
    tried = [Tried(best, 1.0), Tried(dict.fromkeys(space, 3), 0.1)]
    found = optimizer.propose(space, tried, 40, seed=0)
    shared = sum(value == 7 for config in found for value in config.values())
    assert len(found) == 40
    assert shared > 0.2 * 160  # one in twenty by chance


def test_what_it_is_given_and_prints_is_read_alike_as_numbers(tmp_path: Path) -> None:
    """A program that prints the history as it reads it proposes what was tried, and nothing else."""
    program = 'exec awk -F, \'NR > 1 { sub(/^[^,]*,/, ""); print }\' "$4"\n'
    optimizer = with_suggest(tmp_path / "echo", program, "csv").make()
    configs = spaces.suggest(NETWORK, 20, seed=3)
    assert optimizer.propose(NETWORK, [Tried(one, None) for one in configs], 5, seed=0) == []
    read_back = replace(optimizer, files={"suggest": (tmp_path / "echo" / "suggest").read_text()})
    for config in configs:
        values = spaces.parameters(NETWORK, config)
        cells = [str(values[path][1]) if path in values else "" for path in spaces.listed(NETWORK)]
        lines = f"#!/bin/sh\necho '{','.join(cells)}'\n"
        one = replace(read_back, files={"suggest": lines})
        assert one.propose(NETWORK, [], 1, seed=0) == [config]


@pytest.mark.parametrize(
    ("program", "exchange", "why"),
    [
        ("echo '{\"rate\": NaN}'", "json", "not a configuration of the space"),
        ("echo '{\"rate\": 1e999}'", "json", "inf is not a number from 0.1 to 1.0"),
        ("echo '{\"rate\": 2}'", "json", "2 is not a number from 0.1 to 1.0"),
        ("echo '{\"speed\": 0.5}'", "json", "There is no such parameter"),
        ("echo '[1]'", "json", "it is not a mapping"),
        ("echo best of luck", "json", "not a configuration of the space: best of luck"),
        (DEEP, "json", "not a configuration of the space"),
        ("echo 0.5,2", "csv", "2 is not a place of a choice"),
        ("echo 0.5,inf", "csv", "not a configuration of the space"),
        ("echo nan,0", "csv", "nan is not a number"),
        ("echo 0.5", "csv", "1 values of 2"),
        ("echo tired >&2; exit 2", "json", "tired"),
        ("kill -9 $$", "json", "ended by SIGKILL"),
        ("while :; do :; done", "json", "longer than 1 s"),
        ("exec yes", "json", "it printed more than"),
    ],
)
def test_a_bad_suggestion_is_told_and_named(
    tmp_path: Path, program: str, exchange: str, why: str
) -> None:
    optimizer = replace(with_suggest(tmp_path / "bad", program, exchange).make(), seconds=1.0)
    with pytest.raises(ProgramFailed, match=why):
        optimizer.propose(SMALL, [], 1, seed=0)


def test_what_it_leaves_out_has_its_default_and_the_last_line_needs_no_end(tmp_path: Path) -> None:
    optimizer = with_suggest(tmp_path / "brief", 'printf \'{"how": "b"}\'').make()
    (found,) = optimizer.propose(SMALL, [], 2, seed=0)
    assert found["how"] == "b"
    assert math.isclose(found["rate"], 0.55)
    assert optimizer.propose({"c": 1}, [], 2, seed=0) == [{"c": 1}]  # nothing to ask for


def test_an_optimizer_has_no_schema_and_no_class(tmp_path: Path) -> None:
    text = 'name = "x"\nkind = "optimizer"\nversion = "1"\ntitle = "x"\ncontract = 1\n'
    with pytest.raises(InvalidInput, match="a package brings it by an entry point"):
        parse(text + "[runtime]\nkind = 'python'\nentry = 'a:B'\n", "module.toml")
    skeletons.make(tmp_path / "mine", "optimizer", "shell")
    packed_text = packed.pack(tmp_path / "mine")
    with pytest.raises(InvalidInput, match="accepts is not of this kind"):
        parse('accepts = "classification"\n' + packed_text, "module.toml")
    with pytest.raises(InvalidInput, match="Formats: json, csv"):
        packed_toml = packed_text.replace('data = "csv"', 'data = "parquet"')
        try:
            parse(packed_toml, "module.toml")
        except InvalidInput as error:
            raise InvalidInput(error.remedy) from error
