"""Mutants of the code that decides about commits: each is killed by a test, or is justified.

    python benchmarks/mutants.py [--files betting.py,verdict.py] [--again]

A mutant is the code with one small fault: another comparison, operator, constant or word, a
condition turned round, a step left out, nothing returned. Sentences for people (messages of errors,
texts with values in them, docstrings) are left as they are, and so are annotations and decorators.

A test is run for a mutant only if it passes the mutant's line. Tests are collected once; each
mutant is judged in a fork, in which the code of one function is exchanged, and the quickest tests
come first. A mutant outside of functions (a default, a constant of a module, a field) is put in
before its module is imported, in a fork that has imported the libraries only. A fork has four times
the processor seconds of its tests: one that needs more counts as killed, as it does not end.

    killed     a test fails
    endless    it took too long
    survived   no test fails that passes its line
    unseen     no test passes its line

Results go to ``mutants.csv`` as they come, and a run that was cut short goes on. Those that are
equivalent are named with the reason in ``truth/mutants.csv``; the script ends with 1 if any other is
left. ``--again`` judges those that were not killed anew, against the tests of today; with ``--all``
also those that are named there, most of which meet every test.
"""

import ast
import csv
import gc
import hashlib
import importlib
import importlib.util
import io
import json
import os
import random
import resource
import signal
import sys
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

import coverage
import hypothesis
import pytest

from common import CACHE, ROOT, arguments, read_options

PACKAGE = "easeml.lifecycle.ci"
FOLDER = ROOT / "src" / "easeml" / "lifecycle" / "ci"
TESTS = ("tests/lifecycle/ci", "tests/lifecycle/test_gates.py", "tests/lifecycle/test_rollout.py")
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "--timeout=0", "--hypothesis-seed=0"]
OPTIONS += ["-m", "not long", "--durations=0"]
JUSTIFIED = Path(__file__).parent / "truth" / "mutants.csv"
KEY = ["file", "function", "mutation", "line"]
COLUMNS = [*KEY, "outcome", "by"]
QUICK = 0.5  # processor seconds of the tests that a mutant meets first
LIMIT = 4.0  # times the processor seconds of its tests
LEAST = 1.0  # processor seconds
WALL = 20.0  # times the processor seconds that a fork may have: the machine does other things too
LIBRARIES = ("numpy", "scipy.stats", "scipy.optimize", "scipy.special", "pandas", "hypothesis")
MESSAGES = ("Error", "Input", "Conflict", "Found", "NotAllowed", "describe", "_sentence")

_OTHERS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}


@dataclass(frozen=True)
class Mutant:
    """One fault. ``function``: the outermost that it is in, by its qualified name; empty: none.

    ``key`` names it also when lines move: file, function, mutation, and the text of the line with
    the number of those alike.
    """

    key: tuple[str, str, str, str]
    line: int
    place: int
    change: Callable[[ast.AST], ast.AST]

    @property
    def tree(self) -> ast.Module:
        """The whole module with the fault."""
        made = _Exchange(self.place, self.change).visit(_numbered(FOLDER / self.key[0]))
        return ast.fix_missing_locations(made)

    @property
    def module(self) -> str:
        """The dotted name of its module."""
        name = self.key[0].removesuffix(".py")
        return PACKAGE if name == "__init__" else f"{PACKAGE}.{name}"

    @property
    def function(self) -> str:
        """The function whose code is exchanged."""
        return self.key[1]


