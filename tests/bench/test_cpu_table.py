"""Where the CPU time of a scan goes, in ms a MB, and its speed beside flawfinder.

BENCH_TREE names the tree, of 5 MB or more: in a smaller one, the start of the process is more than the rest.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.peers import cpu_of_children, flawfinder

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]
MEGABYTE = 1e6
# Of several rounds the calmest counts, of ours as of the peer's: what else goes on in a machine is no cost of either.
ROUNDS = 3
UNNAMED = "start and other"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def tree() -> str:
    return os.environ.get("BENCH_TREE") or pytest.skip("BENCH_TREE is not set")


def stage_facts(report: Path) -> dict[str, dict[str, float]]:
    stages: dict[str, dict[str, float]] = json.loads(report.read_text())["run"]["stages"]
    return stages


def scan(tree: str, report: Path, *options: str) -> float:
    """Scan in one child process, and return the CPU seconds of its stages."""
    command = [sys.executable, "-m", "jarvis_cli", "sec", "fast", "-q", "-p", tree, "-o", str(report), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return sum(stage["cpu_seconds"] for stage in stage_facts(report).values())


def test_parts_add_up_to_95_percent(tree: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    command = [sys.executable, "-m", "tests.bench.cpu_parts", tree, str(tmp_path / "report.json")]

    seconds: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)

    size = stage_facts(tmp_path / "report.json")["scan"]["bytes"] / MEGABYTE
    whole = sum(seconds.values())
    print(f"\n{'CPU ms/MB':>10} {'share':>6}  part ({size:.1f} MB, {whole:.1f} s)")
    for part, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        print(f"{spent * 1000 / size:>10.1f} {spent / whole:>6.1%}  {part}")
    assert seconds[UNNAMED] / whole <= 0.05


def test_speed_beside_flawfinder(tree: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    report, uncached = tmp_path / "report.json", ("-j", "1", "--no-cache")
    rounds = [
        (
            scan(tree, report, *uncached),
            scan(tree, report, *uncached, "--depth", "rules"),
            cpu_of_children(lambda: flawfinder(Path(tree))),
        )
        for _ in range(ROUNDS)
    ]

    size = stage_facts(report)["scan"]["bytes"] / MEGABYTE
    flow, rules, peer = (min(seconds) for seconds in zip(*rounds, strict=True))
    for name, seconds in (("all stages", flow), ("--depth rules", rules), ("flawfinder", peer)):
        print(f"\n{name}: {size / seconds:.2f} MB/s of CPU; {peer / seconds:.2f} of flawfinder", end="")
    assert peer / rules > 1
