"""How soon pages are painted, what an open one takes, and how long a new user needs for titanic by
clicking.

    python benchmarks/pages_in_browser.py [--rounds 5] [--table titanic.csv --target Survived]
    [--out FOLDER]

Starts an easeml of its own and headless Chromium on loopback. First paint is the browser's own
first contentful paint after the navigation began, cache as people have it (the first visit of the
round filled it). Memory is the script heap of the page after a collection. Clicks are those that
the page received, signing in included; one on the label of the file counts twice.
"""

import csv
import json
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options
from service_process import EasemlProcess

PASSWORD = "correct horse"
PAINT = """() => new Promise((found) => new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (one.name === "first-contentful-paint") found(one.startTime);
}).observe({ type: "paint", buffered: true }))"""
COUNT = "addEventListener('click', (event) => event.isTrusted && window.clicked?.(), true)"


def paint_all(page: Page, session: CDPSession, paths: list[str], rounds: int) -> list[dict]:
    """Return a row a page: first paint in milliseconds (median and most of the rounds), heap in MB,
    elements.
    """
    rows = []
    for path in paths:
        page.goto(path)
        paints = []
        for _ in range(rounds):
            page.goto("about:blank")
            page.goto(path)
            paints.append(page.evaluate(PAINT))
        session.send("HeapProfiler.collectGarbage")
        heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
        elements = page.evaluate("document.querySelectorAll('*').length")
        name = re.sub(r"\b(app|task|data|dec)_\w+", "ID", path)
        shown = {"paint_ms": statistics.median(paints), "worst_ms": max(paints)}
        rows.append({"page": name, **shown, "heap_mb": heap, "elements": elements})
    return rows


def declare_by_clicking(page: Page, table: Path, target: str) -> dict:
    """Sign in, bring a table, declare it, and predict: return the clicks and the seconds till each
    was done.
    """
    clicks = 0

    def clicked() -> None:
        nonlocal clicks
        clicks += 1

    page.expose_function("clicked", clicked)
    page.add_init_script(COUNT)
    page.goto("/")
    began, done = time.perf_counter(), {}
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="New application").first.click()
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Choose a file").click()
    chooser.value.set_files(table)
    page.get_by_role("heading", name="What easeml found").wait_for()
    done["seen"] = time.perf_counter() - began
    chosen = page.get_by_label("Target")
    if chosen.input_value() != target:
        clicks += 2  # open the list and choose; a script does not click in it
        chosen.select_option(target)
    page.get_by_role("heading", name="Candidate models").wait_for()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("/applications/app_"))
    done["declared"] = time.perf_counter() - began
    page.get_by_role("link", name="Try it").click()
    predict = page.locator("#predict:enabled")
    predict.wait_for(timeout=120_000)
    predict.click()
    page.locator("#predicted").wait_for()
    done["predicted"] = time.perf_counter() - began
    return {"clicks": clicks, "prediction": page.locator("#predicted").text_content(), **done}


def sample_table(folder: Path) -> Path:
    """Write a small table for who has no titanic at hand."""
    path = folder / "table.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", "age", "class", "survived"])
        writer.writerows(
            [["male", "female"][i % 2], 20 + i % 50, 1 + i % 3, (i % 2) | (i % 7 == 0)]
            for i in range(800)
        )
    return path


def main() -> None:
    """Measure and print."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--target", default="survived")
    chosen = read_options(parser, rounds=1)
    chromium = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        service = EasemlProcess(Path(folder) / "home")
        service.start()
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--enable-precise-memory-info"]
        )
        try:
            service.call("POST", "/api/v1/users", {"name": "ann", "password": PASSWORD})
            page = browser.new_page(base_url=service.url, viewport={"width": 1280, "height": 900})
            told = declare_by_clicking(
                page, chosen.table or sample_table(Path(folder)), chosen.target
            )
            app = re.sub(r"(/applications/app_\w+).*", r"\1", page.url).removeprefix(service.url)
            task = page.goto(f"{app}/tasks") and page.locator("#tasks a").first.get_attribute(
                "href"
            )
            parts = [
                f"{app}{part}"
                for part in ("", "/try", "/models", "/tasks", "/endpoint", "/data", "/history")
            ]
            paths = [
                "/applications",
                "/new",
                *parts,
                *([task] if task else []),
                "/scheduler",
                "/knowledge",
                "/account",
            ]
            rows = paint_all(page, page.context.new_cdp_session(page), paths, chosen.rounds)
        finally:
            browser.close()
            service.stop()
    print(f"{machine_line('easeml')}, load {os.getloadavg()[0]:.1f}")
    print(f"from signing in to a prediction: {json.dumps(told)}")
    print(f"{'page':<30} {'paint':>9} {'worst':>9} {'heap':>8} {'elements':>9}")
    for row in rows:
        figures = f"{row['paint_ms']:>6.0f} ms {row['worst_ms']:>6.0f} ms"
        figures += f" {row['heap_mb']:>5.1f} MB {row['elements']:>9}"
        print(f"{row['page']:<30} {figures}")
    found = {"clicking": told, "pages": rows}
    (chosen.out / "pages.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
