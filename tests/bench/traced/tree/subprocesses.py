"""A test with a child process, a thread and a database."""

import sqlite3
import subprocess
import threading
from pathlib import Path


def test_it(tmp_path: Path) -> None:
    subprocess.run(["true"], check=True)
    threading.Thread(target=print).start()
    sqlite3.connect(tmp_path / "a").execute("create table a(b)")
