"""What docs/ci.md and the files for CI services say is run: in a repository with findings in a subdirectory."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.commands import COPY, SYSTEM
from tests.support.workflow_commands import obeyed

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text()
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
FILES = {"src/net/list.c": COPY, "src/main.c": SYSTEM, "README": "none\n"}
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
CODE = re.compile(r"# exit (\d)")
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def file_named(name: str) -> Any:
    """Return the parsed file of the page whose first line is its name."""
    (text,) = [block for block in blocks("yaml") if block.startswith(f"# {name}\n")]
    return yaml.safe_load(text)


def workflow_step() -> dict[str, Any]:
    """Return the step of the page's workflow that uses the action."""
    steps = file_named(".github/workflows/jarvis.yml")["jobs"]["jarvis"]["steps"]
    (step,) = [one for one in steps if one["uses"].startswith("OWNER/")]
    chosen: dict[str, Any] = step
    return chosen


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clean repository, whose commit has findings in src."""
    top = tmp_path / "repository"
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*GIT, *command], cwd=top, check=True)
    return top


@pytest.fixture
def environ(tmp_path: Path, sqlite_template: Path) -> dict[str, str]:
    """The variables of a job; `jarvis` is on the path, and has an empty store."""
    commands = tmp_path / "bin"
    commands.mkdir()
    jarvis = commands / "jarvis"
    jarvis.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m jarvis_cli "$@"\n')
    jarvis.chmod(0o755)
    (tmp_path / "data").mkdir()
    shutil.copyfile(sqlite_template, tmp_path / "data" / "jarvis.db")
    return {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
        "JARVIS_DATA_DIR": str(tmp_path / "data"),
        "JARVIS_PROCESSES": "1",
    }


def bash(script: str, place: Path, environ: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run a script as GitHub does."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=place, env=dict(environ), capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks("sh"), ids=lambda block: block.split("\n")[0][:30])
def test_shell_snippet_of_the_page_ends_as_it_says(block: str, repository: Path, environ: dict[str, str]) -> None:
    lines = []
    for line in block.splitlines():
        command, code = line.split("   #")[0], CODE.search(line)
        lines.append(f'code=0; {command} || code=$?; [ "$code" = {code[1]} ]' if code else command)

    done = bash("\n".join(lines), repository, environ)

    assert done.returncode == 0, done.stdout + done.stderr
    if "2 of 2 files cached" in block:
        assert "2 of 2 files cached" in done.stdout
        # Whatever is inside the checkout may have been committed.
        assert {path.name for path in repository.iterdir()} == {".git", "README", "src"}
    for name in ("jarvis.txt", "jarvis.csv", "jarvis.sarif"):
        if (repository / name).exists():
            assert "src/net/list.c" in (repository / name).read_text()


@pytest.mark.slow
def test_cached_directory_serves_a_fresh_clone_at_another_path(
    repository: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    clone, data = tmp_path / "elsewhere" / "clone", tmp_path / "data2"
    subprocess.run(["git", "clone", "-q", str(repository), str(clone)], check=True)
    data.mkdir()

    first = bash("jarvis sec fast src --json", repository, environ)
    for name in ("cache", "cache.key"):
        source = tmp_path / "data" / name
        shutil.copytree(source, data / name) if source.is_dir() else shutil.copy2(source, data / name)
    second = bash("jarvis sec fast src --json", clone, environ | {"JARVIS_DATA_DIR": str(data)})

    files = [json.loads(done.stdout)["run"]["stages"]["scan"]["cached"] for done in (first, second)]
    assert files == [0, 2]


@dataclass
class Job:
    """A job of GitHub Actions: runs the `run` steps of the action, and records the actions that others use."""

    place: Path
    environ: dict[str, str]
    temporary: Path
    inputs: dict[str, str]
    event: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    log: str = ""
    summary: str = ""

    def run(self) -> int:
        """Return the exit code of the first step that fails."""
        for step in ACTION["runs"]["steps"]:
            if "if" in step and not self.holds(step["if"]):
                continue
            if "uses" in step:
                self.used[step["uses"].partition("@")[0]] = {
                    name: self._filled(value) for name, value in step.get("with", {}).items()
                }
            elif step.get("id") != "install" and (code := self._script(step)):
                return code
        return 0

    def _script(self, step: Mapping[str, Any]) -> int:
        assert "${{" not in step["run"]
        files = {name: self.temporary / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        own = {name: self._filled(value) for name, value in step.get("env", {}).items()}
        given = {"RUNNER_TEMP": str(self.temporary), **{name: str(file) for name, file in files.items()}}
        done = bash(step["run"], self.place, {**self.environ, **given, **own})
        rows = files["GITHUB_OUTPUT"].read_text().splitlines()
        self.outputs[step.get("id", "")] = dict(row.split("=", 1) for row in rows)
        self.log += done.stdout + done.stderr
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        return done.returncode

    def _filled(self, text: object) -> str:
        return EXPRESSION.sub(lambda match: self._value(match[1]), str(text))

    def holds(self, condition: str) -> bool:
        for part in condition.split(" && "):
            match = re.fullmatch(r"(\S+) (==|!=) (?:'(.*)'|true)", part)
            assert match, part
            expected = "true" if match[3] is None else match[3]
            if (self._value(match[1]) == expected) != (match[2] == "=="):
                return False
        return True

    def _value(self, name: str) -> str:
        context, _, rest = name.partition(".")
        if context == "inputs":
            return self.inputs.get(rest, str(ACTION["inputs"][rest]["default"]))
        if context == "steps":
            step, _, output = rest.partition(".outputs.")
            return self.outputs.get(step, {}).get(output, "")
        return {"runner.temp": str(self.temporary), "runner.os": "Linux", "runner.arch": "X64"}.get(
            name, self.event.get(name, "")
        )


@pytest.fixture
def job(repository: Path, environ: dict[str, str], tmp_path: Path) -> Job:
    """A job whose step that installs has been run."""
    temporary = tmp_path / "runner temp"
    (temporary / "jarvis-venv" / "bin").mkdir(parents=True)
    (temporary / "jarvis-venv" / "bin" / "jarvis").symlink_to(tmp_path / "bin" / "jarvis")
    (temporary / "jarvis").mkdir()
    shutil.copyfile(tmp_path / "data" / "jarvis.db", temporary / "jarvis" / "jarvis.db")
    return Job(repository, environ, temporary, dict(workflow_step()["with"]))


@pytest.mark.slow
def test_github_action_annotates_summarizes_uploads_and_fails(job: Job) -> None:
    code = job.run()

    assert code == 1
    assert re.search(r"(?m)^::error file=src/net/list\.c,line=1,endLine=1,col=28,title=Unbounded", job.log)
    assert job.summary.startswith("### Jarvis: ") and "`src/net/list.c:1`" in job.summary
    sarif = json.loads(Path(job.used["github/codeql-action/upload-sarif"]["sarif_file"]).read_text())
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in sarif["runs"][0]["results"]]
    assert {"uri": "src/net/list.c", "uriBaseId": "%SRCROOT%"} in places
    assert job.outputs["scan"]["exit-code"] == "1"
    kept = job.used["actions/cache"]["path"].split("\n")
    assert [Path(path).exists() for path in kept if path] == [True, True]


@pytest.mark.slow
def test_file_names_give_no_orders_to_the_runner_of_github(job: Job) -> None:
    (job.place / "src" / "##[stop-commands]x.c").symlink_to("/etc/passwd")
    (job.place / "##[add-mask]high.c").symlink_to("/etc/passwd")
    (job.place / "::stop-commands::x.c").write_text(COPY)
    job.inputs |= {"path": ".", "fail-on": "never"}

    assert job.run() == 3, job.log
    names = obeyed(job.log.splitlines())
    assert re.match(r"(?s)::stop-commands::(\w{32})\n(?=.*##\[.*\n::\1::\n)", job.log), job.log
    assert "%3A%3Astop-commands%3A%3Ax.c" in job.log
    assert names[:2] == ["stop-commands", "resume"] and {"error"} <= set(names[2:]) <= {"error", "warning", "notice"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"fail-on": "never"}, 0),
        ({"baseline": "HEAD", "upload-sarif": "false"}, 0),
        ({"path": "src/net\nsrc/main.c", "args": "--min-confidence 1  --exclude *.rs"}, 0),
        (
            {
                "path": "$(touch stolen)`touch stolen`\n; touch stolen",
                "args": "; touch stolen",
                "baseline": "'; touch stolen",
            },
            2,
        ),
    ],
)
def test_github_action_obeys_its_inputs_and_runs_none_of_them(job: Job, inputs: dict[str, str], code: int) -> None:
    job.inputs |= inputs

    assert job.run() == code, job.log
    assert not (job.place / "stolen").exists()
    uploads = code == 0 and inputs.get("upload-sarif") != "false"
    assert ("github/codeql-action/upload-sarif" in job.used) == uploads


def write_reports(directory: Path, *names: str) -> None:
    """Write a report of another analyzer under each name, about a line of its own."""
    directory.mkdir(parents=True, exist_ok=True)
    for line, name in enumerate(names, 1):
        place = {"artifactLocation": {"uri": "src/main.c"}, "region": {"startLine": line}}
        result = {"ruleId": "r", "message": {"text": "odd"}, "locations": [{"physicalLocation": place}]}
        run = {"tool": {"driver": {"name": "Tool"}}, "results": [result]}
        (directory / name).write_text(json.dumps({"version": "2.1.0", "runs": [run]}))


@pytest.mark.slow
def test_github_action_takes_reports_of_other_analyzers_whatever_their_names_are(job: Job) -> None:
    (job.place / "src" / "main.c").write_text("int a;\n" * 4)
    write_reports(job.place, "--format=json; touch stolen.sarif", "$(touch stolen).sarif")
    write_reports(job.place / "my results", "a.sarif", "b.sarif", "c.sarif")
    job.inputs |= {"path": "src", "fail-on": "never", "findings": "*.sarif\n\nmy results/*\n"}

    assert job.run() == 0, job.log
    sarif = json.loads(Path(job.used["github/codeql-action/upload-sarif"]["sarif_file"]).read_text())
    (theirs,) = [run for run in sarif["runs"] if run["tool"]["driver"]["name"] == "Tool"]
    lines = [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in theirs["results"]]
    assert sorted(lines) == [1, 2, 3]
    assert not list(job.place.glob("**/stolen"))


@pytest.mark.slow
@pytest.mark.parametrize("findings", ["results/*.sarif", "-", "$(touch stolen)", "; touch stolen", "/dev/zero"])
def test_github_action_fails_if_a_report_is_missing_or_none(job: Job, findings: str) -> None:
    job.inputs |= {"findings": findings}

    assert job.run() == 2, job.log
    assert not (job.place / "stolen").exists()


def test_github_action_uploads_nothing_for_a_fork(tmp_path: Path) -> None:
    (upload,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == "Upload"]
    fork = "github.event.pull_request.head.repo.fork"
    jobs = [Job(tmp_path, {}, tmp_path, {}, event, {"scan": {"sarif": "x"}}) for event in ({}, {fork: "true"})]

    assert [job.holds(upload["if"]) for job in jobs] == [True, False]


def test_action_has_no_expression_in_a_script_and_documents_its_inputs() -> None:
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]

    assert len(scripts) == 3 and not any("${{" in script for script in scripts)
    assert set(re.findall(r"(?m)^\| `([a-z-]+)` \| .*\| ", PAGE)) >= set(ACTION["inputs"])
    assert set(workflow_step()["with"]) <= set(ACTION["inputs"])


def gitlab_job() -> dict[str, Any]:
    """Return the job of the template, with what the page overrides."""
    template = yaml.safe_load((ROOT / "deploy" / "gitlab" / "jarvis.gitlab-ci.yml").read_text())
    include = file_named(".gitlab-ci.yml")
    assert (ROOT / include["include"][0]["file"]).is_file()
    (name,) = set(template)
    chosen: dict[str, Any] = template[name]
    return chosen | {"variables": chosen["variables"] | include[name]["variables"]}


def gitlab_run(repository: Path, environ: Mapping[str, str], **more: str) -> "subprocess.CompletedProcess[str]":
    """Run the job of the template without its installation, under the umask of a runner of the shell executor."""
    ci = gitlab_job()
    variables = {**environ, "CI_PROJECT_DIR": str(repository), **ci["variables"], **more}
    variables["JARVIS_DATA_DIR"] = str(repository / ".jarvis" / "ci")
    (repository / ".jarvis" / "ci").mkdir(parents=True, exist_ok=True)
    script = "\n".join(["umask 077", *ci["script"]])
    return subprocess.run(
        ["sh", "-ec", script], cwd=repository, env=variables, capture_output=True, text=True, check=False
    )


def committed(repository: Path) -> None:
    for command in (["add", "-f", "."], ["commit", "-qm", "second"]):
        subprocess.run([*GIT, *command], cwd=repository, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("link", [False, True])
def test_gitlab_job_refuses_a_committed_cache(repository: Path, environ: dict[str, str], link: bool) -> None:
    folder = repository / ("elsewhere" if link else ".jarvis")
    (folder / "ci" / "cache").mkdir(parents=True)
    (folder / "ci" / "cache.key").write_bytes(b"k" * 32)
    (folder / "ci" / "cache.key").chmod(0o600)
    if link:
        (repository / ".jarvis").symlink_to("elsewhere")
    committed(repository)

    done = gitlab_run(repository, environ)

    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == "" and done.stderr.count("\n") == 1 and ".jarvis" in done.stderr
    assert not (repository / "gl-sast-report.json").exists()


def test_gitlab_job_fails_if_the_committed_files_are_unknown(repository: Path, environ: dict[str, str]) -> None:
    (repository / ".git").rename(repository / "no git")

    done = gitlab_run(repository, environ)

    assert done.returncode == 2 and "cannot list" in done.stderr


def test_gitlab_job_refuses_a_committed_cache_before_it_installs() -> None:
    ci = gitlab_job()

    assert ci["before_script"][0] == ci["script"][0] and "git" in ci["script"][0]


@pytest.mark.slow
def test_gitlab_job_writes_both_reports_and_fails(repository: Path, environ: dict[str, str]) -> None:
    ci = gitlab_job()

    done = gitlab_run(repository, environ)

    assert done.returncode == 1, done.stderr
    sast = json.loads((repository / "gl-sast-report.json").read_text())
    quality = json.loads((repository / "gl-code-quality-report.json").read_text())
    assert {one["location"]["file"] for one in sast["vulnerabilities"]} == {"src/net/list.c", "src/main.c"}
    assert {one["location"]["path"] for one in quality} == {"src/net/list.c", "src/main.c"}
    assert set(ci["artifacts"]["reports"].values()) == {"gl-sast-report.json", "gl-code-quality-report.json"}
    assert [(repository / path).exists() for path in ci["cache"]["paths"]] == [True, True]
    assert "src/net/list.c:1:28: high" in done.stdout


@pytest.mark.slow
def test_gitlab_job_takes_reports_of_other_analyzers(repository: Path, environ: dict[str, str]) -> None:
    (repository / "src" / "main.c").write_text("int a;\n" * 4)
    write_reports(repository, "--format=json; touch stolen.sarif", "$(touch stolen).sarif")
    write_reports(repository / "results", "a b.sarif")

    done = gitlab_run(repository, environ, SCAN_FINDINGS="*.sarif results/*", SCAN_FAIL_ON="never")
    missing = gitlab_run(repository, environ, SCAN_FINDINGS="none/*.sarif")

    assert (done.returncode, missing.returncode) == (0, 2), done.stderr
    assert "none/*.sarif" in missing.stderr
    assert done.stderr.count("1 of Tool") == 3
    assert not list(repository.glob("**/stolen"))


@pytest.mark.slow
def test_pre_commit_hook_takes_file_names(repository: Path, environ: dict[str, str], tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (used,) = file_named(".pre-commit-config.yaml")["repos"][0]["hooks"]

    def commit(*files: str) -> "subprocess.CompletedProcess[str]":
        command = [str(package / hook["entry"]), *used["args"], *files]
        return subprocess.run(command, cwd=repository, env=environ, capture_output=True, text=True, check=False)

    package = tmp_path / "package"
    (package / ".hook" / "bin").mkdir(parents=True)
    (package / ".hook" / "installed").touch()
    (package / ".hook" / "bin" / "jarvis").symlink_to(tmp_path / "bin" / "jarvis")
    shutil.copytree(ROOT / "deploy", package / "deploy")
    (repository / "ok.c").write_text("int a;\n")
    (repository / "--exclude=list.c").write_text("int a;\n")
    bad, good = commit("src/net/list.c", "src/main.c", "--exclude=list.c"), commit("ok.c")

    assert used["id"] == hook["id"]
    assert (bad.returncode, good.returncode) == (1, 0)
    assert "src/net/list.c:1:28: high" in bad.stdout
    assert (good.stdout, good.stderr) == ("", "")
