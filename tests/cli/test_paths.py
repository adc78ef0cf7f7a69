"""What a command line names is scanned, and nothing else; names are relative to one root."""

import json

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


def test_a_directory_keeps_its_fingerprints_and_files_those_of_the_current_directory(jarvis, project):
    def prints(*paths):
        found = json.loads(jarvis("sec", "fast", *paths, "--format", "json").out)["issues"]
        return {issue["file"]: issue["fingerprint"] for issue in found}

    whole = prints(".")
    assert prints("src/a.c", "lib/c.c") == {file: whole[file] for file in ("lib/c.c", "src/a.c")}
    assert prints("src") == prints("-p", project / "src")


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
