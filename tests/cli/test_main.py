"""How a command line is taken, and how a command ends."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.app import Frame
from jarvis_cli.main import COMMANDS, Command, run
from jarvis_workers.errors import UsageError

JARVIS = [sys.executable, "-c", "from jarvis_cli.main import main; main()"]


@pytest.fixture
def command(monkeypatch):
    """Register a command `try` whose body a test gives."""

    def register(body):
        app = typer.Typer(rich_markup_mode=None)
        app.command()(body)
        module = ModuleType("a_command_to_try")
        module.app = app
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(COMMANDS, "try", Command("a_command_to_try:app", "Try it."))

    return register


def raising(error):
    def body():
        raise error

    return body


@pytest.mark.timing
def test_help_names_every_command_and_imports_none():
    script = "import sys\nfrom jarvis_cli.main import run\nrun(['--help'])\nprint(*sys.modules, file=sys.stderr)"

    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert all(f"  {name} " in ended.stdout for name in COMMANDS)
    assert "jarvis sec fast " in ended.stdout
    assert not {"jarvis_workers.sec.commands.main", "jarvis_cli.config", "pydantic", "sqlalchemy", "rich"} & set(
        ended.stderr.split()
    )


def test_no_command_is_help(capsys):
    assert run([]) == 0
    assert "Exit codes:" in capsys.readouterr().out


def test_the_version_is_shown(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("jarvis 0.")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (
            ["c2rust", "fast", ".", "src"],
            "jarvis c2rust fast: Got unexpected extra argument(s) (src) See: jarvis c2rust fast --help",
        ),
        (
            ["c2rust", "scan", "src", "-p", "."],
            "jarvis c2rust scan: Got unexpected extra argument(s) (src) See: jarvis c2rust scan --help",
        ),
        (["confg"], "jarvis: No such command 'confg'. Did you mean 'config'? See: jarvis --help"),
        (["config", "shwo"], "jarvis config: No such command 'shwo'. Did you mean 'show'? See: jarvis config --help"),
        (["--versio"], "jarvis: No such option: --versio"),
        (["config", "show", "--jsn"], "jarvis config show: No such option: --jsn"),
    ],
)
def test_a_slip_is_one_line_with_what_was_meant(args, says, capsys):
    assert run(args) == 2

    shown = capsys.readouterr().err
    assert shown.startswith(says)
    assert shown.count("\n") == 1
    assert "--json" in shown or "jsn" not in shown


def test_a_group_without_a_command_shows_its_help_and_no_completion(capsys):
    assert run(["config"]) == 2

    shown = capsys.readouterr().err
    assert "Commands:" in shown
    assert "--install-completion" not in shown


def test_what_a_command_returns_is_the_exit_code(command):
    command(lambda: exits.INCOMPLETE)
    assert run(["try"]) == 3


def test_a_command_may_end_early(command):
    command(raising(typer.Exit(exits.TIMED_OUT)))
    assert run(["try"]) == 4


def test_our_errors_are_one_line(command, capsys):
    command(raising(UsageError("no such path: x; give one that exists")))

    assert run(["try"]) == 2
    assert capsys.readouterr().err == "jarvis: no such path: x; give one that exists\n"


def test_an_interrupt_is_130(command, capsys):
    command(raising(KeyboardInterrupt()))

    assert run(["try"]) == 130
    assert capsys.readouterr().err == "jarvis: interrupted\n"


def test_an_internal_error_is_one_line_without_its_trace(command, capsys):
    command(raising(LookupError("two\nlines")))

    assert run(["try"]) == 2
    assert capsys.readouterr().err.startswith("jarvis: internal error: LookupError: two lines (set JARVIS_DEBUG=1")


@pytest.mark.parametrize(("args", "debug"), [(["-v", "try"], ""), (["try"], "1")])
def test_an_internal_error_shows_its_trace_when_asked(args, debug, command, monkeypatch, capsys):
    monkeypatch.setenv("JARVIS_DEBUG", debug)
    command(raising(LookupError("lost")))

    assert run(args) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_broken_pipe_of_our_own_is_not_passed_over(command, capsys):
    command(raising(BrokenPipeError("a child died")))

    assert run(["try"]) == 2
    assert "BrokenPipeError: a child died" in capsys.readouterr().err


@pytest.mark.timing
def test_a_reader_that_goes_away_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)

    ended = subprocess.run([*JARVIS, "--help"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)

    assert (ended.returncode, ended.stderr) == (exits.CLOSED_OUTPUT, b"")


def test_output_that_cannot_be_written_is_a_failure(command, monkeypatch, capsys):
    command(lambda: print("much"))
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)

        assert run(["try"]) == 2

    assert capsys.readouterr().err == "jarvis: cannot write the output: No space left on device\n"


@pytest.mark.slow
@pytest.mark.timing
def test_a_terminal_without_the_character_gets_its_number(tmp_path):
    environ = {"PATH": os.environ["PATH"], "PYTHONIOENCODING": "latin-1", "JARVIS_DATA_DIR": str(tmp_path / "ł")}

    ended = subprocess.run([*JARVIS, "config", "show"], env=environ, capture_output=True, check=True, cwd=tmp_path)

    assert b"\\u0142" in ended.stdout


@pytest.mark.timing
def test_completion_offers_the_commands():
    environ = {
        "PATH": os.environ["PATH"],
        "_JARVIS_COMPLETE": "complete_bash",
        "COMP_WORDS": "jarvis c",
        "COMP_CWORD": "1",
    }

    ended = subprocess.run(JARVIS, env=environ, capture_output=True, text=True, check=False)

    assert ended.stdout.split() == ["code", "c2rust", "config"]


def test_a_command_of_its_own_name_knows_where_its_report_goes(command, monkeypatch, capsys):
    def body(ctx: typer.Context, name: str) -> None:
        frame = ctx.find_object(Frame) or Frame()
        typer.echo(json.dumps([name, str(frame.default_output), ctx.command_path]))

    command(body)

    assert run(["try", "me"]) == 0
    assert json.loads(capsys.readouterr().out) == ["me", "None", "jarvis try"]
    assert run(["me"], command="try", prog="jarvis-try", frame=Frame(default_output="report.md")) == 0
    assert json.loads(capsys.readouterr().out) == ["me", "report.md", "jarvis-try"]


@pytest.mark.parametrize(
    ("findings", "incomplete", "code"), [(False, False, 0), (True, False, 1), (False, True, 3), (True, True, 1)]
)
def test_findings_win_over_what_was_not_checked(findings, incomplete, code):
    assert exits.of_run(findings=findings, incomplete=incomplete) == code


@pytest.mark.timing
def test_jarvis_sec_is_jarvis_sec_under_its_own_name():
    script = "import sys; sys.argv[0] = '/bin/jsec'; from jarvis_cli.main import jarvis_sec; jarvis_sec()"

    ended = subprocess.run(
        [sys.executable, "-c", script, "fast", "--help"], capture_output=True, text=True, check=True, cwd="/"
    )

    assert ended.stdout.startswith("Usage: jsec fast [OPTIONS]")


@pytest.mark.timing
@pytest.mark.parametrize("name", ["jarvis-agent", "jvs"])
@pytest.mark.slow
def test_jarvis_agent_has_entry_points_of_its_own_name(name):
    scripts = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts[name].partition(":")
    script = f"import sys; sys.argv[0] = '/bin/{name}'; from {module} import {function}; {function}()"

    ended = subprocess.run(
        [sys.executable, "-c", script, "--definitions"], capture_output=True, text=True, check=True, cwd="/"
    )

    assert "explain" in ended.stdout


@pytest.mark.parametrize(
    ("name", "command"),
    [("jarvis-c2rust", "order"), ("jc2r", "order"), ("jarvis-code-agent", "accept"), ("jca", "accept")],
)
def test_groups_have_entry_points_of_their_own_names(name, command):
    scripts = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts[name].partition(":")
    script = f"import sys; sys.argv[0] = '/bin/{name}'; from {module} import {function}; {function}()"

    ended = subprocess.run(
        [sys.executable, "-c", script, command, "--help"], capture_output=True, text=True, check=True, cwd="/"
    )

    assert ended.stdout.startswith(f"Usage: {name} {command} [OPTIONS]")
