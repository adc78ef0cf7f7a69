"""The examples of docs/api.md: they run, and a strict type checker accepts them against the built package."""

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from jarvis_workers import api

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "api.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
COPY = "void f(char *a, char *b) {\n    strcpy(a, b);\n}\n"


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_of_the_api_guide_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "list.c").write_text(COPY)
    monkeypatch.chdir(tmp_path)

    exec(compile(EXAMPLES[number], f"docs/api.md, example {number + 1}", "exec"), {"__name__": "example"})  # noqa: S102

    assert sorted(path.name for path in (tmp_path / "src").iterdir()) == ["list.c"]


def test_every_public_name_is_in_the_api_guide() -> None:
    assert [name for name in api.__all__ if f"`{name}" not in GUIDE and f" {name}" not in GUIDE] == []


def test_every_option_of_a_scan_is_in_the_api_guide() -> None:
    fields = api.ScanOptions.__dataclass_fields__

    assert [name for name in fields if f"`{name}`" not in GUIDE] == []


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in api.__all__ if not hasattr(api, name)] == []


@pytest.mark.slow
def test_a_strict_type_checker_accepts_the_examples_against_the_wheel(tmp_path: Path) -> None:
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed: the wheel cannot be built")
    run([uv, "build", "-q", "--wheel", "-o", str(tmp_path / "dist"), str(ROOT)], tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    for number, example in enumerate(EXAMPLES, 1):
        (tmp_path / f"example_{number}.py").write_text(example)

    python = str(tmp_path / "env" / "bin" / "python")
    files = [f"example_{number}.py" for number in range(1, len(EXAMPLES) + 1)]
    check = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python]
    run([*check, *files], tmp_path)
    (tmp_path / "wrong.py").write_text("from jarvis_workers.api import scan\n\nscan('src').findings[0].lines\n")
    assert '"Finding" has no attribute "lines"' in run([*check, "wrong.py"], tmp_path, code=1)


def run(command: list[str], place: Path, *, code: int = 0) -> str:
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout
