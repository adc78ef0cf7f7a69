"""Cost of the scan stage according to a report, compared with flawfinder and with the kernel's CPU accounting.

BENCH_TREE names the tree, such as the source of redis.
"""

import json
import os
from pathlib import Path

import pytest

from jarvis_cli.main import run
from tests.bench.peers import cpu_of_children, flawfinder

MEGABYTE = 1e6
# Of several runs the calmest counts, of ours as of the peer's: what else goes on in a machine is no cost of either.
RUNS = 5

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


def test_the_scan_stage_reads_12_megabytes_a_second_on_one_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = os.environ.get("BENCH_TREE") or pytest.skip("BENCH_TREE is not set")
    best, peer = 0.0, 0.0
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    for number in range(RUNS):
        report = tmp_path / f"{number}.json"
        kernel = cpu_of_children(
            lambda to=report: run(["sec", "fast", "-q", "-j", "1", "--no-cache", "-p", tree, "-o", str(to)])
        )
        stages = json.loads(report.read_text())["run"]["stages"]
        assert kernel == pytest.approx(sum(stage["cpu_seconds"] for stage in stages.values()), rel=0.1)
        size, said = stages["scan"]["bytes"] / MEGABYTE, stages["scan"]["cpu_seconds"]
        best = max(best, size / said)
        peer = max(peer, size / cpu_of_children(lambda: flawfinder(Path(tree))))
        print(f"scan stage: {size / said:.1f} MB/s ({size:.1f} MB, {said:.3f} s)")

    print(f"flawfinder: {peer:.1f} MB/s; ratio {best / peer:.1f}")
    assert best >= 12


def test_the_second_run_takes_a_twentieth_of_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = os.environ.get("BENCH_TREE") or pytest.skip("BENCH_TREE is not set")
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    scans = []
    for report in (tmp_path / "first.json", tmp_path / "second.json"):
        assert run(["sec", "fast", "-q", "-j", "2", "-p", tree, "-o", str(report)]) == 0
        scans.append(json.loads(report.read_text())["run"]["stages"]["scan"])
    first, second = scans

    ratio = first["cpu_seconds"] / second["cpu_seconds"]
    print(f"scan stage: {first['cpu_seconds']:.3f} s, then {second['cpu_seconds']:.3f} s: {ratio:.0f} times less")
    assert second["cached"] == first["files"]
    assert ratio >= 20
