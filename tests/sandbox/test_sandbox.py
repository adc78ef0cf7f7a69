"""Commands do their work in the sandbox, end at their limits, and leave nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from jarvis_workers.errors import SandboxError, UsageError
from jarvis_workers.sandbox.launcher import PACKAGES, Starter
from jarvis_workers.sandbox.limits import MEGABYTE, CommandOutcome, SandboxLimits, Tier
from jarvis_workers.sandbox.sandbox import PREFIX, Sandbox, best_tier, open_sandbox, refusal
from tests.chaos.commands import until

pytestmark = pytest.mark.timing

PYTHON = os.path.realpath(sys.executable)
MANY_TAKE_MEMORY = 'import os, time; [os.fork() for _ in range(3)]; held = b"x" * 20_000_000; time.sleep(60)'
SHARE_MEMORY = """
import mmap, os, time
for _ in range(4):
    if not os.fork():
        held = mmap.mmap(-1, 30_000_000)
        held.write(b"x" * 30_000_000)
        time.sleep(60)
time.sleep(60)
"""
# Of memory that is unmapped but for a page, and of a file that nobody can see, nothing is resident or open.
UNMAP_MEMORY = """
import ctypes, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for _ in range(4):
    place = libc.mmap(None, ctypes.c_size_t(30 << 20), 3, 0x21, -1, ctypes.c_size_t(0))
    ctypes.memset(place, 1, 30 << 20)
    libc.munmap(ctypes.c_void_p(place + 4096), ctypes.c_size_t((30 << 20) - 4096))
time.sleep(60)
"""
FILL_SOCKETS = """
import os, socket, time
for _ in range(6):
    if not os.fork():
        held = [socket.socketpair() for _ in range(30)]
        for pair in held:
            for end in pair:
                end.setblocking(False)
                end.send(b"x" * 200_000)
        time.sleep(60)
time.sleep(60)
"""
HIDE_FILES = """
import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0)
held = os.open(os.environ["HOME"] + "/x", os.O_WRONLY | os.O_CREAT)
os.unlink(os.environ["HOME"] + "/x")
os.write(held, b"x" * 3_000_000)
time.sleep(60)
"""
RESERVE_SPACE = """
import os
for number in range(400):
    held = os.open(os.environ["HOME"] + f"/{number}", os.O_WRONLY | os.O_CREAT)
    os.posix_fallocate(held, 0, 10_000_000)
    os.close(held)
"""
MAP_FILES = """
import ctypes, mmap, os, sys, time
library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
size = int(sys.argv[1])
for number in range(14):
    path = os.environ["HOME"] + "/" + str(number)
    held = os.open(path, os.O_RDWR | os.O_CREAT)
    os.ftruncate(held, size)
    place = library.mmap(None, ctypes.c_size_t(size), 3, mmap.MAP_SHARED, held, ctypes.c_long(0))
    os.unlink(path)
    os.close(held)
    ctypes.memset(place, 1, size)
time.sleep(60)
"""
MAP_MORE_THAN_THERE_IS = """
import mmap
for size in (1 << 60, 1 << 46, 1 << 33, 40 << 20):
    try:
        held = mmap.mmap(-1, size)
        print("mapped", size >> 20)
    except (OSError, OverflowError):
        print("refused")
