"""The HTML of a report with verdicts, in a real browser: the worst finding at hand, views, and nothing obeyed."""

import json
import re
from pathlib import Path

import pytest

from jarvis_workers.sec.report.html import render_html
from jarvis_workers.sec.report.verdicts import TEXT_TITLES
from jarvis_workers.sec.report_document import Excerpt
from jarvis_workers.sec.trace import trail_of
from tests.chaos.commands import crowd
from tests.sec.verdicts import COPY, EVERY, NO_RISK, OPEN_END, RISK, RUN, hostile, judged_body, like
from tests.support.browser import Browser, browser

ELSEWHERE = Excerpt(8, ("{", "  read(fd, s, 4096);"), ((9, "quote"),), "src/main.c")
CODE = Excerpt(38, ("char d[8];", "", "strcpy(d, s);"), ((38, "quote"), (39, "step")), "", (ELSEWHERE,))


def report(*decided, run=RUN, **rest):
    body = judged_body(*decided, **rest)
    return "".join(render_html(body._replace(excerpts={issue.id: CODE for issue in body.issues[:2]}), run))


def many(number):
    for place in range(number):
        found = like(COPY, file=f"src/{place % 700}.c", line=1 + place, confidence=(0.9, 0.7, 0.5)[place % 3])
        yield found, (RISK, OPEN_END, NO_RISK, RISK | {"status": "review"})[place % 4] | {"cluster": 1 + place % 2_000}


@pytest.fixture(scope="module")
def page():
    with browser() as running:
        yield running


@pytest.fixture
def opened(page: Browser, tmp_path: Path):
    def open_it(text: str, fragment: str = "") -> float:
        path = tmp_path / "report.html"
        path.write_bytes(text.encode("utf-8"))
        return page.open(path, fragment)

    return open_it


def texts(page, selector):
    return page.ask(f"[...document.querySelectorAll({json.dumps(selector)})].map(one => one.textContent.trim())")


def click(page, selector):
    page.ask(f"document.querySelector({json.dumps(selector)}).click()")


def shown(page):
    return texts(page, "#list .finding > summary .place")


def open_all(page):
    """Open the groups, and then what they are filled with."""
    closed = "[...document.querySelectorAll('#list details')].filter(one => one.childElementCount < 2)"
    page.wait_for(f"{closed}.map(one => one.open = true).length === 0")


@pytest.mark.slow
@pytest.mark.timing
def test_one_click_leads_to_the_worst_confirmed_finding_its_evidence_and_its_fix(page, opened):
    opened(report(*EVERY))
    click(page, ".worst a")
    page.wait_for("document.querySelectorAll('#list .inside').length === 1")

    assert shown(page)[0] == "src/list.c:40"
    assert texts(page, "#list .remedy") == ["What to do: Use strlcpy with sizeof d."]
    assert texts(page, "#list .quotes li")[0] == "src/list.c:38 char d[8];"
    assert texts(page, "#list .words dd") == [
        "s comes from the network.",
        "main reads it.\nlist_add copies it.",
        "The stack is overwritten.",
    ]


@pytest.mark.slow
def test_findings_come_by_verdict_then_by_score_and_dismissed_ones_when_asked_for(page, opened):
    opened(report(*EVERY))
    assert texts(page, "#list .status") == ["confirmed", "confirmed", "to review", "undecided", "undecided"]
    assert texts(page, "#count") == ["5 listed"]

    click(page, "#status input[value=dismissed]")
    assert shown(page) == ["src/list.c:51", "src/list.c:52"]
    click(page, "#status input[value=review]")
    assert sorted(texts(page, "#list .status")) == ["dismissed", "dismissed", "to review"]
    assert page.ask("location.hash") == "#status=review%2Cdismissed"


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(
    ("view", "groups"),
    [
        ("file", ["src/list.c 1 confirmed1 to review", "src/end.c 1 confirmed", "src/main.c 1 undecided"]),
        ("cluster", ["Cluster 1 1 confirmed1 to reviewIs there room for what is copied?", "Cluster 2 1 confirmed"]),
        (
            "verdict",
            ["confirmed 2 high", "to review 1 high", "undecided 1 high1 low", "dismissed 1 high1 medium"],
        ),
    ],
)
def test_each_view_groups_the_findings_the_worst_group_open(page, opened, view, groups):
    opened(report(*EVERY), f"#view={view}")
    page.wait_for("document.querySelector('.group .finding')")

    found = [re.sub(r"\s+", " ", one) for one in texts(page, ".group > summary")]
    assert [one[: len(group)] for one, group in zip(found, groups, strict=False)] == groups
    assert page.ask("[...document.querySelectorAll('.group')].map(one => one.open)") == [True] + [False] * (
        len(found) - 1
    )
    assert page.ask("document.querySelector('[aria-pressed=true]').textContent").endswith(view)


@pytest.mark.slow
def test_a_view_is_kept_while_filters_change_and_left_by_its_buttons(page, opened):
    opened(report(*EVERY))
    click(page, "#views button:nth-child(2)")
    assert page.ask("location.hash") == "#view=file"
    click(page, "#severity input[value=high]")
    assert page.ask("location.hash") == "#view=file&severity=high"
    click(page, "#views button:first-child")
    assert page.ask("location.hash") == "#severity=high"
    assert page.ask("document.querySelectorAll('.group').length") == 0


@pytest.mark.slow
@pytest.mark.timing
def test_the_link_of_a_cluster_shows_all_that_was_asked_with_it(page, opened):
    opened(report(*EVERY), "#view=cluster&cluster=1")
    open_all(page)

    assert shown(page) == ["src/list.c:40", "src/list.c:55", "src/list.c:51", "src/list.c:52"]
    assert page.ask("document.querySelectorAll('.group').length") == 1


