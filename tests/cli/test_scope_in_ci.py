"""In CI, a change cannot narrow the scan of itself: real repositories, checked out as CI services do."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from jarvis_workers.runs.trusted_scope import is_ci
from jarvis_workers.runs.unscanned_sources import COMPARED_BYTES
from jarvis_workers.settings.scope import NARROWING
from tests.cli.commands import COPY, Ended, Jarvis

pytestmark = pytest.mark.slow
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
SOURCES = {"src/copy.c": COPY, "generated/copy.c": COPY}
CLEAN = {"src/clean.c": "int a;\n"}
PULL_REQUEST = {"GITHUB_ACTIONS": "true", "GITHUB_BASE_REF": "main"}
PUSH = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push"}
ALTERS = "exit 3: this change alters what is scanned: "
FOUR = {
    "report.min_confidence": "report: {min_confidence: 1.0}\n",
    "scan.exclude_dirs": "scan: {exclude_dirs: [src, generated]}\n",
    "rules.enable_only": "rules: {enable_only: [double_free]}\n",
    "rules.severity": "rules: {severity: {unsafe_api: low}}\n",
}


def git(place: Path, *command: str) -> str:
    return subprocess.run([*GIT, *command], cwd=place, check=True, capture_output=True, text=True).stdout.strip()


def commit(place: Path, files: Mapping[str, str | None]) -> str:
    """Commit files, of which those that are None are removed; return the commit."""
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            (place / name).unlink()
        else:
            (place / name).write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "a change")
    return git(place, "rev-parse", "HEAD")


class Project:
    """A repository with a branch main, and the checkout of a change, which is the current directory of `jarvis`."""

    def __init__(self, place: Path, jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> None:
        self.origin, self._jarvis, self._environ = place / "origin", jarvis, monkeypatch
        self.origin.mkdir()
        git(self.origin, "init", "-q", "-b", "main")

    def check_out(self, *options: str) -> Path:
        """Clone the branch `change` into the current directory of `jarvis`."""
        git(self.origin, "clone", "-q", "-b", "change", *options, f"file://{self.origin}", str(self._jarvis.place))
        return self._jarvis.place

    def change(self, base: Mapping[str, str], changed: Mapping[str, str | None]) -> str:
        """Commit `base` to main, and what differs to the branch `change`; return the commit of the base."""
        before = commit(self.origin, base)
        git(self.origin, "checkout", "-q", "-b", "change")
        commit(self.origin, changed)
        return before

    def scan(self, environ: Mapping[str, str], *options: str) -> Ended:
        for name, value in environ.items():
            self._environ.setenv(name, value)
        return self._jarvis("sec", "fast", *options)


@pytest.fixture
def project(tmp_path: Path, jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, jarvis, monkeypatch)


@pytest.mark.parametrize("setting", FOUR)
def test_a_pull_request_that_narrows_its_own_scan_does_not_pass(project: Project, setting: str) -> None:
    project.change(SOURCES, {"jarvis.yaml": FOUR[setting]})
    project.check_out()

    gate = project.scan(PULL_REQUEST, "--fail-on", "high")
    report = project.scan(PULL_REQUEST, "--format", "markdown")

    assert gate.code == 1 and f"this change alters what is scanned: {setting}" in gate.err
    assert "2 findings at or above high" in gate.err
    assert report.code == 3 and f"{ALTERS}{setting}" in report.err
    assert f"This change alters what is scanned: {setting}" in report.out


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"jarvis.yaml": FOUR["report.min_confidence"]}),
        ({}, {"pyproject.toml": "[tool.jarvis.report]\nmin_confidence = 1.0\n"}),
        ({"old.yaml": FOUR["rules.severity"]}, {"old.yaml": None, "jarvis.yaml": FOUR["rules.severity"]}),
        ({"jarvis.yaml": "report: {min_confidence: 0.0}\n"}, {"jarvis.yaml": None}),
        ({"jarvis.yaml": "scan: {exclude_dirs: []}\n"}, {"jarvis.yaml": None, "old.yaml": "scan: {}\n"}),
        ({"sub/.jarvisignore": "b.c\n"}, {"sub/.jarvisignore": "*.c\n"}),
        ({}, {".jarvisignore": "other\n"}),
    ],
    ids=["added", "added-toml", "renamed-to", "deleted", "renamed-away", "ignore-edited", "ignore-added"],
)
def test_a_file_that_is_added_renamed_or_deleted_and_narrows_the_scan_is_reported(
    project: Project, before: dict[str, str], after: dict[str, str | None]
) -> None:
    project.change({**CLEAN, **before}, after)
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert (done.code, done.line.startswith(f"jarvis: {ALTERS}")) == (3, True), done.line


@pytest.mark.parametrize(
    "after",
    [
        {},
        {"jarvis.yaml": "report: {min_confidence: 0.1}\n"},
        {"jarvis.yaml": "processes: 1\nreport: {min_confidence: 0.2}\n"},
        {".gitignore": "src\n"},
    ],
)
def test_a_change_that_narrows_nothing_passes(project: Project, after: dict[str, str | None]) -> None:
    base = {**CLEAN, "jarvis.yaml": "report: {min_confidence: 0.2}\n", ".jarvisignore": "b.c\n"}
    project.change(base, {"a.c": "", **after})
    project.check_out()

    assert project.scan(PULL_REQUEST, "--fail-on", "high", "-q") == Ended(0, "", "")


def test_settings_of_the_base_are_those_of_the_scan(project: Project) -> None:
    project.change({**SOURCES, "jarvis.yaml": "scan: {exclude_dirs: [generated]}\n"}, {"src/other.c": COPY})
    project.check_out()

    done = project.scan(PULL_REQUEST)

    assert "3 findings" not in done.out and "generated/copy.c" not in done.out and "src/other.c:1" in done.out


def test_a_base_that_has_moved_on_is_compared_where_the_change_left_it(project: Project) -> None:
    project.change(CLEAN, {"a.c": ""})
    git(project.origin, "checkout", "-q", "main")
    commit(project.origin, {"jarvis.yaml": "report: {min_confidence: 0.0}\n"})
    project.check_out()

    assert project.scan(PULL_REQUEST, "--fail-on", "high", "-q").code == 0


# A commit of main whose settings narrowed the scan, and the next one, which mended them.
NARROW = {
    "report.min_confidence": {"jarvis.yaml": "report: {min_confidence: 1.0}\n"},
    "scan.exclude_dirs": {"jarvis.yaml": "scan: {exclude_dirs: [src, generated]}\n"},
    "rules.severity": {"jarvis.yaml": "rules: {severity: {unsafe_api: low}}\n"},
}
WIDE = {"jarvis.yaml": "processes: 1\n"}
FOUR_IN_FILE = {"jarvis.yaml": FOUR["rules.severity"]}


def leave_at_a_narrow_commit(project: Project, narrow: Mapping[str, str], wide: Mapping[str, str | None]) -> str:
    """Begin a change at a commit of main that the next one mends; return the commit."""
    before = project.change({**SOURCES, **narrow}, {"a.c": ""})
    git(project.origin, "checkout", "-q", "main")
    commit(project.origin, wide)
    return before


@pytest.mark.parametrize("setting", NARROW)
def test_the_tip_of_the_target_branch_decides_if_the_merge_base_was_narrower(project: Project, setting: str) -> None:
    leave_at_a_narrow_commit(project, NARROW[setting], WIDE)
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high")

    assert done.code == 1 and "2 findings at or above high" in done.err, done
    assert f"the target branch scans more than this change, and decides: {setting}" in done.err


@pytest.mark.parametrize("tip", ["branch", "commit"])
def test_the_tip_decides_in_gitlab_too(project: Project, tip: str) -> None:
    before = leave_at_a_narrow_commit(project, NARROW["rules.severity"], WIDE)
    after = git(project.origin, "rev-parse", "main")
    environ = {"GITLAB_CI": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": before}
    if tip == "branch":
        environ |= {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    else:
        git(project.origin, "checkout", "-q", "change")
        git(project.origin, "merge", "-q", "-s", "ours", "-m", "merged, but for the settings", after)
        environ |= {"CI_MERGE_REQUEST_TARGET_BRANCH_SHA": after}
    project.check_out()

    done = project.scan(environ, "--fail-on", "high")

    assert done.code == 1 and "2 findings at or above high" in done.err, done


def test_a_tip_that_is_older_than_the_merge_base_does_not_count(project: Project) -> None:
    """The checkouts of GitLab's runners are used again, with the branches of earlier jobs."""
    before = project.change(CLEAN, {"a.c": ""})
    git(project.origin, "checkout", "-q", "main")
    after = commit(project.origin, {"jarvis.yaml": FOUR["rules.severity"]})
    git(project.origin, "checkout", "-q", "change")
    git(project.origin, "rebase", "-q", "main")
    place = project.check_out()
    git(place, "update-ref", "refs/remotes/origin/main", before)
    branch = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": after}

    assert project.scan({"GITLAB_CI": "true", **branch}, "--fail-on", "high", "-q") == Ended(0, "", "")


