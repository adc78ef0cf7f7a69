"""Every shell step that CI services, hooks and units are told to run, in the worst repository: nothing of it is run.

The steps come from the files and pages themselves, so that a new one is covered.  What may be opened is listed here.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from jarvis_workers.settings import Settings
from tests.support.servers import missing
from tests.support.worst_repository import GIT, HOSTILE_NAMES, Touched, make_worst_repository, run_traced

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "run" in step}
(GITLAB,) = yaml.safe_load((ROOT / "deploy" / "gitlab" / "jarvis.gitlab-ci.yml").read_text()).values()
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
BLOCKS = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL)
PYTHON = f"{sys.base_prefix}/bin/python3"
SCRIPTS = {path.name for path in (ROOT / "deploy").glob("*.sh")}
SOURCE = re.compile(rf".*\.({'|'.join(map(re.escape, Settings().scan.extensions))})", re.DOTALL)
# Besides sources, and what git reads of its own: as data only.
DATA = {".gitignore", ".jarvisignore", "jarvis.yaml", "pyproject.toml", "compile_commands.json"}
REPORTS = (".json", ".sarif", ".xml", ".csv", ".txt")
ADDRESS = "https://forge.example/owner/jarvis-workers"
FAKE_INSTALL = '#!/bin/sh\nmkdir -p "$1/bin" && ln -s "{jarvis}" "$1/bin/jarvis" && ln -s "{python}" "$1/bin/python"\n'


@pytest.fixture(autouse=True)
def strace() -> None:
    if shutil.which("strace") is None:
        missing("strace")


class Checkout:
    """The worst repository, the directories of a job beside it, and the program `jarvis`."""

    def __init__(self, place: Path, template: Path) -> None:
        self.place, self.tree = place, place / "tree"
        self.ran = make_worst_repository(self.tree)
        for name in ("home", "temporary", "data", "program"):
            (place / name).mkdir()
        self.jarvis = place / "program" / "jarvis"
        self.jarvis.write_text(
            f'#!{sys.executable}\nimport sys\nsys.path.insert(0, "{ROOT}")\nfrom jarvis_cli.main import main\nmain()\n'
        )
        self.jarvis.chmod(0o755)
        shutil.copyfile(template, place / "data" / "jarvis.db")
        self.environ = {
            "PATH": f"{place}/program:{os.environ['PATH']}",
            "HOME": str(place / "home"),
            "TMPDIR": str(place / "temporary"),
            "LC_ALL": "C.UTF-8",
            "CI": "true",
            "JARVIS_DATA_DIR": str(place / "data"),
            "JARVIS_PROCESSES": "1",
            **{
                name: value
                for name, value in os.environ.items()
                if name.startswith(("PIP_", "UV_")) or "proxy" in name.lower()
            },
        }

    def published(self, *, fake: bool = True) -> Path:
        """Return a repository with the files of this one; with a `fake` installation, which takes no time."""
        place = self.place / "published"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
        for name in filter(None, listed.split("\0")):
            if not name.startswith("tests/") and (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, place / name)
        if fake:
            script = FAKE_INSTALL.format(jarvis=self.jarvis, python=sys.executable)
            (place / "deploy" / "install.sh").write_text(script)
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "published"]):
            subprocess.run([*GIT, *command], cwd=place, check=True)
        return place

    def run(self, script: str, more: Mapping[str, str] | None = None, *, shell: tuple[str, ...] = ("sh", "-ec")) -> str:
        """Run a script in the tree, check what it touches, and return its output."""
        environ = {**self.environ, **(more or {})}
        done, touched = run_traced([*shell, script], cwd=self.tree, env=environ, trace=self.place / "trace")
        self.check(touched, script)
        return done.stdout + done.stderr

    def check(self, touched: Touched, script: str) -> None:
        assert touched.executed, "nothing was traced"
        here = touched.inside(self.tree)
        assert not self.ran.exists(), self.ran.read_text()
        assert not (self.tree / "stolen").exists()
        assert here.executed == set()
        unexpected = {path for path in here.opened if not self._may_open(path, script)}
        assert unexpected == set()
        assert {path for path in here.written if SOURCE.fullmatch(path) or path in DATA} == set()

    def _may_open(self, path: str, script: str) -> bool:
        """Return whether a file is data that a scan reads, git's own, or a report or baseline that the step names.

        The directory .jarvis/ci is the cache of GitLab's job, which refuses a repository that has committed one, and
        results are written to .jarvis/sec of what is scanned.
        """
        reports = {word for word in re.findall(r"[\w.-]+", script) if word.endswith(REPORTS)}
        is_own = path.startswith((".git/", ".jarvis/ci/")) or "/.jarvis/sec/" in f"/{path}"
        # A report is written to .NAME.RANDOM first.
        is_own = is_own or re.sub(r"^\.(.+)\.\w{8}$", r"\1", path) in reports
        return is_own or bool(SOURCE.fullmatch(path)) or path.rpartition("/")[2] in DATA


@pytest.fixture
def checkout(tmp_path: Path, sqlite_template: Path) -> Checkout:
    return Checkout(tmp_path, sqlite_template)


def action_environ(checkout: Checkout, package: Path) -> dict[str, str]:
    """Return the variables of the action's steps, with the worst inputs."""
    given = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_BASE_REF": "main",
        "RUNNER_TEMP": str(checkout.place / "temporary"),
        "GITHUB_OUTPUT": str(checkout.place / "output"),
        "GITHUB_STEP_SUMMARY": str(checkout.place / "summary"),
        "ACTION_PATH": str(package),
        "PYTHON": PYTHON,
        "EXIT_CODE": "3",
    }
    inputs = {f"INPUT_{name.upper().replace('-', '_')}": str(one["default"]) for name, one in ACTION["inputs"].items()}
    return {**given, **inputs}


