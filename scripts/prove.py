"""Run the long claims: what the README and the documents say, measured anew.

    .venv/bin/python scripts/prove.py [--list] [--only NAME ...]

A claim is a benchmark without arguments, or one of the long tests below. Each leaves in
``benchmarks/results/NAME`` what it printed (``proof.txt``) and ``proof.json``: the command, the
commit, the digest of all sources that it ran on, the machine, the versions, when, and how long it
took. A claim that has passed on the very same sources is skipped, so that a run that was cut off
goes on where it stopped. Both files are committed, claim by claim: ``--list`` says of each when and
on which commit it was shown, and whether sources have changed since.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("src", "benchmarks", "tests", "scripts")
PATTERNS = ("*.py", "*.lock", "*.toml")
FUZZ_ROUNDS = 20


@dataclass(frozen=True)
class Claim:
    """A name and the command that shows it, which ends with 0 if it holds."""

    name: str
    command: tuple[str, ...]


def claims(root: Path = ROOT) -> list[Claim]:
    """Return all claims: the benchmarks by name, then the long tests."""
    python = sys.executable
    found = []
    for script in sorted((root / "benchmarks").glob("*.py")):
        text = script.read_text("utf-8")
        if "read_options(" in text and "    main()\n" in text:
            found.append(Claim(script.stem, (python, str(script))))
    pytest = (python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup")
    quick = (*pytest, "-m", "not faults and not service and not long")
    for seed in range(FUZZ_ROUNDS):
        fuzz = (*quick, "-m", "hypothesis", f"--hypothesis-seed={seed}")
        found.append(Claim(f"fuzz_{seed:02}", fuzz))
    for name in ("boosting", "networks", "pretrained"):  # with libraries that easeml does not bring
        found.append(Claim(f"with_{name}", ("make", "-C", str(root), f"test-{name}")))
    found.append(Claim("faults", (*pytest, "-m", "faults")))
    found.append(Claim("long_tests", (*pytest, "-m", "long")))
    found.append(Claim("coverage", (*quick, "--cov=easeml", "--cov-report=term:skip-covered")))
    found.append(Claim("lowest_versions", (str(root / "scripts" / "test-lowest"),)))
    return found


def digest_of(root: Path = ROOT) -> str:
    """Return the digest of all sources that a claim could depend on."""
    digest = hashlib.sha256()
    files = [path for pattern in PATTERNS for path in root.glob(pattern)]
    for folder in SOURCES:
        files += [path for pattern in PATTERNS for path in (root / folder).rglob(pattern)]
    for path in sorted(files):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def proof_of(claim: Claim, results: Path) -> dict[str, Any] | None:
    """Return what the last run of a claim left in ``proof.json``; None: it was never run."""
    proof = results / claim.name / "proof.json"
    return json.loads(proof.read_text("utf-8")) if proof.exists() else None


def is_proved(claim: Claim, results: Path, sources: str) -> bool:
    """Return whether a claim has passed on these very sources."""
    told = proof_of(claim, results)
    return told is not None and told["passed"] and told["sources"] == sources


def standing_of(claim: Claim, results: Path, sources: str) -> str:
    """Return in words when a claim was run, on what, and whether sources have changed since."""
    told = proof_of(claim, results)
    if told is None:
        return "never run"
    outcome = "passed" if told["passed"] else "FAILED"
    age = "these sources" if told["sources"] == sources else "sources have changed since"
    return f"{outcome} {told['began']} at {told['commit']} ({told['machine']}); {age}"


def prove(claim: Claim, results: Path, sources: str, root: Path = ROOT) -> bool:
    """Run a claim, print what it prints, and write both files; return whether it holds."""
    folder = results / claim.name
    folder.mkdir(parents=True, exist_ok=True)
    began = time.time()
    lines = []
    with subprocess.Popen(
        claim.command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    passed = process.returncode == 0
    (folder / "proof.txt").write_text("".join(lines), "utf-8")
    command = [part.replace(str(root), ".") for part in claim.command[1:]]
    told = {
        "claim": claim.name,
        "command": command or [Path(claim.command[0]).name],
        "passed": passed,
        "commit": commit_of(root),
        "sources": sources,
        "began": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(began)),
        "seconds": round(time.time() - began, 1),
        "machine": f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), **versions()},
    }
    (folder / "proof.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    return passed


def commit_of(root: Path) -> str:
    """Return the commit, marked where sources differ from it; empty outside of a repository.

    Results are no sources: each claim that is run changes its own.
    """
    commit = _git(root, "rev-parse", "--short=12", "HEAD")
    changed = _git(root, "status", "--porcelain", "--", ".", ":!benchmarks/results")
    return f"{commit}, changed" if changed else commit


def _git(root: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return run.stdout.strip()


def versions() -> dict[str, str]:
    """Return the versions of all installed libraries."""
    found = {each.metadata["Name"]: each.version for each in distributions()}
    return dict(sorted(found.items()))


def prove_all(
    chosen: list[Claim], results: Path, sources: str, root: Path = ROOT
) -> tuple[list[str], list[str]]:
    """Run what is not proved yet; return the names of what failed and of what was skipped."""
    failed, skipped = [], []
    for claim in chosen:
        if is_proved(claim, results, sources):
            skipped.append(claim.name)
            continue
        print(f"\n## {claim.name}", flush=True)
        if not prove(claim, results, sources, root):
            failed.append(claim.name)
    return failed, skipped


def main() -> int:
    """Run the claims that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="run nothing; say where each stands")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these claims")
    options = parser.parse_args()
    every = {claim.name: claim for claim in claims()}
    unknown = set(options.only or ()) - set(every)
    if unknown:
        parser.error(f"no such claim: {', '.join(sorted(unknown))} (--list names them)")
    chosen = [every[name] for name in options.only or every]
    results, sources = ROOT / "benchmarks" / "results", digest_of()
    if options.list:
        for claim in chosen:
            print(f"{claim.name}: {standing_of(claim, results, sources)}")
        return 0
    failed, skipped = prove_all(chosen, results, sources)
    print(f"\n{len(chosen) - len(failed)} of {len(chosen)} hold, {len(skipped)} known before.")
    if failed:
        print(f"Failed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
