"""Control groups are used where they are delegated, and a reason is given where they are not.

What they hold is measured in a virtual machine: allotment/test_machine.py.
"""

from pathlib import Path

from jarvis_workers.sandbox import cgroups


def test_this_process_has_a_group_or_a_reason_why_not() -> None:
    found = cgroups.delegation()

    assert bool(found.place) != bool(found.why)


def test_a_group_without_controllers_of_memory_and_processes_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu io\n")

    assert cgroups.delegated_at(tmp_path) == (None, f"{tmp_path} has no cgroup controller memory, pids")


def test_a_group_that_is_not_delegated_is_not_changed(tmp_path: Path) -> None:
    for name, text in (
        ("cgroup.controllers", "memory pids"),
        ("cgroup.procs", "1"),
        ("cgroup.subtree_control", ""),
        ("cgroup.kill", ""),
    ):
        (tmp_path / name).write_text(text)

    assert cgroups.delegated_at(tmp_path) == (None, f"cgroup {tmp_path} is not delegated to this process")
    assert (tmp_path / "cgroup.procs").read_text() == "1"


def test_a_directory_that_is_no_group_is_a_reason(tmp_path: Path) -> None:
    assert cgroups.delegated_at(tmp_path).why == f"cgroup {tmp_path}: No such file or directory"
