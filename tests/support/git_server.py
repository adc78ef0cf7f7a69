"""A git server over https behind basic authentication: `git http-backend` as a CGI program."""

import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.certificates import HOST, Authority

PLAIN = ("PATH", "HOME")


class GitServer:
    """Serves the repositories below a directory to clients with the password of `user`."""

    def __init__(self, root: Path, authority: Path, user: str, password: str) -> None:
        self.root, self.authority, self.user, self.password = root, authority, user, password
        self.port = 0
        self.redirect: str | None = None
        self.authorizations: list[str | None] = []

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def expected(self) -> str:
        return f"Basic {base64.b64encode(f'{self.user}:{self.password}'.encode()).decode()}"


@contextmanager
def git_server(root: Path, home: Path, *, user: str, password: str) -> Iterator[GitServer]:
    """Run a server during the block; its certificate is signed by a separate authority."""
    home.mkdir(exist_ok=True)
    authority = Authority(home, "git")
    server = GitServer(root, authority.certificate, user, password)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            given = self.headers.get("Authorization")
            server.authorizations.append(given)
            if server.redirect:
                self.respond(302, [("Location", server.redirect + self.path)])
            elif given != server.expected:
                self.respond(401, [("WWW-Authenticate", 'Basic realm="git"')])
            else:
                self.run_backend(content)

        def respond(self, code: int, fields: Iterable[tuple[str, str]], body: bytes = b"") -> None:
            self.send_response(code)
            for name, value in [*fields, ("Content-Length", str(len(body)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def run_backend(self, content: bytes) -> None:
            parts = urlsplit(self.path)
            environ = {name: os.environ[name] for name in PLAIN if name in os.environ} | {
                "GIT_PROJECT_ROOT": str(server.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(content)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "REMOTE_USER": server.user,
            }
            done = subprocess.run(["git", "http-backend"], input=content, env=environ, capture_output=True, check=True)
            head, _, body = done.stdout.partition(b"\r\n\r\n")
            fields = [
                (name, value) for name, _, value in (line.partition(": ") for line in head.decode().split("\r\n"))
            ]
            status = next((value for name, value in fields if name == "Status"), "200 OK")
            self.respond(int(status.split()[0]), fields, body)

        do_GET = do_POST = answer  # noqa: N815  (the names of http.server)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

    running = Server((HOST, 0), Handler)
    files = authority.issue(HOST)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    running.socket = context.wrap_socket(running.socket, server_side=True)
    server.port = running.server_port
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        running.shutdown()
        running.server_close()
        thread.join()
