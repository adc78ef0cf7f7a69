"""Who may open Flower, and how much memory it takes."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.executors.dispatch.monitor import TASKS_MAX
from jarvis_workers.operate.flower_page import flower_tasks, flower_users, serve_flower
from jarvis_workers.settings import Settings
from tests.compose.compose_file import ROOT, services

# Flower's state with more tasks than it keeps, each of the largest label, saved as Flower does it.
FILL = """
import re, sys
from pathlib import Path
from flower.events import Events
from tornado.ioloop import IOLoop
from jarvis_workers.executors.dispatch.broker import make_app
from jarvis_workers.executors.dispatch.monitor import TASKS_MAX
app, loop = make_app("redis://127.0.0.1:1/0"), IOLoop()
events = Events(app, loop, db=sys.argv[1], persistent=True, enable_events=False, max_tasks_in_memory=TASKS_MAX)
shown = {"name": "sec.scan", "kwargs": repr({"run": "33887ca9", "label": "é" * 200}), "result": "None", "runtime": 1.2}
for number in range(TASKS_MAX + 1000):
    event = {"uuid": f"{number:036d}", "hostname": "scan@vm-8744-110f0237-scan", "utcoffset": 0, "pid": 12}
    event |= {"clock": number, "timestamp": 1.0 + number, "local_received": 1.0 + number}
    for kind in ("task-received", "task-started", "task-succeeded"):
        events.state.event({"type": kind, **event, **shown, "args": f"[{number}]"})
for _ in range(2):
    events.save_state()
# Not ru_maxrss, which begins with the size of the process that started this one.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(len(events.state.tasks), int(peak[1]) * 1024)
"""


def test_users_are_in_a_variable_or_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "users").write_text("ann:secret,bob:other\n")
    environ = {"FLOWER_BASIC_AUTH_FILE": str(tmp_path / "users")}

    assert flower_users(environ) == "ann:secret,bob:other"
    assert flower_users({**environ, "FLOWER_BASIC_AUTH": "eve:x"}) == "eve:x"
    assert flower_users({}) is None


@pytest.mark.parametrize("content", [None, b"", b"no colon", b"\xff:"])
def test_a_file_without_users_does_not_open_flower(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "users").write_bytes(content)

    with pytest.raises(SettingsError, match="FLOWER_BASIC_AUTH_FILE"):
        flower_users({"FLOWER_BASIC_AUTH_FILE": str(tmp_path / "users")})


def test_flower_is_not_open_to_everyone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, broker_url="redis://127.0.0.1:1/0")

    with pytest.raises(UsageError, match="open to everyone; set FLOWER_BASIC_AUTH=user:password"):
        serve_flower(settings, "0.0.0.0", 5555, {})


def test_the_number_of_tasks_is_a_number() -> None:
    assert (flower_tasks({}), flower_tasks({"FLOWER_MAX_TASKS": "500"})) == (TASKS_MAX, 500)
    for wrong in ("many", "0", "-1", "1.5"):
        with pytest.raises(SettingsError, match=f'FLOWER_MAX_TASKS: "{wrong}" is not a positive number'):
            flower_tasks({"FLOWER_MAX_TASKS": wrong})


def test_chart_and_compose_keep_as_many_tasks() -> None:
    values = yaml.safe_load((ROOT / "helm/jarvis/values.yaml").read_text())
    assert values["flower"]["maxTasks"] == TASKS_MAX
    assert services({})["flower"].facts["environment"]["FLOWER_MAX_TASKS"] == str(TASKS_MAX)


@pytest.mark.slow
def test_the_memory_of_flower_is_below_its_limits(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FILL, tmp_path / "flower"], capture_output=True, text=True, check=True)
    kept, peak = map(int, done.stdout.split())

    values = yaml.safe_load((ROOT / "helm/jarvis/values.yaml").read_text())
    limits = values["flower"]["resources"]["limits"]["memory"], services({})["flower"].facts["deploy"]
    assert limits == ("512Mi", {"resources": {"limits": {"cpus": "1", "memory": "512m", "pids": 64}}})
    assert kept == TASKS_MAX
    assert peak < 0.75 * (512 << 20)
