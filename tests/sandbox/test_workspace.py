"""A workspace remains after its sandbox; a toolchain is readable by argument; nothing more is writable."""

import os
import sys
from pathlib import Path

import pytest

from jarvis_workers.sandbox.confine import WORK
from jarvis_workers.sandbox.launcher import Starter
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import Sandbox, open_sandbox, refusal

pytestmark = pytest.mark.timing

SOCKETS = "import socket as s; [s.socketpair(s.AF_UNIX, kind) for kind in (s.SOCK_STREAM, s.SOCK_SEQPACKET)]"


@pytest.fixture(params=[Tier.A, Tier.B])
def tier(request: pytest.FixtureRequest) -> Tier:
    if why := refusal(request.param):
        assert request.param == Tier.A, why
        pytest.skip(why)
    return Tier(request.param)


def output(box: Sandbox, script: str) -> str:
    outcome = box.run(["sh", "-c", script])
    assert outcome.code == 0, outcome
    return outcome.stdout.decode()


def test_a_workspace_is_writable_and_remains_for_the_next_sandbox(tmp_path: Path, tier: Tier, starter: Starter) -> None:
    place, tree = tmp_path / "work shop", tmp_path / "tree"
    place.mkdir()
    tree.mkdir()
    (tree / "a.c").write_text("int a;\n")
    with open_sandbox(tree, tier=tier, starter=starter, workspace=place) as box:
        output(box, f"cp -R --preserve=mode,timestamps . '{place}/{WORK}'; touch \"$HOME/mark\"; ! touch new")

    with open_sandbox(place / WORK, tier=tier, starter=starter, workspace=place) as box:
        output(box, f"echo 'int b;' > b.c; ! touch '{tree}/new'")
        assert output(box, 'cat a.c; ls; ls "$HOME"') == "int a;\na.c\nb.c\nmark\n"
        assert sorted(path.name for path in place.iterdir()) == ["home", "tmp", WORK]

    assert (place / "home/mark").exists()
    assert (tree / "a.c").read_text() == "int a;\n"


def test_a_tool_chain_is_readable_by_argument_and_its_programs_are_found(
    tmp_path: Path, tier: Tier, starter: Starter
) -> None:
    program, root = tmp_path / "chain/bin/mytool", tmp_path / "root"
    program.parent.mkdir(parents=True)
    root.mkdir()
    program.write_text("#!/bin/sh\necho run\n")
    program.chmod(0o755)
    with open_sandbox(root, tier=tier, starter=starter, readable=[tmp_path / "chain"]) as box:
        assert output(box, f"mytool; ! touch '{program}'") == "run\n"
    with open_sandbox(root, tier=tier, starter=starter) as box:
        assert box.run(["cat", str(program)]).code != 0


def test_a_workspace_with_a_planted_link_changes_nothing_outside(tmp_path: Path, tier: Tier, starter: Starter) -> None:
    place, victim = tmp_path / "place", tmp_path / "victim"
    place.mkdir()
    victim.write_text("mine")
    with open_sandbox(tmp_path, tier=tier, starter=starter, workspace=place) as box:
        output(box, f'rm "$HOME/.gitconfig"; ln -s "{victim}" "$HOME/.gitconfig"')
    with open_sandbox(place / WORK, tier=tier, starter=starter, workspace=place) as box:
        output(box, "true")

    assert victim.read_text() == "mine"


def test_pairs_of_packet_sockets_work_as_cargo_needs_them(tmp_path: Path, tier: Tier, starter: Starter) -> None:
    with open_sandbox(tmp_path, tier=tier, starter=starter) as box:
        assert box.run([os.path.realpath(sys.executable), "-I", "-S", "-c", SOCKETS]).code == 0