def test_every_step_and_script_is_run_here() -> None:
    assert set(STEPS) == {"Install", "Scan", "Result"}
    assert {"install.sh", "pre-commit.sh", "venv.sh", "try.sh", "test.sh", "secrets.sh", "local-topology.sh"} == SCRIPTS
    assert HOOK["language"] == "script" and HOOK["entry"] == "deploy/pre-commit.sh"


@pytest.mark.parametrize("name", [name for name in STEPS if name != "Install"])
def test_a_step_of_the_action_runs_nothing_of_the_checkout(checkout: Checkout, name: str) -> None:
    package = checkout.published()
    environ = action_environ(checkout, package)
    shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
    checkout.run(STEPS["Install"]["run"], environ, shell=shell)

    output = checkout.run(STEPS[name]["run"], environ, shell=shell)

    if name == "Scan":
        assert "this change alters what is scanned: rules.disable, rules.paths, .jarvisignore" in output, output
        summary = (checkout.place / "summary").read_text()
        assert "src/net/list.c" in summary


@pytest.mark.long
@pytest.mark.parametrize("script", ["action", "try.sh"])
def test_an_installation_runs_and_reads_nothing_of_the_checkout(checkout: Checkout, script: str) -> None:
    """With the index, by hash."""
    reached = [PYTHON, "-m", "pip", "download", "-q", "--no-deps", "-d", str(checkout.place), "pathspec==1.1.1"]
    if subprocess.run(reached, check=False, capture_output=True).returncode:
        missing("a package index")
    package = checkout.published(fake=False)
    venv = checkout.place / "temporary" / "jarvis-venv"
    environ = {**action_environ(checkout, package), "JARVIS_VENV": str(venv)}
    commands = {
        "action": STEPS["Install"]["run"],
        "try.sh": 'sh "$ACTION_PATH/deploy/try.sh" src',
    }

    output = checkout.run(commands[script], environ)

    assert (venv / "bin" / "jarvis").exists(), output
    done = subprocess.run([venv / "bin" / "jarvis", "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_job_of_gitlab_runs_nothing_of_the_checkout(checkout: Checkout) -> None:
    package = checkout.published()
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=package, check=True, capture_output=True, text=True
    ).stdout.strip()
    (checkout.place / "home" / ".gitconfig").write_text(f'[url "file://{package}"]\n\tinsteadOf = {ADDRESS}\n')
    environ = {
        **{name: str(value) for name, value in GITLAB["variables"].items()},
        "GITLAB_CI": "true",
        "CI_PROJECT_DIR": str(checkout.tree),
        "SCAN_PACKAGE": f"git+{ADDRESS}@{head}",
        "JARVIS_DATA_DIR": str(checkout.tree / ".jarvis" / "ci"),
    }

    output = checkout.run(
        "\n".join([*GITLAB["before_script"], *GITLAB["script"]]), environ, shell=("bash", "-eo", "pipefail", "-c")
    )

    assert "src/net/list.c:1:28: high" in output, output


@pytest.mark.parametrize(
    "package",
    ["", "jarvis-workers", "jarvis-workers==0.1.0", f"git+{ADDRESS}", f"git+{ADDRESS}@main", "http://x@" + "0" * 40],
)
def test_the_job_of_gitlab_installs_no_name_and_no_moving_revision(checkout: Checkout, package: str) -> None:
    environ = {"CI_PROJECT_DIR": str(checkout.tree), "SCAN_PACKAGE": package}

    output = checkout.run("\n".join(GITLAB["before_script"]), environ)

    assert output.startswith("jarvis: set SCAN_PACKAGE to git+https://HOST/OWNER/jarvis-workers@COMMIT, ")
    assert output.count("\n") == 1


def test_the_hook_of_pre_commit_runs_nothing_of_the_checkout(checkout: Checkout) -> None:
    package = checkout.published()
    names = ["src/main.c", *HOSTILE_NAMES]

    command = (str(package / HOOK["entry"]), *HOOK["args"], *names)
    done, touched = run_traced(list(command), cwd=checkout.tree, env=checkout.environ, trace=checkout.place / "trace")

    checkout.check(touched, HOOK["entry"])
    assert done.returncode == 1 and "src/main.c:1:28: high" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0][:30])
def test_a_line_of_the_page_on_ci_runs_nothing_of_the_checkout(checkout: Checkout, block: str) -> None:
    checkout.run(block, shell=("bash", "-c"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_command_of_a_unit_runs_nothing_of_its_directory(checkout: Checkout, unit: Path) -> None:
    (command,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)

    output = checkout.run(f"{command.replace('/opt/jarvis/bin/jarvis', str(checkout.jarvis))} --help")

    assert "Usage:" in output or "usage:" in output


def test_scripts_run_nothing_of_the_directory_where_they_are_started(checkout: Checkout) -> None:
    """Where all is installed already; `make_venv` installs in the test above."""
    venv = checkout.place / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "jarvis").symlink_to(checkout.jarvis)
    (venv / "bin" / "python").symlink_to(sys.executable)
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / lock).read_bytes() + (ROOT / "pyproject.toml").read_bytes()
        wanted = subprocess.run(["cksum"], input=text, check=True, capture_output=True).stdout
        (venv / f".{lock}").write_bytes(wanted)
    more = {"JARVIS_VENV": str(venv), "JARVIS": "cat"}

    assert "net/list.c" in checkout.run(f"sh {ROOT}/deploy/try.sh src", more)
    checkout.run(f"sh {ROOT}/deploy/secrets.sh {checkout.place}/secrets", more)