class _Sites(ast.NodeVisitor):
    """Lists what can be changed: (function, line, what it is, change of a copied node's fields)."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int, str, ast.AST, Callable[[ast.AST], ast.AST]]] = []
        self._names: list[str] = []
        self._function = ""
        self._line = 0

    def visit(self, node: ast.AST) -> None:
        self._line = getattr(node, "lineno", self._line)
        super().visit(node)

    def _add(self, node: ast.AST, text: str, change: Callable[[ast.AST], ast.AST]) -> None:
        self.found.append((self._function, getattr(node, "lineno", self._line), text, node, change))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        outer = self._function
        self._names.append(node.name)
        self._function = outer or ".".join(self._names)
        for statement in _without_docstring(node.body):
            self.visit(statement)
        self._names.pop()
        self._function = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        for statement in _without_docstring(node.body):
            self.visit(statement)
        self._names.pop()

    def visit_Module(self, node: ast.Module) -> None:
        for statement in _without_docstring(node.body):
            self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        if [ast.unparse(one) for one in node.targets] != ["__all__"]:
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, one in enumerate(node.ops):
            for other in _OTHERS.get(type(one), ()):
                text = f"{type(one).__name__} -> {other.__name__}"
                self._add(
                    node, text, lambda made, p=place, o=other: _set_place(made, "ops", p, o())
                )
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._other_operator(node)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._other_operator(node)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._other_operator(node)
        self.generic_visit(node)

    def _other_operator(self, node: Any) -> None:
        for other in _OTHERS.get(type(node.op), ()):
            text = f"{type(node.op).__name__} -> {other.__name__}"
            self._add(node, text, lambda made, o=other: _set(made, "op", o()))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self._add(node, f"without {type(node.op).__name__}", lambda made: made.operand)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._turn(node)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._turn(node)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._turn(node)
        self.generic_visit(node)

    def _turn(self, node: Any) -> None:
        if isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
            return  # turned as a comparison
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._add(
            node,
            "condition turned",
            lambda made: _set(made, "test", ast.UnaryOp(ast.Not(), made.test)),
        )

    def visit_Constant(self, node: ast.Constant) -> None:
        changed = _other_value(node.value)
        if changed is not None:
            self._add(
                node, f"{node.value!r} -> {changed!r}", lambda made: _set(made, "value", changed)
            )

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._add(node, "returns None", lambda made: _set(made, "value", ast.Constant(None)))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._add(node, "left out", lambda _: ast.Pass())
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add(node, "not raised", lambda _: ast.Pass())

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, "goes on", lambda _: ast.Continue())

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, "breaks off", lambda _: ast.Break())

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A sentence for people."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """It narrows a type."""

    def visit_Import(self, node: ast.Import) -> None:
        """What is not there fails at once."""

    visit_ImportFrom = visit_Import  # noqa: N815 as ast calls it


def _without_docstring(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for one in body:
        is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if not is_text:
            yield one


def _other_value(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.25 + (0.25 if value == 0 else 0)
    if isinstance(value, str) and " " not in value:
        return f"XX{value}"
    return None


def _set(node: ast.AST, name: str, value: Any) -> ast.AST:
    setattr(node, name, value)
    return node


def _set_place(node: ast.AST, name: str, place: int, value: Any) -> ast.AST:
    getattr(node, name)[place] = value
    return node


class _Exchange(ast.NodeTransformer):
    def __init__(self, place: int, change: Callable[[ast.AST], ast.AST]):
        self._place = place
        self._change = change

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if getattr(node, "place", None) == self._place:
            return ast.copy_location(self._change(node), node)
        return node


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Give all mutants of a file."""
    lines = path.read_text("utf-8").splitlines()
    sites = _Sites()
    sites.visit(_numbered(path))
    alike: Counter[tuple[str, str, str, str]] = Counter()
    for function, line, what, node, change in sites.found:
        key = (path.name, function, what, lines[line - 1].strip())
        alike[key] += 1
        if alike[key] > 1:
            key = (*key[:3], f"{key[3]} #{alike[key]}")
        yield Mutant(key, line, node.place, change)  # type: ignore[attr-defined]


def _numbered(path: Path) -> ast.Module:
    """Return the tree of a file; each node knows its ``place`` in it."""
    tree = ast.parse(path.read_text("utf-8"))
    for place, node in enumerate(ast.walk(tree)):
        node.place = place  # type: ignore[attr-defined]
    return tree


def in_a_fork(act: Callable[[], str], seconds: float) -> str:
    """Return what an act says in a fork; ``endless`` where it takes more processor seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _act_and_end(act, writing, seconds)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as said:
        text = said.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        ended = os.WTERMSIG(status)
        return "endless" if ended in (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL) else "killed"
    return text or "killed"


def _act_and_end(act: Callable[[], str], writing: int, seconds: float) -> None:
    try:
        limit = int(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(WALL * limit))
        silence = os.open(os.devnull, os.O_RDWR)
        for number in (1, 2):
            os.dup2(silence, number)
        os.write(writing, act().encode())
    finally:
        os._exit(0)


class Judge:
    """A plugin of pytest: runs no tests, but hands on those that were collected."""

    def __init__(self, judge: Callable[[list[pytest.Item]], None]):
        self._judge = judge

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """A property that fails is enough: the smallest example is not looked for."""
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        own = hypothesis.settings.get_profile("easeml")
        hypothesis.settings.register_profile("mutants", own, phases=phases, database=None)
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge instead of a run."""
        self._judge(session.items)
        return True