def test_all_merge_bases_count(project: Project) -> None:
    commit(project.origin, SOURCES)
    git(project.origin, "checkout", "-q", "-b", "narrow")
    narrow = commit(project.origin, FOUR_IN_FILE)
    git(project.origin, "checkout", "-q", "main")
    other = commit(project.origin, {"other.c": ""})
    git(project.origin, "merge", "-q", "-m", "narrow", narrow)
    git(project.origin, "checkout", "-q", "-b", "change", other)
    git(project.origin, "merge", "-q", "-m", "crossed", narrow)
    assert len(git(project.origin, "merge-base", "--all", "main", "change").split()) == 2
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high")

    assert done.code == 3 and "this change alters what is scanned: rules.severity" in done.err, done


@pytest.mark.parametrize("file", [".jarvisignore", "src/.jarvisignore"])
def test_an_ignore_file_that_the_target_branch_has_mended_is_reported(project: Project, file: str) -> None:
    project.change({**CLEAN, "src/copy.c": COPY, file: "copy.c\n"}, {"a.c": ""})
    git(project.origin, "checkout", "-q", "main")
    commit(project.origin, {file: None})
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert done.code == 3 and f"{ALTERS}{file} (older than its target branch; merge that)" in done.err, done


def test_gitlab_names_the_base_by_its_commit(project: Project) -> None:
    base = project.change(SOURCES, {"jarvis.yaml": FOUR["report.min_confidence"]})
    project.check_out()

    done = project.scan({"GITLAB_CI": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}, "--fail-on", "high")

    assert done.code == 1 and "this change alters what is scanned: report.min_confidence" in done.err


