"""`-o URL`: reports in object stores."""

import json

import fsspec
import pytest

from tests.cli.commands import COPY, Jarvis
from tests.support.s3 import s3_server


def test_report_is_written_to_an_object_in_the_format_of_its_suffix(jarvis: Jarvis) -> None:
    tree = jarvis.tree("tree", {"a.c": COPY})

    ended = jarvis("sec", "fast", "-p", tree, "-o", "memory://reports/nightly/a.sarif")

    assert (ended.code, ended.out) == (0, "")
    assert "report: memory://reports/nightly/a.sarif" in ended.err
    files = fsspec.filesystem("memory")
    assert files.ls("/reports/nightly", detail=False) == ["/reports/nightly/a.sarif"]
    assert json.loads(files.cat("/reports/nightly/a.sarif"))["version"] == "2.1.0"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("gs://bucket/a.json", "gcsfs is not installed; install it with: pip install"),
        ("s3://bucket", "no object is named; expected s3://BUCKET/NAME"),
        ("s3://user:password@bucket/a.json", "do not put credentials in the URL"),
        ("s3://bucket/a.docx", "unknown suffix; use one of"),
        ("nothing://bucket/a.json", "Protocol not known"),
    ],
)
def test_url_that_cannot_be_used_is_refused_before_anything_runs(jarvis: Jarvis, url: str, says: str) -> None:
    tree = jarvis.tree("tree", {"a.c": COPY})

    ended = jarvis("sec", "fast", "-p", tree, "-o", url)

    assert ended.code == 2
    assert ended.line.startswith("jarvis: -o ") and says in ended.line
    assert "password" not in ended.line
    assert jarvis("runs", "list", "--json").out == "[]\n"


@pytest.mark.slow
def test_report_goes_to_s3_whole_and_a_missing_bucket_is_one_line(jarvis: Jarvis, monkeypatch) -> None:
    tree = jarvis.tree("tree", {"a.c": COPY})
    with s3_server() as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        ended = jarvis.spawn("sec", "fast", "-p", tree, "-o", "s3://sources/reports/a.json", "-q")
        refused = jarvis.spawn("sec", "fast", "-p", tree, "-o", "s3://no-such-bucket/a.json", "-q")

        (content,) = server.objects().values()
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert json.loads(content)["summary"]["total"] == 1
    assert refused.code == 2
    assert "jarvis: -o s3://no-such-bucket/a.json: The specified bucket does not exist" in refused.err
    assert "print its report again with: jarvis runs report" in refused.err