"""
LOCK = """
import fcntl, os, sys
for path in sys.argv[1:]:
    held = os.open(path, os.O_RDONLY | (os.O_CREAT if path.startswith(os.environ["HOME"]) else 0))
    for take in (fcntl.flock, fcntl.lockf):
        try:
            take(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
            print("locked")
        except PermissionError:
            print("refused")
"""
PROGRAM = '#include <stdio.h>\nint main(void) { puts("built"); return 3; }\n'
# The interpreter of the tests may be in a directory of root's, which every command may read.
SYSTEM_PYTHON = "/usr/bin/python3"
AS_ROOT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sandbox.sandbox import open_sandbox
with open_sandbox(Path(sys.argv[2]), tier=Tier.B) as box:
    print(box.run(["sh", "-c", "id -u; stat -c seen " + sys.argv[3] + "/secret"]).stdout.decode())
"""
USE_LOOPBACK = """
import os, socket, subprocess, sys
server = socket.create_server(("127.0.0.1", 0))
if not os.fork():
    with socket.create_connection(server.getsockname()) as client:
        client.sendmsg([b"hello"])
    os._exit(77)
print(server.accept()[0].recv(9), flush=True)
for host in sys.argv[1:]:
    try:
        socket.create_connection((host, 80), 5)
    except OSError as error:
        print(error.strerror, flush=True)
os.wait()
"""
FILL_QUEUES = """
import socket, time
server = socket.create_server(("127.0.0.1", 0), backlog=200)
for _ in range(200):
    with socket.create_connection(server.getsockname()) as client:
        client.setblocking(False)
        client.send(b"x" * 400_000)
time.sleep(60)
"""
# A worker in whose sandbox a command runs, with a daemon of its own.
WORKER = """
import sys
from pathlib import Path
from jarvis_workers.sandbox.sandbox import open_sandbox
from jarvis_workers.sandbox.limits import Tier

with open_sandbox(Path(sys.argv[1]), tier=Tier(sys.argv[2])) as box:
    print(box.scratch, flush=True)
    box.run(["sh", "-c", "setsid sleep 98765 & exec sleep 98765"])
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A git repository with a C file."""
    (tmp_path / "main.c").write_text(PROGRAM)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Say it is built"]):
        subprocess.run([*git, *command], check=True)
    return tmp_path


@pytest.fixture(params=[Tier.A, Tier.B])
def box(request: pytest.FixtureRequest, tree: Path, starter: Starter) -> Sandbox:
    """A sandbox over the tree, once in each tier."""
    if why := refusal(request.param):
        assert request.param == Tier.A, why
        pytest.skip(why)
    sandbox = open_sandbox(tree, tier=request.param, starter=starter)
    request.addfinalizer(sandbox.close)
    return sandbox


@pytest.fixture
def simple(tmp_path: Path, starter: Starter) -> Sandbox:
    return open_sandbox(tmp_path, tier=Tier.B, starter=starter)


def shell(box: Sandbox, script: str, **limits: float) -> CommandOutcome:
    return box.run(["sh", "-c", script], limits=SandboxLimits()._replace(**limits))  # type: ignore[arg-type]


def test_files_are_searched(box: Sandbox) -> None:
    assert box.run(["grep", "-rn", "puts", "--include=*.c", "."]).stdout.startswith(b"./main.c:2:")


def test_the_history_is_read(box: Sandbox) -> None:
    assert b"Say it is built" in box.run(["git", "log", "--oneline"]).stdout


def test_a_file_outside_of_the_tree_cannot_be_read_although_everybody_may(box: Sandbox) -> None:
    with tempfile.NamedTemporaryFile(dir="/tmp") as outside:
        outside.write(b"a secret")
        outside.flush()
        Path(outside.name).chmod(0o644)

        assert box.run(["cat", outside.name]).stdout == b""


def test_pipes_join_commands(box: Sandbox) -> None:
    assert shell(box, "cat main.c | tr a-z A-Z | grep -c PUTS").stdout == b"1\n"


def test_a_file_of_the_tree_is_compiled_and_run(box: Sandbox) -> None:
    outcome = shell(box, 'gcc main.c -o "$HOME/main" && "$HOME/main"')

    assert (outcome.code, outcome.stdout, outcome.stderr) == (3, b"built\n", b"")


def test_the_command_s_own_files_have_modes_and_times(box: Sandbox) -> None:
    outcome = shell(box, 'cd "$HOME"; touch a; chmod 640 a; touch -d @1000 a; chmod 4755 a 2>&1; stat -c "%a %Y" a')

    assert outcome.stdout == b"755 1000\n"


def test_an_archive_is_unpacked(box: Sandbox) -> None:
    outcome = shell(box, 'tar -cf "$HOME/t.tar" main.c && cd "$HOME" && tar -xf t.tar && cat main.c')

    assert outcome.stdout.decode() == PROGRAM


def test_a_child_can_be_signalled(box: Sandbox) -> None:
    assert shell(box, "sleep 50 & kill $!; wait $!; echo $?").stdout == b"143\n"


def test_a_child_can_be_signalled_under_an_older_landlock(tree: Path) -> None:
    with Starter(rights=5) as older, open_sandbox(tree, tier=Tier.B, starter=older) as box:
        outcome = shell(box, "sleep 50 & kill $!; wait $!; echo $?; kill -0 1 || kill -0 -1 || echo refused")

    assert outcome.stdout == b"143\nrefused\n"


def test_there_is_nothing_in_the_environment_but_what_is_needed(box: Sandbox) -> None:
    names = {line.partition("=")[0] for line in box.run(["env"]).stdout.decode().splitlines()}

    assert names == {"PATH", "HOME", "TMPDIR", "LANG", "GIT_CONFIG_NOSYSTEM"}


def test_what_is_written_to_home_can_be_read_by_the_next_command(box: Sandbox) -> None:
    shell(box, 'echo from inside > "$HOME/said"; echo too > /tmp/said')

    assert shell(box, 'cat "$HOME/said"').stdout == b"from inside\n"
    assert shell(box, "cat /tmp/said").stdout == (b"too\n" if box.tier == Tier.A else b"")


@pytest.mark.parametrize("tier", [Tier.A, Tier.B])
def test_files_are_exchanged_through_a_home_on_disk(tier: Tier, tree: Path, starter: Starter) -> None:
    if why := refusal(tier):
        pytest.skip(why)
    with open_sandbox(tree, tier=tier, starter=starter, scratch_bytes=None) as box:
        (box.home / "told").write_text("from outside\n")
        first = shell(box, 'cat "$HOME/told"; echo from inside > "$HOME/said"')

        assert first.stdout == b"from outside\n"
        assert (box.home / "said").read_text() == "from inside\n"


def test_input_is_handed_on(box: Sandbox) -> None:
    said = b"line\n" * 100_000

    assert box.run(["wc", "-c"], stdin=said).stdout == b"500000\n"
    assert box.run(["true"], stdin=said).code == 0
    assert box.run(["cat"]).stdout == b""


@pytest.fixture
def namespaced(tmp_path: Path, starter: Starter) -> Iterator[Sandbox]:
    if why := refusal(Tier.A):
        pytest.skip(why)
    with open_sandbox(tmp_path, tier=Tier.A, starter=starter) as sandbox:
        yield sandbox


def test_loopback_reaches_the_command_itself_and_nothing_outside(namespaced: Sandbox) -> None:
    outcome = namespaced.run([PYTHON, "-I", "-S", "-c", USE_LOOPBACK, "192.0.2.1", "10.0.0.1"], loopback=True)

    assert outcome.stdout == b"b'hello'\n" + b"Network is unreachable\n" * 2, outcome.stderr
    assert outcome.exits == (0, 77)


def test_data_in_sockets_that_no_process_holds_counts_as_memory(namespaced: Sandbox) -> None:
    limits = SandboxLimits(memory_bytes=48 * MEGABYTE, address_bytes=1 << 40)
    outcome = namespaced.run([PYTHON, "-I", "-S", "-c", FILL_QUEUES], limits=limits, loopback=True)

    assert outcome.reason == "memory"


def test_sockets_are_refused_without_a_network_namespace(simple: Sandbox) -> None:
    with simple, pytest.raises(SandboxError, match="sockets need sandbox tier A: this is tier B"):
        simple.run(["true"], loopback=True)


def test_long_output_loses_its_middle(box: Sandbox) -> None:
    outcome = shell(box, "seq 1 200000")

    assert outcome.stdout.startswith(b"1\n2\n")
    assert outcome.stdout.endswith(b"\n199999\n200000\n")
    assert f"[... {outcome.cut} bytes cut ...]".encode() in outcome.stdout
    assert len(outcome.stdout) < SandboxLimits().output_bytes + 100


@pytest.mark.parametrize(
    ("script", "code", "number"), [("exit 7", 7, None), ("kill -9 $$", None, signal.SIGKILL), ("true", 0, None)]
)
def test_it_is_told_how_a_command_ended(script: str, code: int | None, number: int | None, box: Sandbox) -> None:
    outcome = shell(box, script)

    assert (outcome.code, outcome.signal, outcome.reason) == (code, number, None)


@pytest.mark.parametrize(("program", "code"), [("no-such-program", 127), ("./main.c", 126), ("/etc/hostname", 126)])
def test_it_is_told_why_a_command_was_not_started(program: str, code: int, simple: Sandbox) -> None:
    Path(simple.root, "main.c").write_text("no program")
    with simple:
        outcome = simple.run([program])

    assert outcome.code == code
    assert outcome.stderr.startswith(program.encode() + b": ")


@pytest.mark.parametrize(
    ("script", "limits", "reason"),
    [
        ("sleep 60", {"wall_seconds": 0.3}, "wall time"),
        ("while :; do :; done", {"cpu_seconds": 1}, "CPU time"),
        ('head -c 3000000 /dev/zero > "$HOME/x"', {"file_bytes": MEGABYTE}, "file size"),
        ('yes > "$HOME/x" & sleep 60', {"scratch_bytes": MEGABYTE}, "disk"),
        (f"{PYTHON} -I -S -c '{MANY_TAKE_MEMORY}'", {"memory_bytes": 64 * MEGABYTE}, "memory"),
        (f"exec {PYTHON} -I -S -c '{SHARE_MEMORY}'", {"memory_bytes": 100 * MEGABYTE}, "memory"),
        (f"exec {PYTHON} -I -S -c '{UNMAP_MEMORY}'", {"memory_bytes": 100 * MEGABYTE}, "memory"),
        (f"exec {PYTHON} -I -S -c '{FILL_SOCKETS}'", {"memory_bytes": 80 * MEGABYTE}, "memory"),
        (f"exec {PYTHON} -I -S -c '{HIDE_FILES}'", {"scratch_bytes": MEGABYTE}, "disk"),
        (f"exec {PYTHON} -I -S -c '{MAP_FILES}' {MEGABYTE}", {"scratch_bytes": 4 * MEGABYTE}, "disk"),
    ],
)
def test_a_limit_ends_a_command_and_is_named(
    script: str, limits: dict[str, float], reason: str, simple: Sandbox
) -> None:
    with simple:
        outcome = shell(simple, "exec 2>/dev/null; " + script if reason != "file size" else "exec " + script, **limits)

    assert outcome.reason == reason
    assert outcome.signal


@pytest.mark.slow
def test_mapped_files_without_a_name_end_a_command_at_its_limit(box: Sandbox) -> None:
    free = shutil.disk_usage(box.scratch).free
    outcome = shell(box, f"exec {PYTHON} -I -S -c '{MAP_FILES}' {200 * MEGABYTE}", address_bytes=8 << 30)

    assert outcome.reason == "disk"
    assert free - shutil.disk_usage(box.scratch).free < 2800 * MEGABYTE


def test_shared_memory_that_is_not_mapped_does_not_count(simple: Sandbox) -> None:
    with simple:
        outcome = shell(simple, f"exec {PYTHON} -I -S -c '{MAP_MORE_THAN_THERE_IS}'", memory_bytes=300 * MEGABYTE)

    assert outcome.stdout.split() == [b"refused"] * 3 + [b"mapped", b"40"]
    assert (outcome.code, outcome.reason) == (0, None)


@pytest.mark.skipif(os.getuid() != 0, reason="only root changes the user of a command")
def test_a_command_of_root_has_a_user_of_its_own_and_no_capability_that_its_tree_does_not_need() -> None:
    with tempfile.TemporaryDirectory() as public, tempfile.TemporaryDirectory() as private:
        Path(private, "secret").touch()
        Path(public).chmod(0o755)
        command = [SYSTEM_PYTHON, "-I", "-c", AS_ROOT, str(PACKAGES)]
        said = subprocess.run([*command, public, private], capture_output=True, check=True).stdout
        needed = subprocess.run([*command, private, private], capture_output=True, check=True).stdout

    assert said.split() == [b"65530"]
    assert needed.split() == [b"65530", b"seen"]


@pytest.mark.parametrize(
    "program", ["cp -a main.c", "cp --preserve=all main.c", "install -m 644 main.c", "ls -l main.c >"]
)
def test_programs_that_look_for_attributes_say_nothing_about_them(program: str, box: Sandbox) -> None:
    outcome = shell(box, f'{program} "$HOME/copy"')

    assert (outcome.code, outcome.stderr) == (0, b"")


def test_space_that_is_reserved_is_seen_before_much_of_it_is_taken(simple: Sandbox) -> None:
    limit = 100 * MEGABYTE
    with simple:
        outcome = shell(simple, f"exec {PYTHON} -I -S -c '{RESERVE_SPACE}'", scratch_bytes=limit)
        taken = tree_size(simple.scratch)

    assert outcome.reason == "disk"
    assert taken < 3 * limit


def tree_size(directory: str) -> int:
    return sum(path.stat().st_blocks * 512 for path in Path(directory).rglob("*"))


def test_only_the_command_s_own_files_can_be_locked(box: Sandbox) -> None:
    script = f"exec {PYTHON} -I -S -c '{LOCK}' {box.root}/main.c /usr/bin/env $HOME/own"

    assert shell(box, script).stdout.split() == [b"refused"] * 4 + [b"locked"] * 2


def test_processes_that_the_kernel_does_not_count_are_counted(tmp_path: Path) -> None:
    with Starter(without=["processes"]) as lax, open_sandbox(tmp_path, tier=Tier.B, starter=lax) as box:
        outcome = shell(box, "for i in 1 2 3 4 5 6; do setsid sleep 60 & done; sleep 60", processes=2)

    assert outcome.reason == "processes"


def test_many_run_at_once_and_closing_ends_those_that_still_run(simple: Sandbox) -> None:
    with ThreadPoolExecutor(9) as pool:
        with simple:
            endless = pool.submit(simple.run, ["sleep", "98764"])
            done = list(pool.map(lambda number: simple.run(["echo", str(number)]).stdout, range(8)))
        assert endless.exception() is not None

    assert done == [f"{number}\n".encode() for number in range(8)]
    until(lambda: not running("98764"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("tier", [Tier.A, Tier.B])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_worker_is_killed(number: signal.Signals, tier: Tier, tmp_path: Path) -> None:
    if why := refusal(tier):
        pytest.skip(why)
    command = [sys.executable, "-c", WORKER, str(tmp_path), tier]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout
        scratch = Path(worker.stdout.readline().strip())
        until(lambda: len(running("98765")) >= 2)
        assert scratch.is_dir() == (tier == Tier.B)  # that of tier A is in memory
        worker.send_signal(number)

    until(lambda: not running("98765"))
    until(lambda: not scratch.exists())
    until(lambda: not running(scratch.name))


def test_what_runs_in_another_thread_ends_with_the_sandbox(box: Sandbox) -> None:
    seconds = f"87654.{os.getpid()}"  # the other tier is tested at the same time
    with ThreadPoolExecutor(1) as other:
        outcome = other.submit(box.run, ["sh", "-c", f"setsid sleep {seconds} & exec sleep {seconds}"])
        until(lambda: len(running(seconds)) == 2)
        box.close()
        with pytest.raises(SandboxError):
            outcome.result(20)

    until(lambda: not running(seconds))


def test_the_scratch_directory_goes_with_the_sandbox(box: Sandbox) -> None:
    shell(box, 'cd "$HOME"; mkdir -p a/b; chmod 0 a; for i in 1 2 3 4 5 6 7 8 9; do mkdir d; cd d; done')
    box.close()

    until(lambda: not Path(box.scratch).exists())


def test_a_sandbox_is_over_a_directory_that_is_not_everything(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a directory"):
        open_sandbox(tmp_path / "none")
    with pytest.raises(UsageError, match="the whole file system"):
        open_sandbox(Path("/"))


@pytest.mark.parametrize("tier", [Tier.A, Tier.B])
def test_root_of_a_namespace_runs_commands_as_well(tier: Tier, tree: Path) -> None:
    inside = ["unshare", "--user", "--map-root-user"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode or refusal(tier):
        pytest.skip("no namespaces of users")
    program = (
        "import sys; from pathlib import Path; from jarvis_workers.sandbox.sandbox import Tier, open_sandbox\n"
        "with open_sandbox(Path(sys.argv[1]), tier=Tier(sys.argv[2])) as box:\n"
        "    print(box.run(['sh', '-c', 'cat main.c | wc -l; touch $HOME/a; unshare -m true || echo refused']))"
    )
    done = subprocess.run([*inside, sys.executable, "-c", program, tree, tier], capture_output=True, check=True)

    assert b"2\\nrefused" in done.stdout


def test_the_best_tier_is_taken(tree: Path) -> None:
    with open_sandbox(tree) as box:
        assert box.tier == best_tier()


def test_in_tier_c_no_command_is_run(tree: Path) -> None:
    with pytest.raises(SandboxError, match="no command is run in tier C"):
        open_sandbox(tree, tier=Tier.C)


def test_a_command_that_cannot_be_confined_is_not_run(tmp_path: Path) -> None:
    with Starter(rights=0) as without, Sandbox(str(tmp_path), Tier.B, without) as box:
        with pytest.raises(SandboxError, match="landlock: not supported"):
            box.run(["touch", str(tmp_path / "ran")])
        shutil.rmtree(tmp_path)
        with pytest.raises(SandboxError):
            box.run(["true"])


def test_a_starter_that_died_is_told_of(tree: Path) -> None:
    own = Starter()
    box = open_sandbox(tree, tier=Tier.B, starter=own)
    os.kill(own.pid, signal.SIGKILL)
    psutil.Process(own.pid).wait(10)

    with pytest.raises(SandboxError, match="has died"):
        box.run(["true"])
    box.close()
    assert not Path(box.scratch).exists()


def running(word: str) -> list[int]:
    """Return the processes with a word among their arguments."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(word in part for part in process.info["cmdline"] or ()) and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


def test_no_directory_is_left_in_the_end(tmp_path: Path) -> None:
    with open_sandbox(tmp_path, tier=Tier.B) as box:
        scratch = Path(box.scratch)
        assert scratch.name.startswith(PREFIX)

    assert not scratch.exists()
