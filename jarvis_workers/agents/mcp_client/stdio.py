"""The stdio transport: a server is a child process in a session of its own, and its messages are lines.

Unlike the SDK's transport, this one limits the length of a message before it is in memory.  The process group gets the
end of its input, then SIGTERM, then SIGKILL.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from jarvis_workers.settings.mcp_servers import McpServer
from jarvis_workers.toolchain.children import child_environment

MESSAGE_BYTES = 8_000_000
MESSAGES_MAX = 100_000
ERRORS_BYTES = 4_000
END_SECONDS, TERM_SECONDS, KILL_SECONDS = 1.0, 0.5, 1.0

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def stdio_streams(
    server: McpServer, note: Callable[[str], None], environ: Mapping[str, str] = os.environ
) -> AsyncIterator[Streams]:
    """Start the server and yield the streams of its messages; raises OSError if it cannot be started.

    `note` gets the reason why a connection ended, and the last line that the server wrote to standard error.
    """
    assert server.command is not None
    variables = child_environment(environ) | {name: one.get_secret_value() for name, one in server.env.items()}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(server.command, *server.args),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=variables,
        start_new_session=True,
        limit=MESSAGE_BYTES,
    )
    assert process.stdin and process.stdout and process.stderr
    to_session, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    errors = bytearray()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_receive, process.stdout, to_session, note)
            tasks.start_soon(_send, process.stdin, from_session)
            tasks.start_soon(_keep_last, process.stderr, errors)
            yield incoming, outgoing
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process, errors)
        for line in errors.decode("utf-8", "replace").splitlines()[-1:]:
            note(line.strip())


async def _receive(
    stdout: asyncio.StreamReader, to_session: MemoryObjectSendStream[Incoming], note: Callable[[str], None]
) -> None:
    """Pass messages on until the end of the output, or until a limit; other lines are ignored."""
    async with to_session:
        for _ in range(MESSAGES_MAX):
            try:
                line = await stdout.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                note("it has ended")
                return
            except asyncio.LimitOverrunError:
                note(f"it sent a message of more than {MESSAGE_BYTES // 1_000_000} MB")
                return
            with suppress(ValueError):
                message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
                with suppress(anyio.BrokenResourceError):
                    await to_session.send(message)
        note(f"it sent more than {MESSAGES_MAX} messages")


async def _send(stdin: asyncio.StreamWriter, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with from_session:
        async for message in from_session:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                stdin.write(text.encode() + b"\n")
                await stdin.drain()
            except ConnectionError:
                return


async def _keep_last(stream: asyncio.StreamReader, errors: bytearray) -> None:
    """Read a stream to its end, and keep the last ERRORS_BYTES of it."""
    while chunk := await stream.read(ERRORS_BYTES):
        errors += chunk
        del errors[:-ERRORS_BYTES]


async def _end(process: asyncio.subprocess.Process, errors: bytearray) -> None:
    """End the process and all others of its group; read what they still write, since they may wait for that."""
    assert process.stdin and process.stdout and process.stderr
    process.stdin.close()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_keep_last, process.stdout, bytearray())
        tasks.start_soon(_keep_last, process.stderr, errors)
        if not await _has_ended(process, END_SECONDS):
            _signal(process, signal.SIGTERM)
            await _has_ended(process, TERM_SECONDS)
        _signal(process, signal.SIGKILL)
        await _has_ended(process, KILL_SECONDS)
        tasks.cancel_scope.cancel()
    # A process that has left the group may hold the pipes open; nothing public closes them then.
    if transport := getattr(process, "_transport", None):
        transport.close()


async def _has_ended(process: asyncio.subprocess.Process, seconds: float) -> bool:
    # Before Python 3.11.3, the end of asyncio.timeout in a task that was cancelled is a cancellation.
    with anyio.move_on_after(seconds):
        await process.wait()
    return process.returncode is not None


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