@pytest.mark.parametrize("own", [True, False])
def test_a_branch_of_the_fork_is_no_base_in_gitlab(project: Project, own: bool) -> None:
    project.change(CLEAN, {"jarvis.yaml": FOUR["report.min_confidence"]})
    project.check_out()

    target = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_PROJECT_ID": "1"}
    done = project.scan({"GITLAB_CI": "true", **target, "CI_PROJECT_ID": "1" if own else "2"})

    assert done.code == (3 if own else 0)
    assert ("no base revision can be read" in done.err) is not own


@pytest.mark.parametrize(
    ("environ", "options"),
    [
        (PUSH, []),
        (PULL_REQUEST, ["--depth=1"]),
        (PULL_REQUEST, ["--depth=1", "--no-single-branch"]),
        (PULL_REQUEST | {"GITHUB_BASE_REF": "elsewhere"}, []),
        (PULL_REQUEST | {"GITHUB_BASE_REF": "--output=x"}, []),
        ({"GITLAB_CI": "true", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "0" * 40}, []),
        ({"CI": "true"}, []),
        ({"JENKINS_URL": "https://ci.example.org/"}, []),
    ],
    ids=[
        "push",
        "shallow",
        "shallow-with-branches",
        "unknown",
        "an-option",
        "absent-commit",
        "other-service",
        "jenkins",
    ],
)
def test_without_a_base_what_narrows_has_no_effect_and_is_named(
    project: Project, environ: dict[str, str], options: list[str]
) -> None:
    settings = "report: {min_confidence: 1.0}\nrules: {disable: [unsafe_api]}\nscan: {exclude_dirs: [src]}\n"
    project.change(SOURCES, {"jarvis.yaml": settings, ".jarvisignore": "generated\n"})
    commit(project.origin, {"last.c": ""})
    project.check_out(*options)

    done = project.scan(environ, "--fail-on", "high")

    assert done.code == 1 and "2 findings at or above high" in done.err
    ignored = "scan.exclude_dirs, rules.disable, report.min_confidence, .jarvisignore"
    why = "no base revision can be read here; to use them, set JARVIS_TRUSTED_CONFIG"
    assert f"jarvis: what narrows the scan in this checkout has no effect ({why}): {ignored}\n" in done.err


@pytest.mark.parametrize(
    ("environ", "known"),
    [
        *(({"CI": value}, True) for value in ("true", "True", "1", "yes", "woodpecker", "drone")),
        *(({"CI": value}, False) for value in ("", " ", "false", "False", "0", "no", "off")),
        ({"TF_BUILD": "True"}, True),
        ({"JENKINS_URL": "https://ci.example.org/"}, True),
        ({"TEAMCITY_VERSION": "2025.07 (build 1)"}, True),
        ({"CODEBUILD_BUILD_ID": "project:1"}, True),
        ({"PATH": "/bin"}, False),
    ],
    ids=str,
)
def test_a_job_of_a_ci_service_is_known_by_its_variables(environ: dict[str, str], known: bool) -> None:
    assert is_ci(environ) is known


