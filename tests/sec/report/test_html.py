"""The HTML of a report, in a real browser: it loads nothing, filters, and shows hostile code without obeying it."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from jarvis_workers.sec.finding import Candidate
from jarvis_workers.sec.report import build, gather
from jarvis_workers.sec.report.html import render_html
from jarvis_workers.sec.report_document import BaselineSummary, Excerpt, IssueSuppression, SuppressionRemark
from jarvis_workers.sec.severity import severity_of
from jarvis_workers.sec.trace import trail_of
from tests.chaos.commands import crowd
from tests.support.browser import Browser, browser

COPY = Candidate(
    language="c/cpp",
    category="unsafe_api",
    pattern="unsafe_api",
    file="src/list.c",
    line=40,
    evidence="strcpy(d, s);",
    description="Copies without a bound.",
    suggestion="Pass the size.",
    confidence=0.85,
    cwe=676,
)
RUN = {
    "id": "a1b2",
    "scanned_root": "/home/ci/redis",
    "version": "0.1.0",
    "state": "done",
    "ended_at": "2026-03-04T05:06:07.890+00:00",
}
OPENED = 2.0
HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=https://evil.invalid/x onerror=\"document.title='owned'\">",
    "<!--<script>",
    "'\"><b>bold</b>&amp;&lt;",
    "]]> ${name} {line} %s `x`",
    "\u2028\u2029\u202eesrever\u2066\x00\x1b[31m\ud800",
)


def copy(**changes):
    return COPY._replace(**changes)


def report(*candidates, excerpts=None, run=RUN, scanned_files=3, most=100_000, **rest):
    body = build(gather(enumerate(candidates, start=1), 0.4, most), scanned_files=scanned_files, **rest)
    return "".join(render_html(body._replace(excerpts=excerpts or {}), run))


def id_of(candidate):
    return gather([(1, candidate)]).issues[0].id


def many(number):
    """Findings in five directories, of three rules, in all severities."""
    rules = (("unsafe_api", "unsafe_api"), ("atoi_family", "input_validation"), ("uaf_suspect", "memory_mgmt"))
    for place in range(number):
        pattern, category = rules[place % 3]
        yield copy(
            pattern=pattern,
            category=category,
            file=f"{('src/net', 'src/fs', 'lib', 'deps/lua', 'app')[place % 5]}/module_{place % 700}.c",
            line=1 + place,
            evidence=f"strcpy(target_{place}, source);",
            confidence=(0.9, 0.7, 0.5, 0.65)[place % 4],
        )


@pytest.fixture(scope="module")
def page():
    with browser() as running:
        yield running


@pytest.fixture
def opened(page: Browser, tmp_path: Path):
    """Open a report, and return the seconds until it was drawn."""

    def open_it(text: str, fragment: str = "") -> float:
        path = tmp_path / "report.html"
        path.write_bytes(text.encode("utf-8"))
        return page.open(path, fragment)

    return open_it


def without_script(text):
    left, number = re.subn(r"<script>.*</script>", "", text, flags=re.DOTALL)
    assert number == 1
    return left


def rows(page):
    return page.ask("document.querySelectorAll('#list details').length")


def counted(page):
    return page.ask("document.getElementById('count').textContent")


def open_all(page):
    page.ask("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.wait_for(
        "document.querySelectorAll('#list details').length === document.querySelectorAll('#list .inside').length"
    )


def filtered(page, fragment):
    page.ask(
        "new Promise(done => { addEventListener('hashchange', done, {once: true});"
        f" location.hash = {json.dumps(fragment)}; }}).then(() => 1)"
    )
    return rows(page)


@pytest.mark.timing
def test_nothing_is_loaded_and_nothing_refused(page, opened):
    opened(report(*many(40), excerpts={id_of(next(many(1))): Excerpt(1, ("int a;",))}))
    open_all(page)
    page.ask("document.getElementById('theme').click()")

    assert [address for address in page.requests if not address.startswith(("file:", "data:"))] == []
    assert len([address for address in page.requests if address.startswith("file:")]) == 1
    assert page.complaints == []
    assert rows(page) == 40


def test_the_browser_runs_no_style_or_script_but_the_pages_own(page, opened):
    opened(report(COPY))
    page.ask("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
    page.ask("document.body.append(Object.assign(new Image(), {src: 'https://evil.invalid/x.png'}))")

    assert page.ask("window.ran") is None
    assert any("script-src" in said for said in page.complaints)
    assert any("img-src" in said for said in page.complaints)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fragment", "wanted"),
    [
        ("severity=high", lambda one: severity_of(one.confidence) == "high"),
        ("severity=high,low", lambda one: severity_of(one.confidence) != "medium"),
        ("category=memory_mgmt", lambda one: one.category == "memory_mgmt"),
        ("rule=atoi_family", lambda one: one.pattern == "atoi_family"),
        ("file=SRC/", lambda one: "src/" in one.file),
        ("file=src/+-net", lambda one: "src/fs" in one.file),
        ("text=target_7%2C", lambda one: "target_7," in one.evidence),
        ("confidence=0.65", lambda one: one.confidence >= 0.65),
        ("status=heuristic", lambda one: True),
        ("status=confirmed", lambda one: False),
        (
            "severity=high&file=lib&rule=unsafe_api",
            lambda one: (
                one == copy(**(one._asdict() | {"confidence": 0.9, "pattern": "unsafe_api"})) and "lib" in one.file
            ),
        ),
    ],
)
def test_each_filter_leaves_what_it_says(page, opened, fragment, wanted):
    candidates = list(many(90))
    opened(report(*candidates), f"#{fragment}")
    left = [one for one in candidates if wanted(one)]

    shown = page.ask("[...document.querySelectorAll('#list .place')].map(one => one.textContent)")

    assert sorted(shown) == sorted(f"{one.file}:{one.line}" for one in left)
    assert counted(page) == (f"{len(left)} of 90" if len(left) < 90 else "90 listed")


def test_the_controls_filter_and_are_kept_in_the_address(page, opened):
    opened(report(*many(60)))
    page.ask("document.querySelector('#severity input[value=high]').click()")
    page.ask(
        "(control => { control.value = 'unsafe_api'; control.dispatchEvent(new Event('input', {bubbles: true})); })"
        "(document.querySelector('[name=rule]'))"
    )

    assert rows(page) == 5
    assert page.ask("location.hash") == "#severity=high&rule=unsafe_api"
    page.ask("document.getElementById('reset').click()")
    assert rows(page) == 60


@pytest.mark.timing
def test_an_address_names_one_finding_and_shows_it_open(page, opened):
    one = copy(line=7, confidence=0.5)
    opened(report(*many(20), one), f"#id={id_of(one)}")
    page.wait_for("document.querySelector('#list .inside')")

    assert rows(page) == 1
    assert page.ask("document.querySelector('#list .place').textContent") == "src/list.c:7"


@pytest.mark.parametrize(
    ("fragment", "order"),
    [
        ("", lambda one: (-one.confidence, one.line)),
        ("#order=file", lambda one: (one.file, one.line)),
        ("#order=rule", lambda one: (one.pattern, -one.confidence, one.line)),
    ],
)
def test_findings_stand_in_the_order_asked_for(page, opened, fragment, order):
    candidates = list(many(60))
    opened(report(*candidates), fragment)
    shown = page.ask("[...document.querySelectorAll('#list .place')].map(one => one.textContent)")

    assert shown == [f"{one.file}:{one.line}" for one in sorted(candidates, key=order)]


@pytest.mark.timing
def test_back_returns_to_the_page_before(page, opened):
    opened(report(*many(250)))
    page.ask("[...document.querySelectorAll('#pages button')].find(one => one.textContent === 'Next').click()")
    assert page.ask("document.querySelector('#pages span').textContent") == "Page 2 of 3"
    page.ask("history.back()")
    page.wait_for("document.querySelector('#pages span').textContent === 'Page 1 of 3'")


@pytest.mark.timing
def test_a_fingerprint_is_copied_or_else_selected(page, opened):
    opened(report(COPY))
    open_all(page)
    page.ask("document.querySelector('.copy').click()")
    page.wait_for("document.querySelector('.copy').textContent !== 'Copy'")

    assert page.ask("document.querySelector('.copy').textContent") in ("Copied", "Selected")


@pytest.mark.timing
def test_a_bar_of_a_chart_is_a_filter(page, opened):
    opened(report(*many(60)))
    href = page.ask("document.querySelector('.bars a').getAttribute('href')")
    page.ask(
        "document.querySelector('.bars a').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))"
    )
    page.wait_for("document.querySelectorAll('#list details').length < 60")

    assert href == "#category=unsafe_api"
    assert rows(page) == 20


@pytest.mark.timing
def test_the_keyboard_reaches_filters_and_opens_findings(page, opened):
    opened(report(*many(20)))
    page.press("/")
    for letter in "deps":
        page.press(letter)

    assert rows(page) == 4
    page.ask("document.querySelector('#list summary').focus()")
    page.press("Enter")
    page.wait_for("document.querySelector('#list .inside')")
    assert page.ask("document.querySelector('#list details').open") is True
    assert "Copies without a bound." in page.ask("document.querySelector('#list .inside').textContent")


@pytest.mark.slow
@pytest.mark.parametrize("number", [10_000, 25_000])
def test_many_findings_open_soon_and_come_in_pages(page, opened, number):
    text = report(*many(number))
    seconds = min(opened(text), opened(text))

    assert seconds <= OPENED * number / 10_000 * crowd()
    assert rows(page) == 100
    assert counted(page) == f"{number:,} listed"
    page.ask("[...document.querySelectorAll('#pages button')].at(-1).click()")
    assert page.ask("document.querySelector('#pages span').textContent") == f"Page {number // 100} of {number // 100}"
    assert filtered(page, "text=target_42%2C") == 1
    assert rows(page) == 1


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_not_obeyed(page, opened, text):
    hostile = copy(file=text, evidence=text, description=text, suggestion=text, pattern=text, category=text)
    hostile = hostile._replace(trail=trail_of([(text, 1, text)], text))
    excerpts = {id_of(hostile): Excerpt(39, (text, text))}
    text_of_report = report(
        hostile,
        excerpts=excerpts,
        run=RUN | {"scanned_root": f"/x/{text.replace('/', '')}", "reason": text},
        not_checked=[(text, text)],
        left_out={text: 1},
        excluded=[(text, text)],
    )
    opened(text_of_report, f"#{quote(text, errors='replace')}")
    open_all(page)

    assert page.complaints == []
    assert page.ask("document.title").startswith("Security report: ")
    assert page.ask("document.querySelectorAll('main b b, main img, main script').length") == 0
    assert page.ask("document.querySelectorAll('script').length") == 2
    everything = page.ask("document.body.innerText + document.getElementById('data').textContent")
    assert not re.search("[\u2028-\u202e\u2066-\u2069\x00\x1b]", everything)
    assert page.ask("document.querySelector('#list .line').textContent").startswith("39")
    assert [address for address in page.requests if not address.startswith(("file:", "data:"))] == []


@pytest.mark.timing
def test_what_is_in_the_page_and_what_the_script_builds_are_the_same(page, opened):
    steps = trail_of([("lib/a.c", 3, "freed here"), (None, 41, "freed again")], "src/list.c")
    candidates = [copy(), copy(line=41, confidence=0.5, cwe=0, trail=steps)]
    excerpts = {id_of(COPY): Excerpt(39, ("{", "  strcpy(d, s);", "}"))}
    text = report(*candidates, excerpts=excerpts)
    opened(text)
    open_all(page)
    page.ask("document.querySelectorAll('.copy').forEach(one => one.remove())")
    words = "[...document.querySelectorAll('#list details')].map(one => one.textContent.split(/\\s+/).join(' ').trim())"
    built = page.ask(words)
    opened(without_script(text))

    assert [one.replace(" ", "") for one in page.ask(words)] == [one.replace(" ", "") for one in built]
    assert page.ask("document.querySelector('.line.hit').textContent").split() == ["40", "strcpy(d,", "s);"]
    assert page.ask("document.querySelectorAll('#list .path li').length") == 2


def test_without_its_script_the_page_holds_the_best_findings_to_read(page, opened):
    opened(without_script(report(*many(300))))

    assert page.ask("document.querySelectorAll('#list details.high .remedy').length") == 75
    assert page.ask("document.getElementById('filters').checkVisibility()") is False
    assert counted(page) == "The first 100 of 300; the others need JavaScript, or another format"


@pytest.mark.slow
def test_on_paper_findings_are_open_and_filters_are_not_there(page, opened):
    opened(report(*many(12)), "#severity=high")
    page.ask(
        "addEventListener('beforeprint', () => {"
        " window.printed = document.querySelectorAll('#list details[open] .remedy').length; })"
    )
    paper = base64.b64decode(page.call("Page.printToPDF")["data"])
    page.call("Emulation.setEmulatedMedia", media="print")
    try:
        display = page.ask("getComputedStyle(document.getElementById('filters')).display")
    finally:
        page.call("Emulation.setEmulatedMedia", media="")

    assert paper.startswith(b"%PDF")
    assert page.ask("window.printed") == 3
    assert display == "none"


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("width", [390, 1280])
def test_no_width_makes_the_page_scroll_sideways(page, opened, width):
    long = copy(file="src/" + "deep/" * 40 + "x.c", evidence="x" * 200, pattern="p" * 60)
    page.resize(width, 900)
    opened(
        report(long, *many(20), excerpts={id_of(long): Excerpt(40, ("y" * 200,))}, not_checked=[("n" * 300, "r" * 300)])
    )
    open_all(page)

    assert page.ask("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_follows_the_system_and_the_switch_turns_it(page, opened, theme):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    light = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]) > 128"
    opened(report(COPY))
    page.ask("localStorage.clear()")
    opened(report(COPY))
    before = page.ask(light)
    page.ask("document.getElementById('theme').click()")

    assert before is (theme == "light")
    assert page.ask(light) is not before
    page.ask("localStorage.clear()")
    page.call("Emulation.setEmulatedMedia", features=[])


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"not_checked": [("x.c", "too large")]}, "Incomplete."),
        ({"scanned_files": 0}, "Nothing was checked."),
        ({}, "No findings."),
    ],
)
def test_only_a_whole_scan_without_findings_reads_as_one(facts, says):
    text = report(**facts)

    assert f"<b>{says}</b>" in text
    assert ("No findings." in text) == (says == "No findings.")


@pytest.mark.parametrize("aside", [{"suppressed": 2}, {"baseline": BaselineSummary(3, 0, {"what": "main"})}])
def test_findings_that_were_set_aside_do_not_read_as_none(aside):
    body = build(gather([]), scanned_files=3)
    text = "".join(render_html(body._replace(summary=body.summary._replace(**aside)), RUN))

    assert "No findings." not in text
    assert "This does not prove that the code is free of defects." in text


def test_what_was_not_checked_stands_above_the_numbers_and_by_name(page, opened):
    gaps = [("x.c", "no permission"), ("y.c", "no permission"), ("z.c", "a"), ("z.c", "b"), ("z.c", "c")]
    opened(report(COPY, not_checked=gaps))

    assert page.ask("document.querySelector('main').firstElementChild.textContent").startswith("Not checked: 3 files.")
    assert "no permission (2)" in page.ask("document.querySelector('[role=alert]').textContent")
    assert "and others" in page.ask("document.querySelector('[role=alert]').textContent")
    assert page.ask("[...document.querySelectorAll('#not-checked li')].map(one => one.textContent)") == [
        "z.c",
        "z.c",
        "z.c",
        "x.c",
        "y.c",
    ]


def test_what_is_not_listed_is_said():
    text = report(*(copy(line=line) for line in range(5)), copy(confidence=0.2), most=2)

    assert "Not listed: 3 findings." in text
    assert "Not listed: 1 weaker finding" in text
    assert "fill-plain" in text


def test_more_names_than_a_page_holds_are_counted():
    text = report(not_checked=[(f"f{number}.c", "gone") for number in range(5_003)])

    assert "and 3 files more: see the JSON report" in text


def test_a_report_says_how_much_code_it_shows():
    some = {id_of(COPY): Excerpt(40, ("strcpy(d, s);",))}

    assert "Code is shown for the 1 highest-scoring of 2 findings" in report(COPY, copy(line=41), excerpts=some)
    assert "No code excerpts" in report(COPY)
    assert "excerpts" not in report(COPY, excerpts=some).partition("<script")[0]


def test_what_was_set_aside_is_named_with_its_reason():
    body = build(gather([(1, COPY)]), scanned_files=1)
    summary = body.summary._replace(
        suppressed=1,
        unused_suppressions=[SuppressionRemark("a.c", 3, "jarvis-ignore[x]", "no such rule")],
        unused_suppressions_not_listed=7,
        baseline=BaselineSummary(4, 1, {"what": "<main>", "not_listed": 9, "state": "incomplete"}),
    )
    suppressed = body.issues[0]._replace(suppression=IssueSuppression("inSource", "<checked> above"))
    text = "".join(render_html(body._replace(summary=summary, suppressed=[suppressed]), RUN))

    assert "&lt;checked&gt; above" in text
    assert "no such rule" in text
    assert "and 7 more" in text
    assert "4 findings of the baseline <code>&lt;main&gt;</code> still exist, 1 no longer found." in text
    assert "did not list 9 findings" in text
    assert "The run over the baseline is incomplete" in text


@pytest.mark.parametrize(
    ("root", "name"),
    [
        ("/home/ci/redis/", "redis"),
        ("https://example.org/antirez/redis.git@" + "0a" * 20, "redis"),
        (None, "source"),
        ("/", "source"),
    ],
)
def test_the_title_is_what_was_scanned(root, name):
    assert f"<title>Security report: {name}</title>" in report(COPY, run=RUN | {"scanned_root": root})


@pytest.mark.slow
def test_ten_thousand_findings_with_code_stay_below_ten_megabytes():
    candidates = list(many(10_000))
    code = Excerpt(1, ("    " + "x" * 60,) * 9)
    excerpts = {issue.id: code for issue in gather(enumerate(candidates)).issues[:5_000]}

    assert len(report(*candidates, excerpts=excerpts).encode()) < 10_000_000


STEPS = [
    ("src/list.c", 12, "allocated"),
    ("src/net.c", 7, "sent here"),
    ("src/list.c", 40, "freed"),
    (None, 40, "used"),
]
WAY = copy(trail=trail_of(STEPS, "src/list.c"))
PIECES = Excerpt(
    38,
    ("", "{", "free(d);"),
    ((40, "step"),),
    more=(
        Excerpt(11, ("", "d = malloc(1);"), ((12, "step"),), "src/list.c"),
        Excerpt(7, ("send(d);",), ((7, "step"),), "src/net.c"),
    ),
)


@pytest.mark.parametrize("script", [True, False])
def test_excerpts_stand_in_the_order_of_lines_with_the_numbers_of_the_steps(page, opened, script):
    text = report(WAY, excerpts={id_of(WAY): PIECES})
    opened(text if script else without_script(text))
    open_all(page) if script else page.ask("document.querySelectorAll('details').forEach(one => one.open = true)")

    lines = "[...document.querySelectorAll('#list .line')].map(one => Number(one.querySelector('.number').textContent))"
    assert page.ask(lines) == [11, 12, 38, 39, 40, 7]
    numbered = (
        "[...document.querySelectorAll('#list .at')].map(one => one.textContent + ' ' + one.parentElement.textContent)"
    )
    assert [re.sub(r"\s+", " ", one).strip() for one in page.ask(numbered)] == [
        "1 112d = malloc(1);",
        "3,4 3,440free(d);",
        "2 27send(d);",
    ]
    target = "document.getElementById(one.hash.slice(1)).textContent"
    assert page.ask(f"[...document.querySelectorAll('#list .path a')].map(one => {target})") == ["1", "2", "3,4", "3,4"]


def test_a_step_leads_to_its_line_and_keeps_the_filters(page, opened):
    opened(report(WAY, *many(20), excerpts={id_of(WAY): PIECES}), "#severity=high")
    open_all(page)
    before = rows(page)
    page.ask("document.querySelectorAll('#list .path a')[1].click()")

    assert page.ask("document.querySelector('.line.seen .number').textContent") == "7"
    assert page.ask("location.hash") == "#severity=high"
    assert rows(page) == before
    page.ask("document.querySelectorAll('.about').forEach(one => one.open = false)")
    page.ask("document.querySelector('#list .silence a').click()")
    assert page.ask("document.querySelector('.about[open] .rule').textContent") == "unsafe_api"
    assert page.ask("document.querySelectorAll('.about[open]').length") == 1


def test_a_finding_says_how_to_suppress_it_and_its_rule_has_examples(page, opened):
    text = report(COPY)
    opened(text)
    open_all(page)

    said = page.ask("document.querySelector('#list .silence').textContent")
    assert "// jarvis-ignore[unsafe_api]: reason" in said
    assert f"jarvis sec triage a1b2 --mark {id_of(COPY)}=false --reason '...'" in said
    assert page.ask("document.querySelectorAll('.about .code').length") == 2


def test_the_keyboard_goes_from_finding_to_finding_and_shows_its_keys(page, opened):
    opened(report(*many(250)))
    place = "document.activeElement.querySelector('.place').textContent"
    page.press("j")
    first = page.ask(place)
    page.press("j")
    second = page.ask(place)
    page.press("k")

    assert page.ask(place) == first != second
    page.press("n")
    assert page.ask("document.querySelector('#pages span').textContent") == "Page 2 of 3"
    page.press("p")
    assert page.ask("document.querySelector('#pages span').textContent") == "Page 1 of 3"
    page.press("?")
    assert page.ask("document.querySelector('dialog[open]').textContent").count("finding") == 2
    page.press("j")
    assert page.ask("document.activeElement.closest('dialog') !== null")
    stops = (
        "(first => [...document.querySelectorAll('a[href],button,input,select,summary,[tabindex]')].filter(one => "
        "one.tabIndex >= 0 && one.checkVisibility() && !one.closest('dialog') && "
        "one.compareDocumentPosition(first) & 4).length)(document.querySelector('#list summary'))"
    )
    assert page.ask(stops) <= 20


def test_all_rules_that_fired_are_counted_also_those_of_findings_that_are_not_listed(page, opened):
    candidates = [copy(), copy(line=41), copy(pattern="atoi_family", confidence=0.5, line=1)]
    opened(report(*candidates, most=2))
    tile = "[...document.querySelectorAll('.tile')].find(one => one.hash === '#rules').innerText.replace('\\n', ' ')"

    assert page.ask(tile) == "2 Rules that fired"
    assert page.ask("document.querySelector('#rules h2').textContent") == "Rules that fired (listed)"
    body = build(gather(enumerate(candidates, 1), 0.4, 2), scanned_files=1)
    older = body._replace(summary=body.summary._replace(rules_fired=None))
    opened("".join(render_html(older, RUN)))
    assert page.ask(tile) == "1 Rules that fired (listed)"


@pytest.mark.timing
@pytest.mark.slow
def test_three_hundred_findings_take_forty_pages_with_heads_and_the_filters_named(page, opened):
    def trail(number: int) -> str | None:
        steps = range(4 * number, 4 * number + 4)
        return trail_of(
            [("src/list.c", line, "the value comes from outside and is kept") for line in steps], "src/list.c"
        )

    opened(report(*(one._replace(trail=trail(number)) for number, one in enumerate(many(400)))), "#file=module")
    paper = base64.b64decode(page.call("Page.printToPDF", preferCSSPageSize=True)["data"])

    assert len(re.findall(rb"/Type\s*/Page\b", paper)) <= 40
    page.ask("dispatchEvent(new Event('beforeprint'))")
    assert page.ask("document.getElementById('printed').textContent") == "400 findings. Filters: Path: module"
    assert page.ask("document.querySelectorAll('#list > details').length") == 300


@pytest.mark.parametrize("name", ['a"; } body { display: none } /*', "</style><script>", "\\\\", "名\n"])
def test_the_head_of_a_printed_page_is_the_title_and_no_style(page, opened, name):
    opened(report(COPY, run=RUN | {"scanned_root": f"/x/{name.replace('/', '')}"}))

    assert page.complaints == []
    assert page.ask("document.body.checkVisibility()")
    assert page.ask("document.styleSheets[0].cssRules.length") > 100
    rules = "[...document.styleSheets[0].cssRules].filter(one => one instanceof CSSPageRule).length"
    assert page.ask(rules) == 1


CONTRAST = r"""
(() => {
  const linear = (part) => (part <= .03928 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
  const light = (text) => {
    const [r, g, b] = text.match(/[\d.]+/g).map((part) => linear(part / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ground = (one) => {
    const colour = getComputedStyle(one).backgroundColor;
    return /, 0\)$|transparent/.test(colour) ? ground(one.parentElement) : colour;
  };
  const texts = ".badge, .tile b, .rule, .place, .evidence, .silence code, .at, dt, small";
  return Math.min(...[...document.querySelectorAll(texts)].filter((one) => one.checkVisibility())
    .map((one) => [light(getComputedStyle(one).color), light(ground(one))].sort((a, b) => b - a))
    .map(([a, b]) => (a + .05) / (b + .05)));
})()
"""


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(page, opened, theme):
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    opened(report(WAY, *many(12), excerpts={id_of(WAY): PIECES}))
    open_all(page)

    assert page.ask(CONTRAST) >= 4.5
    page.call("Emulation.setEmulatedMedia", features=[])


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("script", [True, False])
def test_a_place_is_a_link_to_the_source_where_a_template_is_set(page, opened, script):
    text = report(copy(file="src/a b.c"), run=RUN | {"source_url": "https://host/x/{path}#L{line}"})
    opened(text if script else without_script(text))
    open_all(page) if script else None

    assert page.ask("[...document.querySelectorAll('#list dl a')][0].href") == "https://host/x/src/a%20b.c#L40"
