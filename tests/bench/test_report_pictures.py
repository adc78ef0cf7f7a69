"""Take screenshots of HTML reports for the documentation: of a real scan, and of one with verdicts.

BENCH_TREE names the tree of the first, such as the source of redis; the second is of tests/data/mailbox, judged by a
scripted model.  The screenshots do not show local paths.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from jarvis_cli.main import run
from tests.agents.loop.server import Body, ModelServer, Step
from tests.support.browser import browser
from tests.support.judging import answer, place_of
from tests.support.proving import answers_since, gives_up, to_show, tries
from tests.support.settings_files import write_settings

DOCS = Path(__file__).parents[2] / "docs"
LARGEST = 300_000
MAILBOX = Path(__file__).parents[1] / "data" / "mailbox"
# By rule: preconditions, trigger path, consequences and what to do.
RISKS = {
    "format_string": (
        "The name of the sender contains conversion specifiers such as %n.",
        "read_letter() stores the name as it was sent; log_large() formats it into message, and passes that to printf "
        "as the format.",
        "A peer can read the stack, or write to chosen addresses.",
        'printf("%s", message), or fputs(message, stdout).',
    ),
    "command_execution": (
        "The name of the sender contains a single quote.",
        "main() passes letter->from to notify(), which puts it between quotes in a shell command.",
        "A peer can run commands as the user of the server.",
        "Start notify-send with posix_spawn and an argument list, without a shell.",
    ),
    "flow_tainted_length": (
        "The length in the line is larger than the text, or negative.",
        "main() reads a line; read_letter() takes the length from it and copies as many bytes.",
        "Reads past the end of the line: the letter then contains memory of the server.",
        "Reject a length below 0, above TEXT_MAX, or above strlen(end + 1).",
    ),
    "flow_unchecked_null": (
        "malloc fails, as for a length that a peer chooses.",
        "read_letter() passes the result to memcpy without a NULL check.",
        "The server crashes: a peer can stop it.",
        "Test letter->text, and return NULL after free(letter).",
    ),
}
HARMLESS = {
    "unsafe_api": "letter->from contains at most 31 characters, and message has room for 64.",
    "boundary_funcs": "letter->text was allocated with this length and one more byte.",
    "flow_uninitialized": "fgets terminates the line, so strchr stays within it.",
}
ATTEMPT = {"way": "program", "target": "src/serve.c", "files": [{"name": "stdin", "text": "ann 4000 hello\n"}]}
DOUBTFUL = ("alloc_size_overflow", "malloc_no_null_check")

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


def test_a_report_with_verdicts_is_worth_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(MAILBOX, "mailbox")
    report = tmp_path / "report.html"
    with ModelServer(forever=_verdicts) as server:
        group = {"model": "m", "base_url": server.url, "profile": "openai", "api_key": "k"}
        write_settings(Path.cwd(), {"models": {"m": group}, "model_group": "m"})
        run(["sec", "agent", "mailbox", "--read", "none", "--prove", "-q", "--lang", "en", "-o", str(report)])
    with browser() as page:
        page.resize(1280, 1800)
        page.open(report)
        page.ask("document.querySelector('.facts li').remove()")
        page.ask("document.querySelector('#list details').open = true")
        page.wait_for("document.querySelector('#list .inside')")
        counts = page.ask("[...document.querySelectorAll('.tiles li, .tile')].map(one => one.innerText).join(' ')")
        picture = page.picture()

    assert "Confirmed" in counts
    assert len(picture) <= LARGEST
    (DOCS / "report-verdicts.png").write_bytes(picture)


def _verdicts(body: Body) -> Step:
    """Judge, and show that a length is not checked; nothing else is tried."""
    shown = {number: place_of(text)[0] for number, text in to_show(body).items()}
    if not shown:
        return answer(body, _verdict)
    attempts = {number: ATTEMPT for number, rule in shown.items() if rule == "flow_tainted_length"}
    if attempts and not answers_since(body):
        return tries(body, attempts)
    return gives_up(body, "nothing was tried: no sanitizer shows what a format or a shell makes of a text")


def _verdict(number: int, text: str) -> list[dict[str, Any]]:
    """Return a verdict that depends on the rule of a candidate; candidates of other rules are undecided."""
    rule, file, line, code = place_of(text)
    names = ("preconditions", "trigger_path", "consequences", "suggestions")
    if rule in RISKS:
        texts = dict(zip(names, RISKS[rule], strict=True))
    elif rule in HARMLESS:
        texts = dict.fromkeys(names, "") | {"preconditions": HARMLESS[rule]}
    elif rule in DOUBTFUL:
        texts = dict.fromkeys(names, "The length comes from the line, and may not be what it says.")
        code = "if (letter->length > limit)"
    else:
        return []
    evidence = [{"file": file, "line": line, "quote": code}]
    return [{"gid": number, "has_risk": rule not in HARMLESS, **texts, "evidence": evidence}]