def first_failure(items: list[pytest.Item]) -> str:
    """Run tests until one fails; return its name, empty where none does."""
    from _pytest.runner import runtestprotocol

    for item in items:
        reports = runtestprotocol(item, log=False, nextitem=None)
        if any(one.failed for one in reports):
            return item.nodeid
    return ""


def lines_passed(items: list[pytest.Item]) -> dict[str, tuple[float, dict[str, list[int]]]]:
    """Return for each test that holds its processor seconds, and the lines that it passes."""
    watch = coverage.Coverage(data_file=None, include=[f"{FOLDER}/*"], config_file=False)
    watch.start()
    seconds = {}
    for item in items:
        watch.switch_context(item.nodeid)
        began = time.process_time()
        if not first_failure([item]):
            seconds[item.nodeid] = time.process_time() - began
    watch.stop()
    data = watch.get_data()
    found = {}
    for name, taken in seconds.items():
        data.set_query_context(name)
        lines = {path: data.lines(path) or [] for path in data.measured_files()}
        found[name] = (taken, {Path(path).name: told for path, told in lines.items() if told})
    return found


class Passing:
    """Which tests pass a line, the quickest first."""

    def __init__(self, told: dict[str, Any]):
        self._told = told

    def tests(self, file: str, line: int) -> list[str]:
        """Return the names of the tests that pass a line of a file."""
        found = [name for name, (_, lines) in self._told.items() if line in lines.get(file, ())]
        return sorted(found, key=lambda name: self._told[name][0])

    def of_file(self, file: str) -> list[str]:
        """Return the names of the tests that pass any line of a file."""
        found = [name for name, (_, lines) in self._told.items() if file in lines]
        return sorted(found, key=lambda name: self._told[name][0])

    def within(self, names: list[str], seconds: float) -> list[str]:
        """Return the first of these tests, which together take so many processor seconds."""
        left = seconds
        found = []
        for name in names:
            left -= self._told[name][0]
            if found and left < 0:
                break
            found.append(name)
        return found

    def seconds(self, names: list[str]) -> float:
        """Return the processor seconds of tests."""
        return sum(self._told[name][0] for name in names)


def functions_of(module: types.ModuleType) -> dict[str, types.FunctionType]:
    """Return the functions and methods of a module by their qualified names."""
    found: dict[str, types.FunctionType] = {}

    def look(value: Any) -> None:
        for inner in (
            getattr(value, "__wrapped__", None),
            getattr(value, "__func__", None),
            getattr(value, "fget", None),
            value.func if isinstance(value, cached_property) else None,
        ):
            if inner is not None:
                look(inner)
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
            found.setdefault(value.__qualname__, value)
        if isinstance(value, type) and value.__module__ == module.__name__:
            for one in list(vars(value).values()):
                if not isinstance(one, type):
                    look(one)

    for value in list(vars(module).values()):
        look(value)
    return found


def code_of(tree: ast.Module, path: str, name: str) -> types.CodeType | None:
    """Return the compiled code of a function of a tree."""
    waiting = [compile(tree, path, "exec")]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == name:
            return code
        waiting += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return None


class _Mutated(MetaPathFinder, SourceFileLoader):
    """Imports one module from another tree than its file's."""

    def __init__(self, mutant: Mutant):
        path = str(FOLDER / mutant.key[0])
        SourceFileLoader.__init__(self, mutant.module, path)
        self._mutant = mutant

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != self._mutant.module:
            return None
        is_package = fullname == PACKAGE
        return importlib.util.spec_from_file_location(
            fullname,
            self.path,
            loader=self,
            submodule_search_locations=[str(FOLDER)] if is_package else None,
        )

    def get_code(self, fullname: str) -> types.CodeType:
        return compile(self._mutant.tree, self.path, "exec")


