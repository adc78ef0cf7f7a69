"""Start a server under proof in this process, and speak to it from another one: the client of way `server`.

It is a program of its own, which runs in the sandbox without this package: `server_client.py VARIABLE PROGRAM [ARG…]`,
with the plan as JSON on its standard input.  The server keeps the first process, whose own mappings alone
AddressSanitizer may read.  The client is no child of the server, which would wait for it, and is in another session.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from base64 import b64decode
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TextIO

# The port of the client's first socket is fixed, since servers print it, and the output is shown to the model.
HOST, FIRST_PORT = "127.0.0.1", 50_001
STDIN, TRANSCRIPT = "stdin", "../client"
# Together less than the time limit of a run.
LISTEN_SECONDS, SESSION_SECONDS, STOP_SECONDS = 8.0, 20.0, 2.0
REPLY_SECONDS, CLOSE_SECONDS = 1.0, 1.5
# A server that still computes, and has since the last message for so long, may hang: it is left alone until its own
# clock ends it.
BUSY_SECONDS, COMPUTED_SECONDS, SAMPLE_SECONDS, BUSY_SHARE = 90.0, 0.1, 1.0, 0.02
# The ids of processes that it may have forked follow its own.
FORKED_MAX = 64
# How often the client tries to connect, and how long the server is silent at the end of a reply.
RETRY_SECONDS, QUIET_SECONDS = 0.02, 0.05
READ_BYTES, SHOWN_BYTES, ERROR_BYTES = 1 << 16, 300, 512
# From linux/in.h: errors of datagrams are reported on sockets that are not connected, too.
IP_RECVERR = 11

Address = tuple[str, int]


def main(arguments: list[str]) -> None:
    """Become the server; the client runs in another process."""
    plan, server = json.load(sys.stdin), _Server(os.getpid(), os.pidfd_open(os.getpid()))
    listener = None if plan["port"] else _listener(is_tcp=plan["protocol"] == "tcp")
    address = listener.getsockname() if listener else (HOST, plan["port"])
    if _is_client():
        with Path(TRANSCRIPT).open("w", encoding="ascii", buffering=1) as transcript:
            _Client(plan, address, transcript, server).run()
        return
    if listener:
        inherited = listener.accept()[0] if plan["protocol"] == "tcp" else listener
        os.dup2(inherited.fileno(), 0)
        os.dup2(inherited.fileno(), 1)
    else:
        os.dup2(os.open(STDIN if Path(STDIN).is_file() else os.devnull, os.O_RDONLY), 0)
    name, _, value = arguments[0].partition("=")
    os.execve(arguments[1], arguments[1:], os.environ | {name: value})


def _listener(*, is_tcp: bool) -> socket.socket:
    """Return the socket that inetd would listen on."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM if is_tcp else socket.SOCK_DGRAM)
    listener.bind((HOST, 0))
    if is_tcp:
        listener.listen()
    return listener


def _is_client() -> bool:
    """Fork twice; return True in the grandchild, whose parent is not the server."""
    if child := os.fork():
        os.waitpid(child, 0)
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    return True


class _Server(NamedTuple):
    """The process of the server: its id, and a descriptor that becomes readable when it ends."""

    pid: int
    descriptor: int