def test_a_first_commit_has_no_base(project: Project) -> None:
    git(project.origin, "checkout", "-q", "-b", "change")
    commit(project.origin, {**SOURCES, "jarvis.yaml": FOUR["rules.severity"]})
    project.check_out()

    assert project.scan(PULL_REQUEST, "--fail-on", "high").code == 1


def test_a_directory_without_git_has_no_base(project: Project, jarvis: Jarvis) -> None:
    jarvis.tree(".", {"a.c": COPY, "jarvis.yaml": FOUR["rules.severity"]})

    assert project.scan(PULL_REQUEST, "--fail-on", "high").code == 1


def test_a_trusted_file_decides_whatever_the_checkout_says(project: Project, tmp_path: Path) -> None:
    project.change({**SOURCES, ".jarvisignore": "src\n"}, {"jarvis.yaml": FOUR["report.min_confidence"]})
    project.check_out()
    trusted = tmp_path / "trusted.yaml"
    trusted.write_text("scan: {exclude_dirs: [generated]}\n")

    done = project.scan({**PUSH, "JARVIS_TRUSTED_CONFIG": str(trusted)})

    assert "src/copy.c:1" in done.out and "generated/copy.c" not in done.out
    assert "(JARVIS_TRUSTED_CONFIG decides): report.min_confidence, .jarvisignore" in done.err


def test_programs_that_the_repository_names_are_not_run_to_read_the_base(project: Project, tmp_path: Path) -> None:
    project.change(SOURCES, {"jarvis.yaml": FOUR["report.min_confidence"]})
    place = project.check_out()
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "core.hooksPath", "diff.external", "core.pager", "core.sshCommand"):
        git(place, "config", name, str(program))
    git(place, "config", "alias.merge-base", f"!{program}")

    assert project.scan(PULL_REQUEST).code == 3
    assert not (tmp_path / "ran").exists()


def test_a_baseline_that_the_change_edits_is_reported(project: Project) -> None:
    project.change({**CLEAN, "known.json": '{"issues": []}'}, {"known.json": '{"issues": [ ]}'})
    project.check_out()

    done = project.scan(PULL_REQUEST, "--baseline", "known.json", "-q")

    assert done.line.startswith(f"jarvis: {ALTERS}known.json"), done.line


@pytest.mark.parametrize("database", ["compile_commands.json", "db/compile_commands.json"])
def test_a_compilation_database_that_the_change_edits_is_reported(project: Project, database: str) -> None:
    command = '[{"directory": ".", "file": "src/clean.c", "arguments": ["cc"%s, "src/clean.c"]}]'
    project.change({**CLEAN, database: command % ""}, {database: command % ', "-DLEAVE_OUT"'})
    project.check_out()

    done = project.scan(PULL_REQUEST, "--compile-commands", database, "--fail-on", "high", "-q")

    assert done == Ended(3, "", f"jarvis: {ALTERS}{database}\n")


@pytest.mark.parametrize(
    ("where", "written", "named"),
    [
        ([], {".jarvisignore": "sub\n"}, ".jarvisignore"),
        ([], {"src/.jarvisignore": "*.c\n"}, "src/.jarvisignore"),
        (["src"], {"src/.jarvisignore": "clean.c\n", ".jarvisignore": "src\n"}, "src/.jarvisignore"),
        ([], {"sub/.jarvisignore": "*\n"}, "sub/.jarvisignore"),
        ([], {"sub/.jarvisignore": "gen*\r\n"}, None),
        ([], {"sub/.jarvisignore": None}, "sub/.jarvisignore"),
        ([], {"build/.jarvisignore": "*\n"}, None),
        (["src"], {".jarvisignore": "*\n"}, None),
    ],
    ids=["top", "below", "named", "tracked", "other-newlines", "removed", "excluded", "above"],
)
def test_an_ignore_file_that_is_written_into_the_checkout_is_reported(
    project: Project, where: list[str], written: dict[str, str | None], named: str | None
) -> None:
    project.change({**CLEAN, "sub/.jarvisignore": "gen*\n", "sub/a.c": ""}, {"src/b.c": ""})
    place = project.check_out()
    for name, text in written.items():
        (place / name).parent.mkdir(exist_ok=True)
        if text is None:
            (place / name).unlink()
        else:
            (place / name).write_bytes(text.encode())

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q", *where)

    assert done == (Ended(3, "", f"jarvis: {ALTERS}{named}\n") if named else Ended(0, "", ""))


