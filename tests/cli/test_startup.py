"""Short commands start quickly: none of them imports what only long ones need."""

import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_cli.main import COMMANDS
from jarvis_workers.store.engine import open_store

ROOT = Path(__file__).parents[2]
HEAVY = {"alembic", "celery", "jinja2", "openai", "redis", "rich", "sqlalchemy", "sqlmodel", "tenacity"}
SHORT = [
    *(["config", "show"], ["runs", "list"], ["doctor"], ["sec", "fast", "a.c"], ["--version"], ["sec", "fast", "-h"]),
    *(
        ["sec", "fast", "a.c", *options.split()]
        for options in ("--depth rules", "-j 0", "--rules unsafe_api --no-cache")
    ),
]
CONVERSATION = f"""
import jarvis_workers.assistant.commands.chat, jarvis_workers.assistant.commands.chat_terminal, sys
print(sorted({HEAVY - {"tenacity"}} & set(sys.modules)))
"""
PROGRAM = f"""
import sys
from jarvis_cli.main import COMMANDS, load, run
for name in COMMANDS:
    load(name)
codes = [run(args) for args in {SHORT}]
print(codes, sorted({HEAVY} & set(sys.modules)), file=sys.stderr)
"""


def test_short_commands_import_no_database_model_or_broker_library(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'data' / 'jarvis.db'}").close()
    (tmp_path / "a.c").write_text("void f(char *a, char *b) { strcpy(a, b); }\n")
    environ = {"JARVIS_DATA_DIR": str(tmp_path / "data"), "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )

    assert done.stderr.splitlines()[-1] == f"{[0] * len(SHORT)} []", done.stderr
    assert "a.c:1:28: " in done.stdout and set(COMMANDS) >= {"sec", "runs", "agent"}


def test_health_checks_import_no_settings(tmp_path: Path) -> None:
    (tmp_path / "worker-a.alive").touch()
    program = """
import sys
from jarvis_cli.main import run
code = run(["worker", "healthcheck"])
print(code, sorted({"pydantic", "yaml", "platformdirs", "sqlalchemy", "celery", "redis"} & set(sys.modules)))
"""
    environ = {"JARVIS_DATA_DIR": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}

    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)

    assert done.stdout == "0 []\n"


def test_children_that_scan_and_the_start_of_a_scan_import_no_pydantic() -> None:
    modules = ("sec.stages.scan_batch", "sec.stages.summarize", "sec.stages.trace_flows", "api.scanning")
    names = [f"jarvis_workers.{name}" for name in (*modules, "sec.commands.main")]
    program = f"import sys, {', '.join(names)}; print(sorted({{'pydantic', 'yaml'}} & set(sys.modules)))"

    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert ended.stdout == "[]\n"


@pytest.mark.slow
def test_a_conversation_imports_no_database_or_model_library() -> None:
    ended = subprocess.run([sys.executable, "-c", CONVERSATION], cwd=ROOT, capture_output=True, text=True, check=True)

    assert ended.stdout == "[]\n"
