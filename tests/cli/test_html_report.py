"""`-o report.html`: the code around findings is in it, also later, as long as the packed source is kept."""

import re
import shutil

import pytest

from tests.cli.commands import COPY


def test_an_html_report_quotes_the_code_that_was_scanned(jarvis):
    tree = jarvis.tree("tree", {"a.c": f"/* before */\n{COPY}/* after */\n"})
    first = jarvis("sec", "fast", "-p", tree, "-o", "r.html")
    run = re.search(r"run ([0-9a-f]{8}) done", first.err)[1]
    shutil.rmtree(tree)
    again = jarvis("runs", "report", run, "--format", "html")

    assert (first.code, again.code) == (0, 0)
    assert again.out == (jarvis.place / "r.html").read_text()
    assert '<span class="line"><span class="number">1</span>/* before */' in again.out
    assert '<span class="line hit" title="the finding"><span class="number">2</span>' in again.out


@pytest.mark.slow
def test_without_the_packed_source_there_is_a_report_without_code(jarvis):
    ended = jarvis("sec", "fast", "-p", jarvis.tree("tree", {"a.c": COPY}), "-o", "r.json")
    run = re.search(r"run ([0-9a-f]{8}) done", ended.err)[1]
    for blob in jarvis.settings.data_dir.rglob("*"):
        if blob.is_file() and COPY.encode() in blob.read_bytes():
            blob.unlink()
    again = jarvis("runs", "report", run, "--format", "html")

    assert again.code == 0
    assert "No code excerpts: the scanned source was not available" in again.out
    assert 'class="line"' not in again.out


def test_places_are_links_where_the_settings_say_how(jarvis):
    tree = jarvis.tree("redis", {"src/a.c": COPY, ".git/HEAD": "a" * 40})
    (jarvis.place / "jarvis.yaml").write_text("report: {source_url: 'https://host/{repo}/{rev}/{path}#L{line}'}")

    jarvis("sec", "fast", "-p", tree / "src", "-o", "r.html")

    assert f'href="https://host/redis/{"a" * 40}/src/a.c#L1"' in (jarvis.place / "r.html").read_text()
    (jarvis.place / "jarvis.yaml").write_text("report: {source_url: 'ftp://x'}")
    assert "report.source_url" in jarvis("sec", "fast", "-p", tree).line
