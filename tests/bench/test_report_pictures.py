"""Take the pictures of an HTML report that stand in the documentation, of a real scan.

BENCH_TREE names the tree, such as the source of redis.  Where it lies on this machine is left out of the picture.
"""

import os
from pathlib import Path

import pytest

from jarvis_cli.main import run
from tests.browser import browser

DOCS = Path(__file__).parents[2] / "docs"
LARGEST = 300_000

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


@pytest.mark.parametrize(("width", "height"), [(1280, 1500), (390, 2200)])
def test_a_report_is_worth_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, height: int) -> None:
    tree = os.environ.get("BENCH_TREE") or pytest.skip("BENCH_TREE is not set")
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    report = tmp_path / "report.html"
    run(["sec", "fast", "-q", "-p", tree, "-o", str(report)])
    with browser() as page:
        page.resize(width, height)
        page.open(report)
        page.ask("document.querySelector('.facts li').remove()")
        page.ask("document.querySelectorAll('#list details')[1].open = true")
        page.wait_for("document.querySelector('#list .inside')")
        picture = page.picture()

    assert len(picture) <= LARGEST
    (DOCS / f"report-{width}.png").write_bytes(picture)