class _Client:
    """A connection to the server, and the transcript of what was sent and received."""

    def __init__(self, plan: dict[str, Any], address: Address, transcript: TextIO, server: _Server) -> None:
        self._messages, self._is_tcp = plan["messages"], plan["protocol"] == "tcp"
        self._address, self._transcript, self._server = address, transcript, server
        self._socket: socket.socket | None = None
        self._peer, self._sockets = address, 0
        self._end = time.monotonic() + LISTEN_SECONDS
        self._is_reached, self._computed = False, 0.0

    def run(self) -> None:
        for number, message in enumerate(self._messages, 1):
            for again in range(message["repeat"]):
                if message["reconnect"] or (number == 1 and not again):
                    self._connect()
                if message["wait"] and self._is_reached:
                    self._receive(REPLY_SECONDS)
                self._computed = self._cpu_seconds()
                self._send(number, b64decode(message["base64"]))
        if not self._messages:
            self._connect()
        self._receive(REPLY_SECONDS)
        if self._is_tcp and self._socket:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
            self._receive(CLOSE_SECONDS, to_the_end=True)
        self._stop()

    def _say(self, text: str) -> None:
        self._transcript.write(f"{text}\n")

    def _reached(self) -> None:
        """Note that the server listens, which begins the session."""
        if not self._is_reached:
            self._is_reached, self._end = True, time.monotonic() + SESSION_SECONDS
            self._say(f"reached the server on {'tcp' if self._is_tcp else 'udp'} port {self._address[1]}")

    def _connect(self) -> None:
        """Open a socket; over TCP, wait until the server listens."""
        if self._socket:
            self._socket.close()
        self._socket, self._peer = None, self._address
        source = HOST, FIRST_PORT + self._sockets
        self._sockets += 1
        if not self._is_tcp:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.bind(source)
            self._socket.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
            return
        while self._is_waiting():
            with suppress(OSError):
                self._socket = socket.create_connection(self._address, REPLY_SECONDS, source)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._reached()
                return
            if self._is_reached:
                self._say("the server does not accept another connection")
                return

    def _is_waiting(self) -> bool:
        """Return whether time is left, after a moment; the server's end ends this process, too."""
        return time.monotonic() < self._end and not select.select([self._server.descriptor], [], [], RETRY_SECONDS)[0]

    def _send(self, number: int, content: bytes) -> None:
        if self._socket is None or time.monotonic() >= self._end:
            if self._is_reached:
                why = "there is no connection" if self._socket is None else "the time is over"
                self._say(f"message {number} was not sent: {why}")
            return
        try:
            if self._is_tcp:
                self._socket.settimeout(max(RETRY_SECONDS, self._end - time.monotonic()))
                self._socket.sendall(content)
            elif not self._send_datagram(content):
                return
        except OSError as error:
            self._say(f"message {number} could not be sent: {error.strerror or error}")
            self._drop()
            return
        self._say(f"sent message {number}, {len(content)} bytes")

    def _send_datagram(self, content: bytes) -> bool:
        """Send a datagram; the first is sent until a socket takes it. Return whether one did."""
        assert self._socket
        self._socket.sendto(content, self._peer)
        while self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            if self._is_reached:
                raise OSError("no socket takes it any more")
            if not self._is_waiting():
                return False
            self._socket.sendto(content, self._peer)
        self._forget_errors()
        self._reached()
        return True

    def _forget_errors(self) -> None:
        """Read the queue of errors, since the socket is readable as long as it has one."""
        with suppress(BlockingIOError):
            while self._socket:
                self._socket.recvmsg(0, ERROR_BYTES, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)

    def _receive(self, seconds: float, *, to_the_end: bool = False) -> None:
        """Receive what the server sends: a reply up to a short silence, or everything up to the end."""
        end, count, shown, is_closed = min(time.monotonic() + seconds, self._end), 0, b"", False
        while self._socket and (left := end - time.monotonic()) > 0:
            left = min(left, QUIET_SECONDS) if count and not to_the_end else left
            if not select.select([self._socket], [], [], left)[0]:
                break
            try:
                data, peer = self._socket.recvfrom(READ_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                self._forget_errors()
                continue
            except OSError as error:
                self._say(f"the connection broke: {error.strerror or error}")
                self._drop()
                break
            if not data and self._is_tcp:
                is_closed = True
                break
            # A server may answer from another port, as TFTP does.
            self._peer = peer or self._peer
            count, shown = count + len(data), (shown + data)[:SHOWN_BYTES]
        if count:
            self._say(f"received {count} bytes: {ascii(shown)[1:]}")
        if is_closed:
            self._say("the server closed the connection")
            self._drop()

    def _drop(self) -> None:
        """Close a connection; datagrams need none."""
        if self._socket and self._is_tcp:
            self._socket.close()
            self._socket = None

    def _stop(self) -> None:
        """Stop the server, which ends this process, too; on a busy machine it may end by itself some time before."""
        end = time.monotonic() + BUSY_SECONDS
        if self._cpu_seconds() - self._computed >= COMPUTED_SECONDS:
            while time.monotonic() < end and self._is_busy():
                pass
        if select.select([self._server.descriptor], [], [], 0)[0]:
            return
        for number, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, STOP_SECONDS)):
            self._say(f"stopped the server with {number.name}")
            os.kill(self._server.pid, number)
            if select.select([self._server.descriptor], [], [], seconds)[0]:
                return

    def _is_busy(self) -> bool:
        """Return whether the processes of the server use a CPU for a moment."""
        before = self._cpu_seconds()
        ended = select.select([self._server.descriptor], [], [], SAMPLE_SECONDS)[0]
        return not ended and self._cpu_seconds() - before >= BUSY_SHARE * SAMPLE_SECONDS

    def _cpu_seconds(self) -> float:
        """Return the CPU time of the server and of the processes that it may have forked; there is no /proc."""
        seconds = 0.0
        for pid in range(self._server.pid, self._server.pid + FORKED_MAX):
            with suppress(OSError):
                # The clock of another process, as clock_getcpuclockid(3) makes it.
                seconds += 0.0 if pid == os.getpid() else time.clock_gettime(~pid << 3 | 2)
        return seconds


if __name__ == "__main__":
    main(sys.argv[1:])
