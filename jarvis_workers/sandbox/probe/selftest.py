"""Attack the sandbox and report which attacks were contained.

Every attack first runs unconfined on disposable targets: only attacks that succeed there count. Then it runs in a tier,
on fresh targets. Afterwards the tree and its surroundings are compared with their state before.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import SandboxError
from jarvis_workers.sandbox.confine import ENVIRONMENT
from jarvis_workers.sandbox.launcher import PACKAGES, Starter
from jarvis_workers.sandbox.limits import SandboxLimits, Tier
from jarvis_workers.sandbox.probe.attacks import inside
from jarvis_workers.sandbox.probe.attacks.resources import LIMITS
from jarvis_workers.sandbox.probe.attacks.target import NOT_CHANGED, SECRET_ARGUMENT, Target
from jarvis_workers.sandbox.sandbox import Sandbox
from jarvis_workers.toolchain import scratch

LOCAL = "127.0.0.1"
SECRET_NAME = "PROBE_SECRET"
CODE = ".probe"
# The files that run inside the sandbox: the attacks, and the sandbox modules that they import.
ATTACKS = "jarvis_workers/sandbox/probe/attacks"
OF_SANDBOX = ("jarvis_workers/sandbox/syscalls.py", "jarvis_workers/sandbox/limits.py")
BOOT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from jarvis_workers.sandbox.probe.attacks.inside import main
main()
"""
SECONDS = 60
LOOKS = 5
TREE_CHANGED = "tree_changed"
NEVER_ENDS = "never_end"
WAIT = "import sys, time; time.sleep(600)"


class AttackResult(NamedTuple):
    """The result of an attack in a tier: escaped or contained; `counts` is true if it succeeds unconfined."""

    group: str
    attack: str
    escaped: bool
    counts: bool


def groups() -> dict[str, list[str]]:
    """Return the names of all attacks, by group."""
    return {group: [attack.__name__ for attack in all_] for group, all_ in (inside.TOGETHER | inside.ALONE).items()}


def unconfined(names: Sequence[str]) -> set[str]:
    """Return the attacks that succeed without a sandbox."""
    with _targets() as (target, place):
        (place / "scratch").mkdir()
        own_target = target._replace(scratch=str(place / "scratch"))
        return _made(lambda some, mark: _plainly(own_target, some, mark), names)


def confined(
    tier: Tier,
    names: Sequence[str],
    *,
    without: Collection[str] = (),
    handled_rights: int | None = None,
    loopback: bool = False,
) -> set[str]:
    """Return the attacks that succeed in a tier, and `tree_changed` if any target was modified."""
    with _targets() as (target, place), _starter(target, without, handled_rights) as starter:
        before = _state(place)

        def run(some: str, mark: str) -> str:
            with Sandbox(target.tree, tier, starter, scratch_bytes=LIMITS.scratch_bytes) as sandbox:
                own_target = target._replace(scratch=str(sandbox.home))
                command, limits = _command(own_target, some, mark), _limits(some, mark)
                return sandbox.run(command, limits=limits, loopback=loopback).stdout.decode()

        successes = _made(run, names)
        return successes | ({TREE_CHANGED} if _state(place) != before else set())


def judge(tier: Tier, names: Mapping[str, Sequence[str]], counting: Collection[str]) -> list[AttackResult]:
    """Run the attacks in a tier and return a result for each."""
    successes = confined(tier, [name for some in names.values() for name in some])
    verdicts = [
        AttackResult(group, name, name in successes, name in counting) for group, some in names.items() for name in some
    ]
    return [*verdicts, AttackResult("files", TREE_CHANGED, TREE_CHANGED in successes, True)]


def _made(run: Callable[[str, str], str], names: Sequence[str]) -> set[str]:
    """Run attacks, some of them one by one, all others in one process; return those that succeeded."""
    leaving = {attack.__name__ for attack in inside.ALONE["left behind"]}
    alone = [attack.__name__ for some in inside.ALONE.values() for attack in some if attack.__name__ in names]
    successes = _marked_words(run(" ".join(name for name in names if name not in alone), ""), inside.FINISHED)
    for name in alone:
        mark = f"mark-{uuid.uuid4().hex}"
        output = _marked_words(run(name, mark), inside.STARTED)
        if _left(mark) if name in leaving else name in output:
            successes.add(name)
    return successes & set(names)


def _marked_words(text: str, word: str) -> set[str]:
    """Return the words of the output; raises SandboxError if `word` is missing, since then no attack was run."""
    words = set(text.split())
    if word not in words:
        raise SandboxError(
            f"the probe did not report {word.strip('-')!r}; its only output was"
            f" {text!r}: the state of the sandbox is unknown"
        )
    return words


def _left(mark: str) -> bool:
    """Return whether a process with this mark still runs, and kill it; check repeatedly, since it may fork."""
    left = False
    for _ in range(LOOKS):
        for process in _marked(mark):
            left = True
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
    return left


