"""Labels of runs: their syntax, those that a source has by itself, and finding runs by them."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.api import ScanOptions, scan
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.labels import automatic_labels, parse_label_filters, parse_labels
from jarvis_workers.runs.run_list import list_runs
from jarvis_workers.runs.runs import labels_of, runs_with_labels
from jarvis_workers.runs.scan_request import blobs_of, request_for
from jarvis_workers.runs.sources import SourceTree, source_labels
from jarvis_workers.runs.submit import submit
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.runs.scan_settings import scan_options_of
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import Settings
from jarvis_workers.store.engine import Store

COMMIT = "a" * 40
GITHUB = {"GITHUB_SHA": COMMIT, "GITHUB_REF_NAME": "7/merge", "GITHUB_HEAD_REF": "topic", "GITHUB_REF_TYPE": "branch"}
GITLAB = {"CI_COMMIT_SHA": COMMIT, "CI_COMMIT_REF_NAME": "topic"}


def checkout(tree: Path, head: str) -> Path:
    (tree / ".git/refs/heads").mkdir(parents=True)
    (tree / ".git/HEAD").write_text(head)
    (tree / ".git/refs/heads/main").write_text("b" * 40)
    (tree / "a.c").write_text("int a;\n")
    return tree


def test_labels_are_keys_and_values_and_the_last_value_wins() -> None:
    given = ["team=net", "example.com/job-name=a=b ü/c", "team=", "x" * 63 + "=" + "v" * 256]

    assert parse_labels(given) == {"team": "", "example.com/job-name": "a=b ü/c", "x" * 63: "v" * 256}
    assert parse_label_filters(["team", "team=", "a=b=c"]) == (("team", None), ("team", ""), ("a", "b=c"))


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ("team", '--label: "team" is not KEY=VALUE'),
        ("=x", 'the key "" should consist of letters'),
        ("-a=x", 'the key "-a" should consist of letters'),
        ("a b=x", 'the key "a b" should consist of letters'),
        ("/a=x", 'the key "/a"'),
        ("x" * 64 + "=v", "at most 63"),
        (f"{'d.' * 126}d/name=v", "the key"),
        ("team=a\nb", "should be printable, at most 256 characters"),
        ("team=\x1b[2J", "should be printable"),
        (f"team={'v' * 257}", "at most 256 characters"),
    ],
)
def test_an_invalid_label_is_refused_by_name(label: str, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_labels([label])
    assert problem in str(refused.value) and len(str(refused.value)) < 300


def test_more_labels_than_the_limit_are_refused() -> None:
    with pytest.raises(UsageError, match="more than 64 labels"):
        parse_labels([f"k{number}=" for number in range(65)])
    with pytest.raises(UsageError, match="more than 64 labels"):
        parse_label_filters(["k"] * 65)


@pytest.mark.parametrize(
    ("environ", "branch"),
    [
        (GITHUB, "topic"),
        (GITHUB | {"GITHUB_HEAD_REF": ""}, "7/merge"),
        (GITHUB | {"GITHUB_REF_TYPE": "tag"}, None),
        (GITLAB, "topic"),
        (GITLAB | {"CI_COMMIT_TAG": "v1"}, None),
    ],
)
def test_a_ci_job_labels_a_tree_without_git_and_a_detached_one_of_its_commit(
    tmp_path: Path, environ: dict[str, str], branch: str | None
) -> None:
    (tmp_path / "plain").mkdir()
    detached = checkout(tmp_path / "detached", COMMIT)
    other = checkout(tmp_path / "other", "c" * 40)
    labels = {"commit": COMMIT} | ({"branch": branch} if branch else {})

    assert automatic_labels(tmp_path / "plain", None, environ) == labels
    assert automatic_labels(detached / "a.c", None, environ) == labels
    assert automatic_labels(other, None, environ) == {"commit": "c" * 40}
    assert automatic_labels(tmp_path / "plain", None, {}) == {}


def test_a_working_tree_names_its_own_branch_whatever_the_job_says(tmp_path: Path) -> None:
    tree = checkout(tmp_path, "ref: refs/heads/main\n")

    assert automatic_labels(tree, None, GITHUB) == {"branch": "main", "commit": "b" * 40}


def test_a_job_with_values_that_are_no_labels_gives_none(tmp_path: Path) -> None:
    environ = {"GITHUB_SHA": "\udcff", "GITHUB_REF_NAME": "x" * 257}

    assert automatic_labels(tmp_path, None, environ) == {}


@pytest.fixture
def settings(tmp_path: Path, store_url: str) -> Settings:
    return Settings(data_dir=tmp_path / "data", store_url=store_url)


def submit_labelled(settings: Settings, store: Store, tree: Path, **labels: str) -> str:
    given = ScanInput(scan_options_of(settings, SecOptions))
    source = SourceTree(tree, os.fsencode(tree))
    return submit(store, blobs_of(settings), request_for(settings, source, "sec.fast", "cluster", given, labels=labels))


def test_runs_are_found_by_all_their_labels_on_each_database(settings: Settings, store: Store, tmp_path: Path) -> None:
    tree = checkout(tmp_path / "tree", "ref: refs/heads/main\n")
    first = submit_labelled(settings, store, tree, team="net")
    second = submit_labelled(settings, store, tree, team="disk", branch="mine")

    assert labels_of(store, [first, second]) == {
        first: {"branch": "main", "commit": f"{'b' * 40}+unknown", "dirty": "unknown", "team": "net"},
        second: {"branch": "mine", "commit": f"{'b' * 40}+unknown", "dirty": "unknown", "team": "disk"},
    }
    for wanted, expected in (
        ({"team": "net"}, [first]),
        ({"team": None}, [second, first]),
        ({"team": None, "branch": "mine"}, [second]),
        ({"team": "net", "branch": "mine"}, []),
        ({"none": None}, []),
    ):
        found = runs_with_labels(store, wanted, 10)
        listed = list_runs(settings, 10, tuple(wanted.items()))
        assert [run.id for run in found] == [run.id for run in listed] == expected
    assert [run.labels["team"] for run in list_runs(settings, 1, [("team", None)])] == ["disk"]
    assert [run.id for run in runs_with_labels(store, {"team": None}, 1)] == [second]


def test_labels_change_neither_the_report_nor_the_snapshot(settings: Settings, store: Store, tmp_path: Path) -> None:
    tree = checkout(tmp_path / "tree", "ref: refs/heads/main\n")
    submit_labelled(settings, store, tree)
    submit_labelled(settings, store, tree, team="net")
    plain, labelled = runs_with_labels(store, {"branch": None}, 2)

    same = replace(plain, id=labelled.id, created_at=labelled.created_at)
    assert same == labelled


@pytest.mark.slow
def test_the_python_api_labels_the_runs_that_it_records(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.c").write_text("int a;\n")
    options = ScanOptions(record=True, labels={"team": "net"}, data_directory=tmp_path / "data", processes=1)

    report = scan(tmp_path / "src", options=options)

    (run,) = list_runs(Settings(data_dir=tmp_path / "data"), 5, [("team", "net")])
    assert run.id == report.run.id and "labels" not in json.loads(report.to_json())["run"]
    with pytest.raises(UsageError, match="labels are for recorded runs"):
        ScanOptions(labels={"team": "net"})
    with pytest.raises(UsageError, match="should be two strings"):
        ScanOptions(record=True, labels={"team": 1})  # type: ignore[dict-item]


def test_the_branch_of_a_git_url_is_a_label(tmp_path: Path) -> None:
    tree = checkout(tmp_path, "d" * 40)

    assert source_labels(SourceTree(tree, b"url", "address", "main"), GITHUB) == {"branch": "main", "commit": "d" * 40}
