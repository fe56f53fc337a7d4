"""Renders the chart with the values of the tests, so that what it makes can be read without Helm.

Run it after a change of the chart, where `helm` is installed: python scripts/chart.py
"""

import hashlib
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "deploy" / "chart"
TESTS = ROOT / "tests" / "deploy"
VALUES = TESTS / "values.yaml"
RENDERED = TESTS / "rendered.yaml"
RELEASE = "lab"
PARTS = ("service", "workers", "network", "monitor")


def digest() -> str:
    """Return a digest of all that the rendered file is made of."""
    parts = [CHART / "templates" / f"{part}.yaml" for part in PARTS]
    sources = [CHART / "Chart.yaml", CHART / "values.yaml", VALUES, *parts]
    sources.append(CHART / "templates" / "_helpers.tpl")
    found = hashlib.sha256()
    for path in sources:
        found.update(path.read_bytes())
    return found.hexdigest()


def render() -> str:
    """Return what Helm makes of the chart, under the digest of its sources."""
    shown = [option for part in PARTS for option in ("--show-only", f"templates/{part}.yaml")]
    command = ["helm", "template", RELEASE, str(CHART), "--values", str(VALUES), *shown]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return f"# Made by scripts/chart.py of sources with this digest: {digest()}\n{done.stdout}"


if __name__ == "__main__":
    RENDERED.write_text(render())