def test_the_ignore_files_of_a_submodule_are_those_of_its_commit(project: Project, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    commit(library, {"a.c": "int a;\n", ".jarvisignore": "gen*\n"})
    git(project.origin, "submodule", "--quiet", "add", f"file://{library}", "lib")
    project.change(CLEAN, {"b.c": ""})
    project.check_out("--recurse-submodules")

    assert project.scan(PULL_REQUEST, "--fail-on", "high", "-q") == Ended(0, "", "")


def test_names_that_a_change_adds_do_not_control_the_terminal_and_are_few(project: Project) -> None:
    base = {**CLEAN, "jarvis.yaml": "rules: {paths: [own]}\n", "own/a.yaml": "[]\n"}
    project.change(base, {f"own/{number}\x1b[2J.yaml": "[]\n" for number in range(12)})
    project.check_out()

    done = project.scan(PULL_REQUEST)

    assert done.code == 3 and "\x1b" not in done.err and "and 2 more" in done.err, done.err


def link(place: Path, name: str, target: str) -> None:
    """Replace a file or directory by a link."""
    if (place / name).exists():
        git(place, "rm", "-rq", name)
    (place / name).symlink_to(target)
    commit(place, {})


OWN, OTHER = "[]\n", "[] # others\n"
RULES = {"jarvis.yaml": "rules: {paths: [rules]}\n", "rules/a.yaml": OWN, "rules/b.yaml": OTHER}
ONE = {**RULES, "jarvis.yaml": "rules: {paths: [rules/a.yaml]}\n", "more/a.yaml": "[]\n"}
NESTED = {".jarvisignore": "gen*\n", "src/.jarvisignore": "!gen1.c\n"}


@pytest.mark.parametrize(
    ("base", "changed", "links", "named"),
    [
        (RULES, {"rules/a.yaml": None}, {}, "rules/a.yaml"),
        (RULES, {"rules/a.yaml": None, "a.yaml": OWN}, {}, "rules/a.yaml"),
        ({**RULES, "more/a.yaml": "[]\n"}, {}, {"rules": "more"}, "rules"),
        (ONE, {}, {"rules/a.yaml": "../more/a.yaml"}, "rules/a.yaml"),
        (ONE, {}, {"rules": "more"}, "rules"),
        (NESTED, {"src/.jarvisignore": None}, {}, "src/.jarvisignore"),
        (NESTED, {}, {"src/.jarvisignore": "clean.c"}, "src/.jarvisignore"),
    ],
    ids=["deleted", "moved", "directory-linked", "file-linked", "file-in-linked", "ignore-deleted", "ignore-linked"],
)
def test_a_deciding_file_that_is_deleted_moved_or_redirected_is_reported(
    project: Project, base: dict[str, str], changed: dict[str, str | None], links: dict[str, str], named: str
) -> None:
    project.change({**CLEAN, **base}, {**changed, "a.c": ""})
    for name, target in links.items():
        link(project.origin, name, target)
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert done.code == 3 and f"{ALTERS}{named}" in done.line, done


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("rules", {"real/a.yaml": OTHER}),
        ("rules", {"real/a.yaml": None}),
        ("real", {"other.yaml": OWN}),
        ("up/../real", {"real/a.yaml": OTHER}),
    ],
    ids=["edited", "deleted", "link-in-directory", "written-with-dots"],
)
def test_files_behind_links_of_the_base_decide(project: Project, path: str, changed: dict[str, str | None]) -> None:
    base = {**CLEAN, "jarvis.yaml": f"rules: {{paths: [{path}]}}\n", "real/a.yaml": OWN, "real/b.yaml": "[]\n"}
    commit(project.origin, {**base, "other.yaml": OTHER, "up/x.c": ""})
    link(project.origin, "rules", "real")
    link(project.origin, "real/c.yaml", "../other.yaml")
    project.change({"b.c": ""}, changed)
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert done.code == 3 and f"{ALTERS}{next(iter(changed))}" in done.line, done


def move(place: Path, old: str, new: str) -> None:
    """Move a file or directory, as git does."""
    (place / new).parent.mkdir(parents=True, exist_ok=True)
    git(place, "mv", old, new)
    commit(place, {})


BODY = "".join(f"int f{number}(void) {{ return {number}; }}\n" for number in range(9))
LIBRARY = {"src/body.c": BODY, "src/more.c": "int more;\n", "clean/clean.c": "int a;\n", "lib/b.c": "int b;\n"}
IGNORED = {**LIBRARY, ".jarvisignore": "gen*\n", "gen1/old.c": "".join(reversed(BODY.splitlines(keepends=True)))}


