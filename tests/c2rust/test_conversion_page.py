"""The page of a conversion in a real browser: states, and C beside Rust."""

import json
from pathlib import Path

import pytest

from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, GateOutcome, Review, SuiteResult
from jarvis_workers.c2rust.report.conversion_data import conversion_data
from jarvis_workers.c2rust.report.page import PageFacts, render_page
from tests.c2rust.graphs import graph_of, order_of
from tests.support.browser import Browser, browser

HOSTILE = "</script><script>document.title='owned'</script>"


def result(name: str, line: int, **fields: object) -> FunctionResult:
    return FunctionResult(name, "src/main.c", line, line + 9, "main_c", name, slot=name, **fields)  # type: ignore[arg-type]


def page() -> bytes:
    graph = graph_of(["main", "even", "odd"], [(1, 2), (2, 3)])
    gates = (GateOutcome("suite", passed=True, seconds=0.5), GateOutcome("shadow", passed=False, detail="result: 1, 2"))
    reviews = (Review("logic", ()), Review("borders", (f"line 2: {HOSTILE}",)))
    functions = (
        result("main", 20, cause="refused", reason=HOSTILE),
        result("even", 40, state="mechanical", proof="compared", calls=7, reviews=reviews),
        result("odd", 60, cause="different", reason="shadow: result", gates=gates),
    )
    conversion = Conversion(functions, suites=(SuiteResult("make test", 1.0, 1.5, passed=True),))
    texts = {"odd": f"int odd(void)\n{{\n\treturn 1; /* {HOSTILE} */\n}}"}
    data = conversion_data(graph, conversion, texts, {"odd": "pub unsafe fn odd() -> i32 {\n    2\n}"})
    facts = PageFacts("even", units=1, failures=[f"make check: FAILS with Rust {HOSTILE}"])
    return render_page(graph, order_of(graph, ()), [1], facts, data)


def clicked(opened: Browser, selector: str) -> None:
    opened.ask(f"document.querySelector({json.dumps(selector)}).click()")
    opened.wait_for(f"document.querySelector({json.dumps(selector)}) === null || location.hash !== ''")


def text(opened: Browser, selector: str) -> str:
    return str(opened.ask(f"document.querySelector({json.dumps(selector)}).innerText"))


@pytest.mark.slow
def test_why_a_function_stays_c_is_three_clicks_away(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(page())
    with browser() as opened:
        opened.open(path)
        assert text(opened, '.notice[role="alert"]') == f"make check: FAILS with Rust {HOSTILE}"
        assert text(opened, '.tile[href="#view=conversion&state=mechanical"]').split() == ["1", "In", "Rust"]
        clicked(opened, '#views a[data-view="conversion"]')
        opened.wait_for("document.title.startsWith('Conversion')")
        assert "make test passes with Rust" in text(opened, "#view")
        clicked(opened, '.chip[href*="state=different"]')
        opened.wait_for("location.hash.includes('different')")
        assert "src/main.c:60: shadow: result" in text(opened, "#view .rows")
        clicked(opened, '.rows a[href="#symbol=odd"]')
        opened.wait_for("document.title === 'odd · even'")
        found = text(opened, "#conversion")

        assert "shadow: result" in found
        assert HOSTILE in found
        assert opened.ask("document.querySelectorAll('a.node.s-mechanical').length") == 1
        assert "pub unsafe fn odd() -> i32 {" in found
        assert text(opened, "table.gates tbody tr:nth-child(2)").split()[:2] == ["shadow", "failed"]
        assert opened.complaints == []


@pytest.mark.slow
def test_a_function_has_the_objections_of_its_reviewer(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(page())
    with browser() as opened:
        opened.open(path, "#symbol=even")
        opened.wait_for("document.querySelector('#conversion') !== null")
        assert f"borders, line 2: {HOSTILE}" in text(opened, "#conversion")
