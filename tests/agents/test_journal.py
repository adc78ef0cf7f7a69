"""One file for many conversations: together on the disk, apart when they are taken up."""

import asyncio
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jarvis_workers.agent.drivers import World, drive_async
from jarvis_workers.agent.journal import Journal
from jarvis_workers.agent.transcript import Transcript
from jarvis_workers.errors import StoreFull, UsageError
from tests.agents.arrange import Scripted, agent_of, call, look, run, text

COUNT = 50


async def converse_all(journal: Journal, *, again: bool) -> list[str]:
    async def one(number: int) -> str:
        agent = agent_of(look([]))
        platform = Scripted() if again else Scripted(call("look"), text(f"end {number}"))
        world = World(platform, agent.tools, Transcript(journal.page(str(number)), {}))
        return (await drive_async(agent.run("Do it."), world)).text

    return await asyncio.gather(*map(one, range(COUNT)))


def test_many_conversations_share_a_file_and_are_taken_up_apart(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    first = asyncio.run(converse_all(journal, again=False))
    journal.close()
    taken_up = Journal(tmp_path / "journal")

    again = asyncio.run(converse_all(taken_up, again=True))
    taken_up.close()

    assert first == again == [f"end {number}" for number in range(COUNT)]


def test_threads_share_it_as_well(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")

    def one(number: int) -> str:
        return run(agent_of(look([])), Scripted(call("look"), text("done")), log=journal.page(str(number))).text

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(COUNT))) == ["done"] * COUNT
    journal.close()

    assert all(len(Journal(tmp_path / "journal").page(str(number)).lines()) == 4 for number in (0, COUNT - 1))


def test_what_was_synced_outlives_a_kill(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from jarvis_workers.agent.journal import Journal\n"
        "page = Journal(Path(sys.argv[1])).page('a'); page.append(b'one'); page.sync(); page.append(b'two')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "journal")])

    assert done.returncode == -signal.SIGKILL
    assert Journal(tmp_path / "journal").page("a").lines() == [b"one"]


def test_a_line_that_was_not_written_whole_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"a one\nb two\na thr")

    journal = Journal(tmp_path / "journal")

    assert (journal.page("a").lines(), journal.page("c").lines()) == ([b"one"], [])
    assert (tmp_path / "journal").read_bytes() == b"a one\nb two\n"


def test_a_file_that_is_damaged_cannot_be_written_or_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"a 000000000000 {}\n")
    with pytest.raises(UsageError, match="line 1 of a is not what was written"):
        Transcript(Journal(tmp_path / "journal").page("a"), {})
    with pytest.raises(UsageError, match="cannot be read"):
        Journal(tmp_path)
    with pytest.raises(StoreFull, match="cannot be written"):
        Journal(tmp_path / "no" / "journal")


def test_a_disk_that_is_full_is_told_to_all_who_wait(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, before[1]))
    try:
        page = journal.page("a")
        page.append(b"x" * 10_000)
        with pytest.raises(StoreFull, match="File too large"):
            page.sync()
        page.append(b"y" * 10_000)
        with pytest.raises(StoreFull, match="File too large"):
            asyncio.run(page.sync_async())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, former)

    assert (tmp_path / "journal").stat().st_size <= 4_096