def _marked(mark: str) -> Iterator[int]:
    for place in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if place.name.isdecimal() and mark.encode() in (place / "cmdline").read_bytes():
                yield int(place.name)


def _limits(names: str, mark: str) -> SandboxLimits:
    """Return the limits of a run: ample time, except for attacks that never end."""
    if names == NEVER_ENDS:
        return LIMITS
    return LIMITS._replace(wall_seconds=SECONDS, cpu_seconds=LIMITS.cpu_seconds if mark else SECONDS)


def _plainly(target: Target, names: str, mark: str) -> str:
    """Run attacks without a sandbox."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            _command(target, names, mark),
            stdout=output,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", SECRET_NAME: target.secret},
            cwd=target.tree,
            close_fds=False,
        )
        process.wait(SECONDS)
        output.seek(0)
        return output.read()


def _command(target: Target, names: str, mark: str) -> list[str]:
    code = f"{target.tree}/{CODE}"
    argument = json.dumps(target._asdict())
    return [os.path.realpath(sys.executable), "-I", "-S", "-B", "-c", BOOT, code, argument, names, mark]


def _starter(target: Target, without: Collection[str], rights: int | None) -> Starter:
    variables = {SECRET_NAME: target.secret} if ENVIRONMENT in without else {}
    return Starter(without=without, rights=rights, environ=variables)


@contextlib.contextmanager
def _targets() -> Iterator[tuple[Target, Path]]:
    """Yield target files, a target process and target servers that may be damaged."""
    with contextlib.ExitStack() as stack:
        place = Path(os.path.realpath(tempfile.mkdtemp()))
        stack.callback(scratch.remove, str(place))
        secret = uuid.uuid4().hex
        _write_files(place, secret)
        descriptor = os.open(place / "outside/secret", os.O_RDONLY)
        stack.callback(os.close, descriptor)
        os.set_inheritable(descriptor, True)
        process = stack.enter_context(_process(place / "outside", secret, descriptor))
        tcp, udp = _server(stack, socket.AF_INET, socket.SOCK_STREAM), _server(stack, socket.AF_INET, socket.SOCK_DGRAM)
        stream, datagrams, abstract = str(place / "stream"), str(place / "datagrams"), f"jarvis-{secret}"
        _server(stack, socket.AF_UNIX, socket.SOCK_STREAM, stream)
        _server(stack, socket.AF_UNIX, socket.SOCK_DGRAM, datagrams)
        _server(stack, socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)
        yield (
            Target(
                str(place / "outside"),
                str(place / "tree"),
                "",
                secret,
                process,
                0,
                descriptor,
                tcp,
                udp,
                stream,
                datagrams,
                abstract,
            ),
            place,
        )


def _write_files(place: Path, secret: str) -> None:
    for name in ("outside", "outside/empty", "tree", "tree/.git", "tree/.git/hooks"):
        (place / name).mkdir()
    for name in inside.ATTACKS:
        for side in ("outside", "tree"):
            (place / side / name).write_text(NOT_CHANGED)
    for name in ("outside/.bashrc", "tree/.git/config", "tree/with_attribute", "outside/with_attribute"):
        (place / name).write_text(NOT_CHANGED)
        with contextlib.suppress(OSError):
            os.setxattr(place / name, "user.kept", secret.encode())
            os.setxattr(place / name, "user.listed", b"1")
    (place / "outside/secret").write_text(secret)
    (place / "outside/program").write_text("#!/bin/sh\nexit 0\n")
    (place / "outside/program").chmod(0o755)
    (place / "tree/link_to_secret").symlink_to(place / "outside/secret")
    _copy_code(place / "tree" / CODE)


def _copy_code(code: Path) -> None:
    shutil.copytree(PACKAGES / ATTACKS, code / ATTACKS, ignore=shutil.ignore_patterns("__pycache__"))
    for name in OF_SANDBOX:
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGES / name, code / name)


@contextlib.contextmanager
def _process(directory: Path, secret: str, descriptor: int) -> Iterator[int]:
    command = [os.path.realpath(sys.executable), "-I", "-S", "-c", WAIT, secret + SECRET_ARGUMENT]
    with subprocess.Popen(command, env={SECRET_NAME: secret}, cwd=directory, pass_fds=(descriptor,)) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def _server(stack: contextlib.ExitStack, family: int, kind: int, address: str | None = None) -> int:
    server = stack.enter_context(socket.socket(family, kind))
    server.bind(address or (LOCAL, 0))
    if kind == socket.SOCK_STREAM:
        server.listen()
    return 0 if address else int(server.getsockname()[1])


def _state(place: Path) -> str:
    """Return a description of the targets that changes with any modification."""
    lines = []
    for path in sorted(place.rglob("*")):
        status = path.lstat()
        text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        lines.append(
            f"{path} {status.st_mode} {status.st_nlink} {status.st_mtime_ns} {hashlib.sha256(text).hexdigest()}"
        )
    return "\n".join(lines)
