"""The page of a symbol graph in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import pytest

from jarvis_workers.c2rust.conversion import Conversion, FunctionResult, GateOutcome, Review, SuiteResult
from jarvis_workers.c2rust.report.body import UncheckedUnit
from jarvis_workers.c2rust.report.conversion_data import conversion_data
from jarvis_workers.c2rust.report.page import PageFacts, render_page
from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.c2rust.symbol import Edge, SymbolGraph
from tests.c2rust.graphs import graph_of, large_graph, order_of
from tests.support.browser import Browser, browser
from tests.web.test_browser import AXE, axe

FACTS = PageFacts("zlib", ("/home/ci/zlib", "jarvis 0.1.0"), units=3)
UNREAD = UncheckedUnit("src/bad.c", "'zconf.h' file not found")
HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=https://evil.invalid/x onerror=\"document.title='owned'\">",
    "<!--<script>",
    "'\"><b>bold</b>&amp;&lt;",
    "]]> ${name} {line} %s `x`",
    "a\n\u2028\u2029\u202eesrever\u2066\x00\x1b[31m\ud800",
    "x=1&view=roots#symbol=a%00%",
    "x" * 10_000,
)


class Opener(Protocol):
    def __call__(self, page: bytes, fragment: str = "") -> float: ...


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    with browser() as running:
        running.resize(1400, 1000)
        yield running


@pytest.fixture
def opened(page: Browser, tmp_path: Path) -> Opener:
    """Open a page, and return the seconds until it was drawn."""

    def open_it(text: bytes, fragment: str = "") -> float:
        path = tmp_path / "page.html"
        path.write_bytes(text)
        return page.open(path, fragment)

    return open_it


def small(**fields: object) -> bytes:
    """main calls even and log; even and odd call each other."""
    graph = graph_of(["main", "even", "odd", "log"], [(1, 2), (1, 4), (2, 3), (3, 2)], **fields)  # type: ignore[arg-type]
    return render_page(graph, order_of(graph, (2, 3)), [1], FACTS)


def follow(page: Browser, selector: str) -> None:
    """Click a link, and wait until the page shows what it leads to."""
    page.ask(
        "new Promise(done => { addEventListener('hashchange', () => done(1), {once: true});"
        f" document.querySelector({json.dumps(selector)}).dispatchEvent("
        "new MouseEvent('click', {bubbles: true, cancelable: true})); })"
    )


def visit(page: Browser, fragment: str) -> None:
    """Go to an address of the page, and wait until it is shown."""
    page.ask(
        "new Promise(done => { addEventListener('hashchange', () => done(1), {once: true});"
        f" location.hash = {json.dumps(fragment.encode('utf-8', 'replace').decode())}; }})"
    )


def side(page: Browser, title: str) -> list[str]:
    """The names in a list of the view, by its title."""
    found: list[str] = page.ask(
        "[...document.querySelectorAll('#view .panel')].filter(one => one.querySelector('h3').textContent.startsWith("
        f"{json.dumps(title)})).flatMap(one => [...one.querySelectorAll('.rows .name')].map(a => a.textContent))"
    )
    return found


def test_the_same_graph_gives_the_same_bytes() -> None:
    assert small() == small()


@pytest.mark.slow
def test_a_search_shows_callers_and_callees_by_keyboard(page: Browser, opened: Opener) -> None:
    opened(small())
    for key in ("/", *"eve"):
        page.press(key)
    page.press("Enter")
    page.wait_for("document.title.startsWith('even')")

    assert (side(page, "Callers"), side(page, "Callees")) == (["main", "odd"], ["odd"])
    assert page.ask("location.hash") == "#symbol=even"
    assert page.complaints == []


@pytest.mark.slow
def test_back_returns_to_the_symbol_before(page: Browser, opened: Opener) -> None:
    opened(small(), "#symbol=main")
    follow(page, "#view .rows a[href='#symbol=log']")
    assert side(page, "Callers") == ["main"]

    page.ask("history.back()")
    page.wait_for("document.title.startsWith('main')")
    assert side(page, "Callees") == ["even", "log"]


@pytest.mark.slow
def test_the_address_tells_symbols_of_one_name_apart(page: Browser, opened: Opener) -> None:
    graph = graph_of(["main", "help", "help"], [(1, 3)])
    opened(render_page(graph, order_of(graph), [1], FACTS), "#symbol=main")
    follow(page, "#view .rows .name")

    assert page.ask("location.hash") == "#symbol=help&file=src%2Fmain.c&line=60"
    assert side(page, "Callers") == ["main"]
    opened(render_page(graph, order_of(graph), [1], FACTS), "#symbol=help&file=src%2Fmain.c&line=40")
    assert side(page, "Callers") == []


@pytest.mark.slow
def test_what_was_not_read_never_looks_like_no_edges(page: Browser, opened: Opener) -> None:
    graph = graph_of(["main", "log"], [(1, 2)], log={"complete": False})
    facts = PageFacts("zlib", units=3, not_checked=[UNREAD])
    opened(render_page(graph, order_of(graph), [1], facts), "#symbol=log")
    text = page.ask("document.querySelector('#view').innerText")

    assert "Not read: no unit defines this symbol without errors" in text
    assert "Callees unknown" in text and "None." not in text
    page.ask("document.querySelector('#not-checked').open = true")
    assert "src/bad.c 'zconf.h' file not found" in page.ask("document.querySelector('main').innerText")
    opened(render_page(graph, order_of(graph), [1], facts), "#symbol=main")
    assert "None in the units that were read; 1 unit not checked." in page.ask("view.innerText")


@pytest.mark.slow
def test_hostile_names_are_shown_and_not_obeyed(page: Browser, opened: Opener) -> None:
    names, everything = [*HOSTILE, "main"], " ".join(HOSTILE)
    calls = [(1, 9), *((9, number) for number in range(1, 9))]
    graph = graph_of(names, calls, **{text: hostile_fields(text) for text in HOSTILE})
    unread = [UncheckedUnit(text, text) for text in HOSTILE]
    facts = PageFacts(everything, HOSTILE, units=9, not_checked=unread, warnings=HOSTILE)
    html = render_page(graph, order_of(graph, (1, 9)), [1], facts)
    opened(html, f"#{quote(everything, errors='replace')}")
    assert_harmless(page)
    fragments = [*(f"view={view}" for view in ("symbols", "files", "roots", "order", "cycles")), *HOSTILE[:-1]]
    for fragment in fragments:
        visit(page, fragment)
        assert_harmless(page)
    for number in range(len(HOSTILE)):
        visit(page, "symbol=main")
        page.ask(f"document.querySelectorAll('#view .panel:last-child .rows .name')[{number}].id = 'wanted'")
        follow(page, "#wanted")
        assert_harmless(page)
        assert "main" in side(page, "Callers")


def hostile_fields(text: str) -> dict[str, object]:
    file = text.replace("/", "").encode("utf-8", "surrogatepass")
    return {"file": file, "signature": text, "kind": text, "facts": (text,), "calls": (text, "other")}


def assert_harmless(page: Browser) -> None:
    assert page.complaints == []
    assert page.ask("document.querySelectorAll('main b b, main img, main script').length") == 0
    assert page.ask("document.querySelectorAll('script').length") == 2
    assert page.ask("document.title") != "owned"
    everything = page.ask("document.documentElement.innerText + document.getElementById('data').textContent")
    assert not re.search("[\u2028-\u202e\u2066-\u2069\x00\x1b]", everything)
    assert page.ask("document.documentElement.scrollWidth") <= 1400
    assert [address for address in page.requests if not address.startswith(("file:", "data:"))] == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 800, 1400])
@pytest.mark.parametrize(
    "fragment", ["", "#symbol=even", "#view=symbols", "#view=files", "#file=src%2Fmain.c", "#cycle=1", "#view=order"]
)
def test_each_view_is_accessible_at_each_width(page: Browser, opened: Opener, width: int, fragment: str) -> None:
    page.resize(width, 1000)
    for theme in ("light", "dark"):
        opened(small(even={"facts": ("goto",), "calls": ("malloc",)}, odd={"complete": False}), fragment)
        page.ask(f"document.documentElement.dataset.theme = '{theme}'")
        page.ask(axe())

        assert page.ask(AXE) == []
        assert page.ask("document.documentElement.scrollWidth") <= width
    page.resize(1400, 1000)


@pytest.mark.slow
def test_lists_of_a_large_graph_have_few_elements_and_scroll_by_keyboard(page: Browser, opened: Opener) -> None:
    graph = large_graph(3_000, 15_000)
    opened(render_page(graph, order_of(graph), [1], FACTS), "#view=symbols&category=function")

    assert page.ask("document.querySelectorAll('#view .rows .row').length") < 60
    page.ask("document.querySelector('#view .rows a').focus()")
    page.ask(
        "document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'End', bubbles: true, cancelable: true}))"
    )
    assert page.ask("document.activeElement.textContent") == graph.symbols[2_999].name
    assert page.ask("document.querySelectorAll('#view .rows .row').length") < 60


@pytest.mark.slow
def test_a_graph_of_nothing_has_a_page(page: Browser, opened: Opener) -> None:
    html = render_page(SymbolGraph(), [], [], PageFacts("empty"))
    opened(html)
    for fragment in ("view=files", "view=roots", "view=order", "view=cycles", "symbol=main", "cycle=7"):
        visit(page, fragment)
        assert page.complaints == []
    assert page.ask("document.querySelectorAll('[role=list]:not(:has([role=listitem]))').length") == 0


@pytest.mark.slow
def test_kinds_of_edges_are_switched_on_and_off(page: Browser, opened: Opener) -> None:
    graph = graph_of(["main", "Node"], Node={"category": "type", "kind": "struct"})
    graph = SymbolGraph(graph.symbols, (Edge(1, 2, "type"),))
    opened(render_page(graph, order_of(graph), [1], FACTS), "#symbol=main")

    assert side(page, "Callees") == []
    assert "None of the chosen kinds." in page.ask("view.innerText")
    page.ask("document.querySelector('.chip.e-type').click()")
    assert side(page, "Callees") == ["Node"]


@pytest.mark.slow
def test_the_picture_of_a_symbol_with_many_users_is_bounded(page: Browser, opened: Opener) -> None:
    names = ["log", *(f"user_{number}" for number in range(500))]
    graph = graph_of(names, [(number, 1) for number in range(2, 502)])
    opened(render_page(graph, order_of(graph), [2], FACTS), "#symbol=log")

    assert page.ask("view.querySelectorAll('svg .node').length") <= 60
    assert "and 476 more" in page.ask("view.querySelector('svg').textContent")
    assert page.ask("view.querySelector('.panel h3').textContent") == "Callers 500"


@pytest.mark.slow
def test_a_cycle_shows_its_members_and_their_edges(page: Browser, opened: Opener) -> None:
    opened(small(), "#view=cycles")
    follow(page, "#view .rows .name")

    assert side(page, "Members") == ["even", "odd"]
    assert page.ask("view.querySelectorAll('svg .edge').length") == 2


@pytest.mark.slow
def test_back_returns_to_the_place_in_a_list(page: Browser, opened: Opener) -> None:
    graph = graph_of([f"f{number}" for number in range(300)])
    opened(render_page(graph, order_of(graph), [1], FACTS), "#view=symbols")
    page.ask("document.querySelector('#view .rows').scrollTop = 3400")
    page.wait_for("[...document.querySelectorAll('#view .rows a')].some(one => one.textContent === 'f105')")
    page.ask("[...document.querySelectorAll('#view .rows a')].find(one => one.textContent === 'f105').id = 'wanted'")
    follow(page, "#wanted")

    page.ask("history.back()")
    page.wait_for("document.title.startsWith('Symbols')")
    assert page.ask("document.querySelector('#view .rows').scrollTop") == 3400


@pytest.mark.slow
def test_a_type_that_is_only_declared_is_no_alarm(page: Browser, opened: Opener) -> None:
    graph = graph_of(["main", "handle"], handle={"category": "type", "kind": "struct", "complete": False})
    opened(render_page(graph, order_of(graph), [1], FACTS), "#symbol=handle")

    assert "Declared only" in page.ask("view.innerText") and "Uses unknown" in page.ask("view.innerText")
    assert page.ask("document.querySelectorAll('.notice.bad').length") == 0


CHINESE = words_in_reports("zh")
VIEWS = ("conversion", "symbols&fact=indirect_calls", "files", "cycles", "roots", "order")
ADDRESSES = ("", "symbol=f", "symbol=g", "symbol=t", "symbol=x", "file=a.c", "file=x", "cycle=1")
SHOWN = """
[document.title, document.body.innerText, document.getElementById('keys').textContent,
 ...[...document.querySelectorAll('[title], [aria-label], [placeholder]')].flatMap(
    one => [one.title, one.ariaLabel, one.placeholder]),
 ...[...document.querySelectorAll('svg title')].map(one => one.textContent)].join(' ')