def judge_whole(mutant: Mutant, tests: list[str]) -> str:
    """Judge a mutant outside of functions: it is imported anew, by tests that are collected anew."""
    sys.meta_path.insert(0, _Mutated(mutant))
    failed: list[str] = []

    class Seen:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        code = pytest.main([*OPTIONS, *tests], plugins=[Seen()])
    if failed:
        return f"killed {failed[0]}"
    return "survived" if code == 0 else "killed collection"


class Results:
    """What is known, in a file that grows."""

    def __init__(self, path: Path):
        self._path = path
        self._kept = 0
        self.rows: dict[tuple[str, ...], list[str]] = {}
        self.read()

    def forget_survivors(self, but: set[tuple[str, ...]]) -> None:
        """Have those that were not killed judged anew, ``but`` for some."""
        ended = ("killed", "endless")
        for key, row in list(self.rows.items()):
            if row[4] not in ended and key not in but:
                del self.rows[key]

    def read(self) -> None:
        """Take what the file has."""
        if not self._path.exists():
            return
        with self._path.open(newline="", encoding="utf-8") as file:
            for row in list(csv.reader(file))[1:]:
                self.rows[tuple(row[:4])] = row

    def said(self, mutant: Mutant) -> str:
        """Return what became of a mutant; empty: it is not judged yet."""
        row = self.rows.get(mutant.key)
        return row[4] if row else ""

    def keep(self, mutant: Mutant, said: str) -> None:
        """Note what became of a mutant."""
        outcome, _, by = said.partition(" ")
        self.rows[mutant.key] = [*mutant.key, outcome, by]
        self._kept += 1
        if self._kept % 10 == 0:
            self.write()

    def write(self) -> None:
        """Write all."""
        with self._path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(self.rows[key] for key in sorted(self.rows))


def judge_all(mutants: list[Mutant], results: Results, known: Path) -> None:
    """Judge all in a fork; those outside of functions that no exchange shows are imported anew
    after that, by a process that has not imported what they are in.
    """
    for name in LIBRARIES:
        importlib.import_module(name)
    if not known.exists():
        text = in_a_fork(lambda: _with_items(lambda items: json.dumps(lines_passed(items))), 900)
        known.write_text(text, "utf-8")
    passing = Passing(json.loads(known.read_text("utf-8")))
    for quick in (True, False):  # most fall by a quick test; the others meet all
        _judge_in_a_fork(mutants, passing, results, quick)
        results.read()
    for mutant in mutants:
        if not mutant.function and results.rows[mutant.key][4] == "survived":
            limit = LEAST + 10 + LIMIT * passing.seconds(passing.of_file(mutant.key[0]))
            results.keep(mutant, in_a_fork(lambda m=mutant: judge_whole(m, list(TESTS)), limit))
    results.write()


def _judge_in_a_fork(
    mutants: list[Mutant], passing: Passing, results: Results, quick: bool
) -> None:
    waiting = [one for one in mutants if results.said(one) in ("", "survived")]
    child = os.fork()
    if child == 0:
        _with_items(lambda items: _judge_collected(waiting, items, passing, results, quick))
        os._exit(0)
    os.waitpid(child, 0)


def _with_items(act: Callable[[list[pytest.Item]], Any]) -> Any:
    said: list[Any] = []
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        pytest.main([*OPTIONS, *TESTS], plugins=[Judge(lambda items: said.append(act(items)))])
    return said[0]


def _judge_collected(
    mutants: list[Mutant], items: list[pytest.Item], passing: Passing, results: Results, quick: bool
) -> None:
    by_name = {item.nodeid: item for item in items}
    killers: dict[tuple[str, str], str] = {}  # what killed the last one of a function
    gc.collect()
    gc.freeze()  # pages that no fork writes to are shared
    for place, mutant in enumerate(mutants):
        file, function = mutant.key[:2]
        names = passing.tests(file, mutant.line) if function else passing.of_file(file)
        killer = killers.get((file, function))
        names.sort(key=lambda name: name != killer)
        if quick:
            names = passing.within(names, QUICK)
        limit = LEAST + LIMIT * passing.seconds(names)
        said = "unseen"
        if names:
            tests = [by_name[name] for name in names]
            said = in_a_fork(lambda m=mutant, t=tests: _judge_exchanged(m, t), limit)
        results.keep(mutant, said)
        if said.startswith("killed "):
            killers[file, function] = said.partition(" ")[2]
        if place % 100 == 99:
            print(place + 1, "of", len(mutants), _counts(results), file=sys.__stderr__, flush=True)
    results.write()


