"""What a command line names is scanned, and nothing else; names are relative to one root."""

import csv
import json
import re
import subprocess
from xml.etree import ElementTree

import pytest

from tests.cli.commands import COPY


@pytest.fixture
def project(jarvis):
    jarvis.tree("src", {"a.c": COPY, "b.c": COPY, "vendor/v.c": COPY})
    jarvis.tree("lib", {"c.c": COPY})
    return jarvis.place


def scanned(ended):
    report = json.loads(ended.out)
    return sorted({issue["file"] for issue in report["issues"]})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paths", "files"),
    [
        ([], ["lib/c.c", "src/a.c", "src/b.c"]),
        (["src"], ["a.c", "b.c"]),
        (["src/vendor/v.c", "-p", "lib"], ["lib/c.c", "src/vendor/v.c"]),
    ],
)
def test_paths_can_be_named_several_and_files_too(jarvis, project, paths, files):
    assert scanned(jarvis("sec", "fast", *paths, "--format", "json")) == files


@pytest.mark.slow
def test_a_directory_keeps_its_fingerprints_and_files_those_of_the_current_directory(jarvis, project):
    def prints(*paths):
        found = json.loads(jarvis("sec", "fast", *paths, "--format", "json").out)["issues"]
        return {issue["file"]: issue["fingerprint"] for issue in found}

    whole = prints(".")
    assert prints("src/a.c", "lib/c.c") == {file: whole[file] for file in ("lib/c.c", "src/a.c")}
    assert prints("src") == prints("-p", project / "src")


@pytest.mark.slow
def test_a_baseline_of_a_directory_holds_for_files_of_it(jarvis, project):
    (project / ".git").mkdir()
    jarvis("sec", "fast", "src", "-o", "known.json")
    (project / "src" / "b.c").write_text(COPY + COPY.replace("f(", "g(").replace("strcpy", "strcat"))

    ended = jarvis("sec", "fast", "src/a.c", "src/b.c", "--baseline", "known.json", "--format", "json")

    assert [issue["file"] for issue in json.loads(ended.out)["issues"]] == ["src/b.c"]
    assert json.loads(ended.out)["summary"]["baseline"]["known"] == 2


def test_sarif_names_files_from_the_top_of_the_repository(jarvis, project):
    (project / ".git").mkdir()

    (run,) = json.loads(jarvis("sec", "fast", "-p", "src", "--format", "sarif").out)["runs"]

    places = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]
    assert places == ["src/a.c", "src/b.c"]
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"file://{project}/"


def files_in(form, text):
    """Return the file names of a report for a CI service."""
    if form == "sarif":
        places = [result["locations"][0]["physicalLocation"] for result in json.loads(text)["runs"][0]["results"]]
        return {place["artifactLocation"]["uri"] for place in places}
    if form == "gitlab-sast":
        return {one["location"]["file"] for one in json.loads(text)["vulnerabilities"]}
    if form == "codequality":
        return {one["location"]["path"] for one in json.loads(text)}
    if form == "csv":
        return {row["file"] for row in csv.DictReader(text.splitlines())}
    if form == "junit":
        return {case.get("file") for case in ElementTree.fromstring(text.encode()).iter("testcase")} - {None}
    return set(re.findall({"github": "file=(.*?),", "gcc": "(?m)^(.*?):"}[form], text))


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("form", ["sarif", "junit", "gcc", "github", "gitlab-sast", "codequality", "csv"])
def test_reports_for_ci_have_paths_from_the_repository_wherever_the_command_runs(jarvis, project, monkeypatch, form):
    (project / ".git").mkdir()
    monkeypatch.chdir(project / "src")

    from_below = jarvis("sec", "fast", "a.c", "--format", form)
    elsewhere = jarvis("runs", "report", "last", "--format", form, "--relative-to", "..")
    here = jarvis("sec", "fast", "-p", ".", "--exclude", "b.c", "--format", form, "--relative-to", ".")

    assert (from_below.code, elsewhere.code, here.code) == (0, 0, 0)
    assert files_in(form, from_below.out) == files_in(form, elsewhere.out) == {"src/a.c"}
    assert files_in(form, here.out) == {"a.c"}


def test_relative_to_a_directory_that_is_not_above_is_refused(jarvis, project):
    refused = jarvis("sec", "fast", "src", "--format", "gcc", "--relative-to", "lib")
    missing = jarvis("sec", "fast", "src", "--format", "gcc", "--relative-to", "gone")

    assert (refused.code, refused.out) == (2, "")
    assert "is not below it" in refused.err
    assert missing.line == "jarvis: --relative-to gone: no such directory"


def test_json_keeps_its_paths_whatever_the_repository(jarvis, project):
    (project / ".git").mkdir()

    assert scanned(jarvis("sec", "fast", "-p", "src", "--json", "--relative-to", ".")) == ["a.c", "b.c"]


@pytest.mark.timing
def test_sarif_names_remote_branch_and_commit_of_a_working_tree(jarvis, project):
    git = ["git", "-C", project, "-c", "user.name=a", "-c", "user.email=a@b"]
    remote = ["remote", "add", "origin", "https://user:secret@git.example/team/project.git"]
    for command in (["init", "-q", "-b", "trunk"], ["add", "."], ["commit", "-qm", "first"], remote):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    (run,) = json.loads(jarvis("sec", "fast", "-p", "src", "--format", "sarif").out)["runs"]

    assert run["versionControlProvenance"] == [
        {
            "repositoryUri": "https://git.example/team/project.git",
            "revisionId": commit,
            "branch": "trunk",
            "mappedTo": {"uriBaseId": "%SRCROOT%"},
        }
    ]