@pytest.mark.parametrize(
    ("where", "old", "target"),
    [
        (["src"], "src", "clean"),
        (["src", "lib"], "src", "clean"),
        (["--root", ".", "src"], "src", "clean"),
        ([], "src", "clean"),
        ([], "src/body.c", "../clean/clean.c"),
        (["src"], "src/body.c", "../clean/clean.c"),
    ],
)
def test_a_scanned_directory_or_file_that_becomes_a_link_is_reported(
    project: Project, where: list[str], old: str, target: str
) -> None:
    project.change(LIBRARY, {"new.c": ""})
    link(project.origin, old, target)
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q", *where)

    assert (done.code, done.line.split("; ")[0]) == (3, f"jarvis: {ALTERS}{old}")


@pytest.mark.parametrize("where", [[], ["src"]])
@pytest.mark.parametrize("before", ["link", "directory"])
def test_a_link_to_the_scanned_directory_that_is_redirected_or_removed_is_reported(
    project: Project, where: list[str], before: str
) -> None:
    commit(project.origin, {"real/body.c": BODY, "clean/clean.c": "int a;\n"})
    link(project.origin, "src", "real")
    project.change({"more.c": ""}, {"new.c": ""})
    (project.origin / "src").unlink()
    if before == "link":
        link(project.origin, "src", "clean")
    else:
        commit(project.origin, {"src/clean.c": "int a;\n"})
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q", *where)

    assert done == (Ended(3, "", f"jarvis: {ALTERS}src\n") if where else Ended(0, "", ""))


@pytest.mark.parametrize(
    ("where", "old", "new", "named"),
    [
        ([], "src", "vendor", "src/body.c, src/more.c"),
        ([], "src/body.c", "src/build/body.c", "src/body.c"),
        ([], "src/body.c", "src/body.txt", "src/body.c"),
        ([], "src/body.c", "gen2/body.c", "src/body.c"),
        (["--exclude", "tests"], "src/body.c", "tests/body.c", "src/body.c"),
        (["--include", "src"], "src/body.c", "lib/body.c", "src/body.c"),
        (["lib", "src"], "src/body.c", "other/body.c", "src/body.c"),
        ([], "src/body.c", "tests/body.c", "src/body.c"),
        ([], "src", "examples/src", "src/body.c, src/more.c"),
        ([], "src/body.c", "src/test_body.c", "src/body.c"),
        ([], "tests/old.c", "docs/old.c", None),
        ([], "tests/old.c", "vendor/old.c", "tests/old.c"),
        ([], "src/body.c", "other/body.c", None),
        ([], "gen1", "gen2", None),
        ([], "vendor/body.c", "vendor/other.c", None),
        (["lib"], "src/body.c", "vendor/new.c", None),
        (["src", "lib"], "src/body.c", "lib/body.c", None),
    ],
)
def test_a_source_that_is_moved_to_where_the_scan_does_not_look_is_reported(
    project: Project, where: list[str], old: str, new: str, named: str | None
) -> None:
    tests = "".join(f"int test{number}(void) {{ return {number}; }}\n" for number in range(9))
    project.change({**IGNORED, "vendor/body.c": BODY.upper(), "tests/old.c": tests}, {"new.c": ""})
    move(project.origin, old, new)
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q", *where)

    assert done == (Ended(3, "", f"jarvis: {ALTERS}{named}\n") if named else Ended(0, "", ""))


