"""`--name`: a command that is started again goes on with its run."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.chaos.commands import until
from tests.cli.commands import COPY, Jarvis
from tests.support.gates import GATED, Gate


@pytest.mark.slow
def test_command_started_again_goes_on_with_its_run(jarvis: Jarvis) -> None:
    tree = jarvis.tree("tree", {"a.c": COPY})
    command = ("sec", "fast", "-p", tree, "--name", "nightly", "--json")
    first = jarvis(*command)
    (Path(tree) / "b.c").write_text(COPY)

    again = jarvis(*command)
    other = jarvis(*command, "--rules", "unsafe_api")
    (Path(tree) / "compile_commands.json").write_text(json.dumps([{"directory": ".", "file": "a.c", "command": "cc"}]))
    compiled = jarvis(*command, "--compile-commands", f"{tree}/compile_commands.json")

    assert (first.code, again.code) == (0, 0)
    assert first.out == again.out
    run = json.loads(first.out)["run"]["id"]
    assert f'jarvis: "nightly" is run {run}, which has ended' in again.err
    assert other.code == 2
    why = "which has another source or other options; choose another name"
    assert other.line == f'jarvis: --name: "nightly" belongs to run {run}, {why}'
    assert compiled.line == other.line


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_local_run_whose_command_was_ended_is_resumed_by_its_name(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, signal_number: int
) -> None:
    """Killed, the run is abandoned; interrupted, it is paused."""
    monkeypatch.setenv("JARVIS_TICK_SECONDS", "0.05")
    gate = Gate(jarvis.place.parent / "gate", monkeypatch)
    tree = jarvis.tree("tree", {f"{n}.c": COPY for n in range(60)} | {"gated.c": GATED})
    command = ("sec", "fast", "-p", tree, "--name", "nightly", "--json", "-q")
    process = jarvis.start(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: '"running"' in jarvis("runs", "list", "--json").out)

    process.send_signal(signal_number)
    process.wait()
    gate.open()
    ended = jarvis(*command)

    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["summary"]["total"] == 60
    assert len(json.loads(jarvis("runs", "list", "--json").out)) == 1
