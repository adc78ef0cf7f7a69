"""Reports of whole scans in every format: the same again later, and known again after an edit."""

import json
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote_to_bytes, urljoin, urlsplit
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator

from jarvis_workers.sec.report import FORMATS
from tests.cli.commands import COPY, SYSTEM, UNSAFE

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "sarif-schema-2.1.0.json").read_text())
TWINS = "void g(char *a, char *b) {\n  strcpy(a, b);\n  strcpy(a, b);\n\n  strcpy( a,  b );\n}\n"
FILES = {"a.c": COPY + SYSTEM, "src/twins.c": TWINS, "again/twins.c": TWINS, "src/lib.rs": UNSAFE, "h.hpp": SYSTEM}
STARTS = {"text": "tree/", "sarif": '{"$schema":', "junit": "<?xml", "json": "{\n", "markdown": "# ", "html": "<!"} | {
    "gcc": "a.c:1:",
    "github": "::error file=",
    "github-summary": "### Jarvis: ",
    "gitlab-sast": '{"version":',
    "codequality": '[\n{"type":"issue"',
    "csv": "id,file,",
}


@pytest.fixture
def tree(jarvis):
    return jarvis.tree("tree", FILES)


def scan(jarvis, tree, *options):
    """Scan, and return the one run of a SARIF log that the schema accepts."""
    ended = jarvis("sec", "fast", "-p", tree, "--format", "sarif", *options)
    log = json.loads(ended.out)
    assert [error.message for error in Draft4Validator(SCHEMA).iter_errors(log)] == []
    return log["runs"][0]


def prints(run):
    return [(one["ruleId"], one["partialFingerprints"]["primaryLocationLineHash"]) for one in run["results"]]


def lines(run):
    return [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in run["results"]]


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("form", sorted(FORMATS))
def test_the_report_of_an_earlier_run_is_the_one_it_ended_with(jarvis, tree, form):
    first = jarvis("sec", "fast", "-p", tree, "--format", form)
    run = re.search(r"run ([0-9a-f]{8}) done", first.err)[1]
    jarvis("sec", "fast", "-p", jarvis.tree("other", {"b.c": COPY}))

    again = jarvis("runs", "report", run, "--format", form)

    assert (first.code, again.code) == (0, 0)
    assert again.out == first.out
    assert again.out.startswith(STARTS[form])


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("r.sarif", "sarif"),
        ("r.sarif.json", "sarif"),
        ("r.xml", "junit"),
        ("R.JUnit.XML", "junit"),
        ("r.html", "html"),
    ],
)
def test_a_suffix_chooses_the_format_of_an_earlier_run(jarvis, tree, name, form):
    jarvis("sec", "fast", "-p", tree, "-o", "r.md")

    assert jarvis("runs", "report", "last", "-o", name).code == 0
    assert Path(name).read_text().startswith(STARTS[form])


@pytest.mark.parametrize("command", [("sec", "fast"), ("runs", "report"), ("runs", "resume")])
def test_help_names_every_format(jarvis, command):
    shown = " ".join(jarvis(*command, "--help").out.split())

    assert all(form in shown for form in FORMATS)


@pytest.mark.slow
def test_findings_are_known_again_after_ten_lines_above_them(jarvis, tree):
    before = scan(jarvis, tree)
    for name, text in FILES.items():
        (tree / name).write_text("// new\n\n" * 5 + text)
    after = scan(jarvis, tree)

    assert [line + 10 for line in lines(before)] == lines(after)
    assert prints(after) == prints(before)
    assert len(set(prints(before))) == len(before["results"])
    assert len([one for one in before["results"] if one["ruleId"] == "unsafe_api"]) >= 7


@pytest.mark.slow
def test_a_suppressed_finding_is_suppressed_in_every_format_and_its_twins_stay_who_they_are(jarvis, tree):
    before = scan(jarvis, tree)
    (tree / "src" / "twins.c").write_text(TWINS.replace("  str", "// jarvis-ignore[unsafe_api]: sized\n  str", 1))
    after = scan(jarvis, tree)
    junit = ElementTree.fromstring(jarvis("runs", "report", "last", "--format", "junit").out.encode())

    quiet = [one["suppressions"] for one in after["results"] if "suppressions" in one]
    assert quiet == [[{"kind": "inSource", "justification": "sized"}]]
    assert prints(after) == prints(before)
    assert [skipped.get("message") for skipped in junit.iter("skipped")] == ["sized"]


def test_addresses_lead_to_the_files_whatever_their_names(jarvis):
    tree = jarvis.tree("odd #%41 tree", {"sp ace.c": COPY, "new\nline.c": COPY, "100%.c": COPY, "..a/b.c": COPY})
    for name in (b"bad\xff.c", rb"looks\xff.c", b"http:x.c"):
        Path(os.fsdecode(os.fsencode(tree) + b"/" + name)).write_text(COPY)

    run = scan(jarvis, tree)

    base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]}
    files = [unquote_to_bytes(urlsplit(urljoin(base, uri)).path) for uri in uris]
    assert len(files) == 7
    assert all(Path(os.fsdecode(file)).read_text() == COPY for file in files)


def test_the_address_of_a_file_scanned_alone_leads_to_it(jarvis, tree):
    run = scan(jarvis, tree / "a.c")

    base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    (uri,) = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]}
    assert urljoin(base, uri) == (tree / "a.c").as_uri()


@pytest.mark.slow
@pytest.mark.timing
def test_a_revision_of_a_repository_is_named(jarvis, tree):
    git = ["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    (provenance,) = scan(jarvis, tree.as_uri())["versionControlProvenance"]

    assert provenance == {
        "repositoryUri": tree.as_uri(),
        "revisionId": commit,
        "mappedTo": {"uriBaseId": "%SRCROOT%"},
    }


def test_what_was_not_checked_is_in_every_format(jarvis, tree):
    (tree / "gone.c").symlink_to("nowhere")

    run = scan(jarvis, tree)
    junit = ElementTree.fromstring(jarvis("runs", "report", "last", "--format", "junit").out.encode())

    assert run["invocations"][0]["executionSuccessful"] is False
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "Not checked: gone.c: broken symbolic link."
    assert [error.get("message") for error in junit.iter("error")] == ["broken symbolic link"]


@pytest.mark.slow
def test_two_runs_differ_in_the_lines_that_speak_of_the_run(jarvis, tree):
    for form, own in (("sarif", r'"(invocations|properties)":'), ("junit", '<property name="run.')):
        first, second = (
            jarvis("sec", "fast", "-p", tree, "--format", form, "-j", processes).out.splitlines()
            for processes in ("1", "4")
        )
        changed = [line for line, before in zip(first, second, strict=True) if line != before]
        assert changed
        assert all(re.match(own, line) for line in changed)


@pytest.mark.slow
def test_a_suffix_that_means_no_format_is_refused(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    ended = jarvis("sec", "fast", "-p", tree, "-o", "report.sarfi")

    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "unknown suffix" in ended.err
    assert jarvis("sec", "fast", "-p", tree, "-o", "report.sarfi", "--format", "sarif").code == 0
    assert jarvis("sec", "fast", "-p", tree, "-o", "report").code == 0


@pytest.mark.parametrize("flag", ["--rules", "--exclude-rules", "--only"])
def test_a_flag_that_names_no_rule_is_refused(jarvis, flag):
    ended = jarvis("sec", "fast", "-p", ".", flag, "")

    name = "--category" if flag == "--only" else flag
    assert (ended.code, ended.err) == (2, f"jarvis: {name} is empty; list the rules with: jarvis sec rules\n")