LONG = "".join(f"int f{number}(int a) {{\n  return a + {number};\n}}\n" for number in range(30))
OLD = {"src/a.c": LONG, "src/b.c": BODY, "src/more.c": "int more;\n", "vendor/a.c": "int vendored;\n" * 90}
FIRST, LAST = LONG[: len(LONG) // 2], LONG[len(LONG) // 2 :]


@pytest.mark.parametrize(
    ("where", "changed", "named"),
    [
        ([], {"src/a.c": "", "vendor/new.c": LONG}, "src/a.c"),
        ([], {"src/a.c": '#include "../vendor/impl.h"\n', "vendor/impl.h": LONG}, "src/a.c"),
        (["src"], {"src/a.c": '#include "../lib/a.c"\n', "lib/a.c": LONG}, "src/a.c"),
        ([], {"src/a.c": "", "vendor/a.c": OLD["vendor/a.c"] + LONG}, "src/a.c"),
        ([], {"src/a.c": None, "src/b.c": "", "vendor/all.c": BODY + OLD["vendor/a.c"] + LONG}, "src/a.c, src/b.c"),
        ([], {"src/a.c": FIRST, "vendor/new.c": LAST}, "src/a.c"),
        ([], {"src/a.c": "int b;\n" * 90, "vendor/new.c": LONG.replace("  ", "\t")}, "src/a.c"),
        ([], {"src/a.c": "", "vendor/new.c": LONG.replace("\n", " ")}, "src/a.c"),
        ([], {"src/a.c": f"/*\n{LONG}*/\n", "vendor/new.c": LONG}, "src/a.c"),
        ([], {"src/a.c": FIRST, "src/new.c": LAST, "vendor/new.c": LAST}, None),
        ([], {"src/a.c": "", "vendor/new.c": BODY}, None),
        ([], {"src/a.c": LONG.replace("+ 7", "- 7"), "vendor/old.c": LONG}, None),
        ([], {"src/more.c": None, "src/a.txt": LONG, "src/a.c": '#include "a.txt"\n'}, None),
        ([], {"src/a.c": None, "src/a.txt": LONG, "src/more.c": '#include "a.txt"\n'}, None),
        ([], {"src/a.c": None, "src/a.txt": LONG, "src/more.c": "int less;\n"}, "src/a.c"),
        ([], {"src/a.c": None, "vendor/a.txt": LONG, "src/more.c": '#include "../vendor/a.txt"\n'}, "src/a.c"),
    ],
    ids=[
        "emptied",
        "included-header",
        "included-from-outside",
        "appended",
        "concatenated",
        "half",
        "filled",
        "joined",
        "comment",
        "copied-too",
        "deleted",
        "edited",
        "included",
        "included-elsewhere",
        "not-included",
        "included-from-excluded",
    ],
)
def test_code_that_is_copied_to_where_the_scan_does_not_look_is_reported(
    project: Project, where: list[str], changed: dict[str, str | None], named: str | None
) -> None:
    project.change({**OLD, "lib/b.c": "int b;\n"}, changed)
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q", *where)

    assert done == (Ended(3, "", f"jarvis: {ALTERS}{named}\n") if named else Ended(0, "", ""))


def test_sources_are_compared_however_many_are_moved(project: Project) -> None:
    bodies = {number: LONG.replace("f", f"g{number}_") for number in range(1100)}
    project.change({f"src/{number}.c": body for number, body in bodies.items()}, {"new.c": ""})
    commit(project.origin, {f"src/{number}.c": None for number in bodies})
    commit(project.origin, {f"vendor/{number}.c": body + "int new;\n" for number, body in bodies.items()})
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert done.code == 3 and done.line.startswith(f"jarvis: {ALTERS}src/0.c, ") and "and 1,090 more" in done.line, done


def test_files_that_are_too_large_to_be_compared_are_reported(project: Project) -> None:
    project.change(OLD, {"src/a.c": "", "vendor/large.c": LONG + "/* a comment */\n" * (COMPARED_BYTES // 16)})
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert done == Ended(3, "", f"jarvis: {ALTERS}vendor/large.c\n")


@pytest.mark.parametrize("where", [[], ["src"]])
def test_a_submodule_in_place_of_a_scanned_directory_is_reported(
    project: Project, tmp_path: Path, where: list[str]
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    commit(library, {"clean.c": "int a;\n"})
    project.change(LIBRARY, {"new.c": ""})
    git(project.origin, "rm", "-rq", "src")
    git(project.origin, "submodule", "--quiet", "add", f"file://{library}", "src")
    commit(project.origin, {})
    project.check_out("--recurse-submodules")

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q", *where)

    assert (done.code, done.line) == (3, f"jarvis: {ALTERS}src")


def test_a_change_that_deletes_sources_or_adds_links_passes(project: Project) -> None:
    project.change(LIBRARY, {"src/body.c": None, "lib/b.c": None})
    link(project.origin, "docs", "clean")
    project.check_out()

    assert project.scan(PULL_REQUEST, "--fail-on", "high", "-q") == Ended(0, "", "")


@pytest.mark.parametrize("option", ["--baseline", "--triage"])
@pytest.mark.parametrize("redirected", ["state", "state/known"])
def test_a_redirected_baseline_or_triage_file_is_reported(project: Project, option: str, redirected: str) -> None:
    known = {"--baseline": '{"issues": []}', "--triage": "version: 1\njudgements: []\n"}[option]
    project.change({**CLEAN, "state/known": known, "state/x": "", "other/known": known}, {"a.c": ""})
    link(project.origin, redirected, "other" if redirected == "state" else "../other/known")
    project.check_out()

    done = project.scan(PULL_REQUEST, option, "state/known", "-q")

    assert done.code == 3 and f"{ALTERS}{redirected}" in done.line, done


@pytest.mark.parametrize("where", [["src"], ["--root", ".", "src"], ["src/clean.c", "src/b.c"]])
def test_rules_of_the_project_that_the_change_deletes_are_reported(project: Project, where: list[str]) -> None:
    top = "src" if where == ["src"] else "."
    rules = f"{top}/.jarvis/rules"
    project.change(
        {**CLEAN, "src/b.c": "", f"{rules}/a.yaml": OWN, f"{rules}/b.yaml": OTHER}, {f"{rules}/a.yaml": None}
    )
    project.check_out()

    done = project.scan(PULL_REQUEST, "--project-rules", "-q", *where)

    assert done.code == 3 and f"{ALTERS}{rules.removeprefix('./')}/a.yaml" in done.line, done


def test_a_settings_file_that_is_a_link_in_the_base_decides(project: Project) -> None:
    commit(project.origin, {**CLEAN, "conf.yaml": "report: {min_confidence: 0.0}\n"})
    link(project.origin, "jarvis.yaml", "conf.yaml")
    project.change({"b.c": ""}, {"conf.yaml": "report: {min_confidence: 0.4}\n"})
    project.check_out()

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert done.code == 3 and f"{ALTERS}conf.yaml" in done.line, done


@pytest.mark.parametrize(
    ("files", "settings", "named"),
    [
        ({".jarvisignore": "*.c\n"}, "", "lib/.jarvisignore"),
        ({"deep/.jarvisignore": "*.c\n"}, "", "lib/deep/.jarvisignore"),
        ({"rules/a.yaml": OTHER}, "rules: {paths: [lib/rules]}\n", "lib"),
        ({"rules/a.yaml": None}, "rules: {paths: [lib/rules]}\n", "lib"),
        ({"other.c": ""}, "", None),
    ],
    ids=["ignore", "ignore-below", "rules", "rules-deleted", "sources"],
)
def test_the_new_commit_of_a_submodule_brings_deciding_files(
    project: Project, tmp_path: Path, files: dict[str, str | None], settings: str, named: str | None
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    commit(library, {"a.c": "int a;\n", "rules/a.yaml": OWN, "rules/b.yaml": OTHER})
    git(project.origin, "submodule", "--quiet", "add", f"file://{library}", "lib")
    project.change({**CLEAN, "jarvis.yaml": settings}, {"b.c": ""})
    commit(library, files)
    git(project.origin / "lib", "pull", "-q")
    commit(project.origin, {})
    project.check_out("--recurse-submodules")

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert done.code == (3 if named else 0), done
    assert named is None or f"{ALTERS}{named}" in done.err, done


@pytest.mark.parametrize(
    ("place", "checked_out", "named"),
    [("vendor/lib", True, "src/a.c"), ("lib", True, None), ("lib", False, "lib"), ("tests/lib", True, "src/a.c")],
)
def test_code_that_is_moved_into_a_submodule_which_is_not_scanned_is_reported(
    project: Project, tmp_path: Path, place: str, checked_out: bool, named: str | None
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q", "-b", "main")
    commit(library, {"a.c": "int a;\n"})
    git(project.origin, "submodule", "--quiet", "add", f"file://{library}", place)
    project.change(OLD, {"new.c": ""})
    commit(library, {"moved.c": LONG})
    git(project.origin / place, "pull", "-q")
    commit(project.origin, {"src/a.c": None})
    project.check_out(*(["--recurse-submodules"] if checked_out else []))

    done = project.scan(PULL_REQUEST, "--fail-on", "high", "-q")

    assert done == (Ended(3, "", f"jarvis: {ALTERS}{named}\n") if named else Ended(0, "", ""))


def test_outside_of_ci_nothing_changes(project: Project) -> None:
    project.change(SOURCES, {"jarvis.yaml": FOUR["report.min_confidence"]})
    project.check_out()

    done = project.scan({"GITHUB_BASE_REF": "main"}, "--fail-on", "high", "--format", "markdown")

    assert done.code == 0
    assert "**No findings** except those below the minimum confidence in 2 files." in done.out
    assert "> Settings narrow this scan: report.min_confidence." in done.out


def test_a_report_of_a_narrowed_scan_says_so_first(jarvis: Jarvis) -> None:
    jarvis.tree(".", {"a.c": COPY, "jarvis.yaml": FOUR["rules.enable_only"]})

    for form in ("markdown", "text", "github-summary", "html"):
        assert "No findings." not in jarvis("sec", "fast", "--format", form).out, form


def test_every_setting_that_selects_files_rules_or_findings_is_marked() -> None:
    assert set(NARROWING) == {
        *("scan.extensions", "scan.languages", "scan.exclude_dirs", "scan.use_ignore_files"),
        *("scan.jarvisignore_of_addresses", "scan.max_file_mb", "rules.disable", "rules.enable_only"),
        *("rules.categories", "rules.severity", "rules.paths", "rules.learned", "rules.depth"),
        "report.min_confidence",
    }
