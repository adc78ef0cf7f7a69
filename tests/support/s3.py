"""A server with the protocol of S3, and one in front of it with the faults of object stores."""

import http.client
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
BUCKET, REGION = "sources", "us-east-1"
HANG = 0


class S3:
    """A running server; `environ` are the variables that its clients need."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.url = f"s3://{BUCKET}/jarvis"

    @property
    def environ(self) -> dict[str, str]:
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self) -> Any:
        import boto3

        return boto3.client(
            "s3", endpoint_url=self.endpoint, aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name=REGION
        )

    def objects(self) -> dict[str, bytes]:
        """The content of all objects of the bucket, by key."""
        client = self.client()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        keys = [one["Key"] for page in pages for one in page.get("Contents", [])]
        return {key: client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


@contextmanager
def s3_server() -> Iterator[S3]:
    """Run a server with an empty bucket during the block; only one at a time in a process."""
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        running = S3(f"http://{host}:{port}")
        # All servers of a process share their buckets: what earlier tests left is deleted.
        urllib.request.urlopen(f"{running.endpoint}/moto-api/reset", data=b"").close()
        running.client().create_bucket(Bucket=BUCKET)
        yield running
    finally:
        server.stop()


class FaultyS3(S3):
    """Answers the next requests with the `faults`, HTTP codes or HANG, the others as the server behind it does."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(endpoint)
        self.faults: list[int] = []
        self.always: int | None = None
        self.requests: list[tuple[str, str, Mapping[str, str]]] = []
        self.ended = threading.Event()

    def next_fault(self) -> int | None:
        return self.faults.pop(0) if self.faults else self.always


@contextmanager
def faulty_s3(behind: S3 | None = None) -> Iterator[FaultyS3]:
    """Run a server with faults during the block, in front of another one."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            faulty.requests.append((self.command, self.path, dict(self.headers)))
            fault = faulty.next_fault()
            if fault == HANG:
                faulty.ended.wait()
                self.close_connection = True
            elif fault is not None or behind is None:
                self.respond(fault or 404, {}, b"" if fault else b"<html>not S3</html>")
            else:
                self.forward(behind, content)

        def forward(self, behind: S3, content: bytes) -> None:
            upstream = http.client.HTTPConnection(behind.endpoint.removeprefix("http://"))
            upstream.request(self.command, self.path, content, dict(self.headers))
            response = upstream.getresponse()
            self.respond(response.status, dict(response.getheaders()), response.read())
            upstream.close()

        def respond(self, code: int, headers: Mapping[str, str], content: bytes) -> None:
            self.send_response_only(code)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            length = headers.get("Content-Length") if self.command == "HEAD" else None
            self.send_header("Content-Length", length or str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = answer  # noqa: N815  (the names of http.server)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

    server = Server(("127.0.0.1", 0), Handler)
    faulty = FaultyS3(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield faulty
    finally:
        faulty.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
