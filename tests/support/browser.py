"""Drive a real browser through its debugging pipe: open pages, evaluate scripts, press keys, and record requests."""

import base64
import json
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from tests.support.servers import missing

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --remote-debugging-pipe about:blank"
)
# Only what hangs takes so long, also on a busy machine.
SECONDS = 240.0


class Browser:
    """One page, and its events so far."""

    def __init__(self, to: BinaryIO, back: BinaryIO) -> None:
        self._to, self._back = to, back
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol and return its result."""
        self._number += 1
        said = {"id": self._number, "method": method, "params": params}
        if self._session:
            said["sessionId"] = self._session
        self._to.write(json.dumps(said).encode() + b"\0")
        self._to.flush()
        while (message := self._next()).get("id") != self._number:
            self.events.append(message)
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    def open(self, path: Path, fragment: str = "") -> float:
        """Load a page; return the seconds until it has been drawn."""
        self._load("about:blank")
        start = time.perf_counter()
        self._load(f"{path.resolve().as_uri()}{fragment}")
        self.ask("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        return time.perf_counter() - start

    def visit(self, address: str, headers: dict[str, str] | None = None) -> None:
        """Load the page at an address; the headers are sent with each of its requests."""
        self.call("Network.setExtraHTTPHeaders", headers=headers or {})
        self._load(address)

    def ask(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        late = time.monotonic() + SECONDS
        while not self.ask(f"new Promise(done => setTimeout(() => done(Boolean({expression})), 5))"):
            assert time.monotonic() < late, f"never came: {expression}"

    def press(self, key: str) -> None:
        """Press a key with its text, as a keyboard does."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Enter": 13, "Tab": 9, "Escape": 27}.get(key, ord(key[0]))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def picture(self) -> bytes:
        """Return a screenshot as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    @property
    def requests(self) -> list[str]:
        """The addresses that the page has requested since it was opened."""
        return [
            event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"
        ]

    @property
    def complaints(self) -> list[str]:
        """The errors and violations that the browser has reported since the page was opened."""
        failed = [event["params"] for event in self.events if event["method"] == "Runtime.exceptionThrown"]
        logged = [event["params"]["entry"] for event in self.events if event["method"] == "Log.entryAdded"]
        return [json.dumps(one) for one in [*failed, *logged]]

    def _load(self, address: str) -> None:
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._back], [], [], SECONDS)[0], "the browser does not answer"
            more = self._back.read(1 << 20)
            assert more, "the browser has gone"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        said: dict[str, Any] = json.loads(message)
        return said


@contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser during the block."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        missing("chromium")
    with tempfile.TemporaryDirectory(prefix="jarvis-browser-", ignore_cleanup_errors=True) as home:
        to, back = Path(home, "to"), Path(home, "back")
        subprocess.run(["mkfifo", to, back], check=True)
        command = f'exec "$0" {FLAGS} --user-data-dir="$1" 3<"$1/to" 4>"$1/back" 2>/dev/null >&2'
        running = subprocess.Popen(["sh", "-c", command, program, home])
        try:
            with to.open("wb") as writer, back.open("rb", buffering=0) as reader:
                page = Browser(writer, reader)
                page.attach()
                yield page
        finally:
            running.terminate()
            running.wait(SECONDS)