"""


def chinese(*, converted: bool) -> bytes:
    """f and g call each other, t is a type; names of the project have no English words."""
    fields = {name: {"file": file, "lines": 9} for name, file in (("f", b"a.c"), ("g", b"a.c"), ("h", b"b.c"))}
    fields["f"] |= {"facts": ("indirect_calls", "variadic"), "calls": ("x",)}
    fields["g"] |= {"complete": False}
    fields["t"] = {"category": "type", "kind": "struct", "file": b"b.c", "complete": False}
    graph = graph_of(["f", "g", "h", "t"], [(1, 2), (2, 1), (3, 1), (3, 3)], **fields)
    gates, reviews = (GateOutcome("X", passed=False),), (Review("X", ("y",)),)
    functions = (
        FunctionResult("f", "a.c", 20, 28, "a", "f", cause="refused", gates=gates, reviews=reviews, lines=2),
        FunctionResult("g", "a.c", 40, 48, "a", "g", state="mechanical"),
        FunctionResult("h", "b.c", 60, 68, "b", "h", cause="not_checked"),
    )
    conversion = Conversion(functions, suites=(SuiteResult("x", passed=True),))
    data = conversion_data(graph, conversion, {}, {}) if converted else None
    facts = PageFacts("z", units=600, not_checked=[UncheckedUnit("u.c", "x")] * 501)
    return render_page(graph, order_of(graph, (1, 2)), [3], facts, data, CHINESE)


@pytest.mark.slow
@pytest.mark.parametrize("converted", [False, True])
def test_a_page_in_chinese_has_no_english_text(page: Browser, opened: Opener, converted: bool) -> None:
    opened(chinese(converted=converted))
    assert page.ask("document.documentElement.lang") == "zh-CN"
    texts = [page.ask(SHOWN)]
    for fragment in (*ADDRESSES[1:], *(f"view={view}" for view in VIEWS[not converted :])):
        visit(page, fragment)
        texts.append(page.ask(SHOWN))
    page.ask("(field.value = 'f', suggest())")
    texts.append(page.ask(SHOWN))

    assert {word for text in texts for word in re.findall("[A-Za-z]{4,}", text)} <= {"Enter", "Rust", "none", "RUST"}
    assert page.complaints == []


@pytest.mark.slow
def test_a_kind_that_looks_like_a_placeholder_is_shown_as_it_is(page: Browser, opened: Opener) -> None:
    graph = graph_of(["f", "g"], f={"category": "type", "kind": "{number}"}, g={"category": "type", "kind": "toString"})
    opened(render_page(graph, order_of(graph), [], FACTS, say=CHINESE), "#view=symbols")

    assert page.ask("[...document.querySelectorAll('.rows .badge')].map(one => one.textContent)") == [
        "{number}",
        "toString",
    ]