@pytest.mark.slow
@pytest.mark.timing
def test_lines_that_speak_of_a_finding_are_marked_also_elsewhere(page, opened):
    opened(report((COPY, RISK)))
    open_all(page)

    marked = "[...document.querySelectorAll('#list .line')].map(one => [one.className, one.title])"
    assert page.ask(marked) == [
        ["line quote", "evidence"],
        ["line step", "a step of the path"],
        ["line hit", "the finding"],
        ["line", ""],
        ["line quote", "evidence"],
    ]
    assert texts(page, "#list .where") == ["src/main.c"]


@pytest.mark.slow
@pytest.mark.timing
def test_what_is_in_the_page_and_what_the_script_builds_are_the_same(page, opened):
    way = [("table.c", 8, "calloc(1, n) may return NULL"), ("table.c", 13, "t is NULL here and is dereferenced")]
    null = like(COPY, pattern="flow_null_dereference", trail=trail_of(way, ""))
    same = [(like(null, file=file), RISK) for file in ("table.c", "q.c", "r.c")]
    text = report(*(one for one in EVERY if one[1]["status"] != "dismissed"), *same)
    opened(text)
    open_all(page)
    page.ask("document.querySelectorAll('.copy').forEach(one => one.remove())")
    words = "[...document.querySelectorAll('#list .finding')].map(one => one.textContent.replace(/\\s+/g, ''))"
    built = page.ask(words)
    opened(re.sub(r"<script>.*</script>", "", text, flags=re.DOTALL))

    assert page.ask(words) == built
    assert len(built) == 6
    (grouped,) = [words for words in built if "Samerootcause" in words]
    assert "table.c:40+2" in grouped
    assert "q.c:40flow_null_dereference" in grouped


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(
    "text",
    [
        "</script><script>document.title='owned'</script>",
        "<img src=https://evil.invalid/x onerror=\"document.title='owned'\">",
        "'\"><b>bold</b>\n<!--<script>${name} {line}",
        "\u2028\u202eesrever\u2066\x00\x1b[31m\ud800\n" * 3,
    ],
)
@pytest.mark.parametrize("view", ["", "cluster", "verdict"])
def test_hostile_words_of_a_model_are_shown_and_not_obeyed(page, opened, text, view):
    run = RUN | {
        "model": RUN["model"] | {"group": text, "by_stage": {text: {"calls": 1, "prompt": 1}}},
        "sandbox": [text],
    }
    opened(report(*hostile(text), run=run), f"#view={view}")
    open_all(page)

    assert page.complaints == []
    assert page.ask("document.title") == "Security report: redis"
    assert page.ask("document.querySelectorAll('main img, main script, .inside b b').length") == 0
    everything = page.ask("document.body.innerText + document.getElementById('data').textContent")
    assert not re.search("[\u2028-\u202e\u2066-\u2069\x00\x1b]", everything)
    assert [address for address in page.requests if not address.startswith(("file:", "data:"))] == []


def bar_of(text: str, label: str) -> str:
    """Return the number beside a bar of a chart."""
    found = re.search(f">{re.escape(label)}</text> <text[^>]*>([^<]*)<", text)
    assert found is not None
    return found[1]


def test_model_cost_and_time_are_told_and_drawn():
    text = report(*EVERY)

    assert "<dt>Answers</dt><dd>12, 3 of them cached</dd>" in text
    assert bar_of(text, "verify: 10 answers, 75,600 tokens") == "0.0370"
    assert [label for label in ("≤ 1", "≤ 4", "&gt; 4") if f">{label}</text>" in text] == ["≤ 1", "≤ 4", "&gt; 4"]
    without_prices = RUN | {"model": {"group": "x", "by_stage": {"verify": {"calls": 1, "prompt": 70}}}}
    assert bar_of(report(*EVERY, run=without_prices), "verify: 1 answers, 70 tokens") == "70"
    assert 'id="asking"' not in report(*EVERY, run={"id": "a1"})


@pytest.mark.parametrize("found", [(COPY, NO_RISK), (COPY, OPEN_END)])
def test_a_report_without_a_confirmed_finding_does_not_read_as_clean(found):
    text = report(found)

    assert "No confirmed finding" in text
    assert "No findings." not in text
    assert ("This does not prove" in text) or ("This does not mean that the code is safe" in text)
    assert '<section class="worst">' not in text


@pytest.mark.slow
def test_ten_thousand_findings_with_verdicts_open_soon_in_every_view(page, opened):
    text = report(*many(10_000))
    seconds = [min(opened(text, f"#view={view}"), opened(text, f"#view={view}")) for view in ("", "file", "cluster")]

    assert max(seconds) <= 2.0 * crowd()
    assert len(text.encode()) < 12_000_000
    assert page.ask("document.querySelectorAll('.group').length") == 100
    assert texts(page, "#pages span") == ["Page 1 of 15"]


def test_words_beyond_what_a_page_holds_are_left_to_other_formats():
    wordy = RISK | {name: "x" * 4_000 for name in TEXT_TITLES}
    text = report(*((like(COPY, line=line), wordy) for line in range(1, 301)))
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])

    assert 200 < len(data["verdicts"]) < 300
    assert len(data["findings"]) == 300
    assert len(text) < 8_000_000


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.timing
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("view", ["", "verdict"])
def test_no_width_makes_the_page_scroll_sideways(page, opened, width, view):
    long = "x" * 300
    page.resize(width, 900)
    opened(report(*EVERY, *hostile(long), *hostile(f"{long} " * 9)), f"#view={view}")
    open_all(page)

    assert page.ask("document.documentElement.scrollWidth") <= width