def _judge_exchanged(mutant: Mutant, tests: list[pytest.Item]) -> str:
    module = importlib.import_module(mutant.module)
    if mutant.function:
        code = code_of(mutant.tree, str(FOLDER / mutant.key[0]), mutant.function)
        assert code is not None
        functions_of(module)[mutant.function].__code__ = code
    else:
        exchange_statement(module, mutant)
    failed = first_failure(tests)
    return f"killed {failed}" if failed else "survived"


def exchange_statement(module: types.ModuleType, mutant: Mutant) -> None:
    """Run the statement of a module again that a mutant is in, and put what it makes in place:
    values wherever they were imported, defaults of functions and methods, values of classes.
    """
    (statement,) = (
        one for one in mutant.tree.body if one.lineno <= mutant.line <= (one.end_lineno or 0)
    )
    names = dict(vars(module))
    exec(compile(ast.Module([statement], []), str(module.__file__), "exec"), names)
    for name, old in list(vars(module).items()):
        new = names[name]
        if new is old:
            continue
        if isinstance(old, type | types.FunctionType):
            _exchange_defaults(old, new)
            continue
        for other in list(sys.modules.values()):
            if vars(other).get(name) is old if hasattr(other, "__dict__") else False:
                setattr(other, name, new)


def _exchange_defaults(old: Any, new: Any) -> None:
    if isinstance(old, types.FunctionType):
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
        return
    for name, value in vars(new).items():
        if isinstance(value, types.FunctionType):
            _exchange_defaults(vars(old)[name], value)
        elif isinstance(value, bool | int | float | str | tuple) and not name.startswith("__"):
            setattr(old, name, value)


def _counts(results: Results) -> dict[str, int]:
    return dict(Counter(row[4] for row in results.rows.values()))


def digest() -> str:
    """Return the digest of the files and their tests."""
    made = hashlib.sha256()
    tests = [
        path for name in TESTS for path in sorted((ROOT / name).rglob("*.py")) or [ROOT / name]
    ]
    for path in (*sorted(FOLDER.glob("*.py")), *tests):
        made.update(path.read_bytes())
    return made.hexdigest()[:12]


def justified() -> set[tuple[str, ...]]:
    """Return the mutants that are known to change no answer, each with a reason in the file."""
    if not JUSTIFIED.exists():
        return set()
    with JUSTIFIED.open(newline="", encoding="utf-8") as file:
        return {tuple(row[:4]) for row in list(csv.reader(file))[1:]}


def main() -> None:
    """Judge all mutants that are not judged yet, and name those that are left."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--files", default="", help="names, with commas; empty: all")
    parser.add_argument("--again", action="store_true", help="also those that were not killed")
    parser.add_argument("--all", action="store_true", help="with --again: those with a reason, too")
    parser.add_argument("--most", type=int, default=10**9, help="mutants to judge")
    options = read_options(parser, files="verdict.py", most=20)
    os.chdir(ROOT)
    chosen = options.files.split(",") if options.files else []
    paths = [path for path in sorted(FOLDER.glob("*.py")) if not chosen or path.name in chosen]
    everything = [mutant for path in paths for mutant in mutants_of(path)]
    random.Random(0).shuffle(everything)  # a run that is cut short has looked everywhere
    results = Results(options.out / "mutants.csv")
    equivalent = justified()
    if options.again:
        results.forget_survivors(but=set() if options.all else equivalent)
    current = {mutant.key for mutant in everything}
    if not chosen:
        results.rows = {key: row for key, row in results.rows.items() if key in current}
    waiting = [mutant for mutant in everything if mutant.key not in results.rows][: options.most]
    print(f"{len(everything)} mutants, of which {len(waiting)} are to be judged", flush=True)
    if waiting:
        judge_all(waiting, results, CACHE / f"tests-passing-{digest()}.json")
    print(_counts(results))
    left = [
        row
        for key, row in sorted(results.rows.items())
        if row[4] in ("survived", "unseen") and key not in equivalent
    ]
    for row in left:
        print(*row[:5], sep=" | ")
    print(f"{len(left)} are left, {len(equivalent)} change no answer")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
