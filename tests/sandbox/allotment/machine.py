"""Boot a virtual machine with cgroup v2 from Debian's cloud kernel, and an initramfs made from this machine's programs.

The processor is emulated, since /dev/kvm is often missing or cannot run every kernel. It needs qemu-system-x86_64, a
static busybox and a kernel: the file in $JARVIS_TEST_KERNEL, or Debian's, which `apt-get download` fetches and which is
unpacked and not installed.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_workers.sandbox.launcher import PACKAGES
from tests.sandbox.allotment.guest import RESULT

KERNEL = "JARVIS_TEST_KERNEL"
PACKAGE = "linux-image-cloud-amd64"
PYTHON, LIBRARY = "/usr/bin/python3.11", "/usr/lib/python3.11"
PROGRAMS = (PYTHON, "/usr/bin/bwrap", "/usr/bin/true", "/bin/sh")
MEGABYTES, SECONDS = 3072, 1500
INIT = """#!/bin/busybox sh
/bin/busybox mount --bind /system /system
cd /system
/bin/busybox mount --move . /
exec /bin/busybox chroot . /bin/busybox sh /start
"""
START = """
export PATH=/bin:/usr/bin
busybox mount -t proc none /proc
busybox mount -t sysfs none /sys
busybox mount -t devtmpfs none /dev
busybox mount -t cgroup2 none /sys/fs/cgroup
busybox mount -t tmpfs -o mode=1777,size=2g none /tmp
busybox ip link set lo up
/bin/python3 -I -S /code/tests/sandbox/allotment/guest.py
busybox poweroff -f
"""
SHARED = re.compile(r"(/\S+) \(0x")


def missing() -> str | None:
    """Return what this machine lacks to run the virtual one, or None."""
    programs = ("qemu-system-x86_64", "busybox", "bwrap", "dpkg-deb", "apt-get", "apt-cache")
    absent = [name for name in programs if not shutil.which(name)]
    absent += [] if Path(PYTHON).exists() else [PYTHON]
    return f"not installed: {', '.join(absent)}" if absent else None


def boot(directory: Path, plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run a plan (`attacks`, `tiers`, `modes`) in a virtual machine and return its results."""
    archive = directory / "initramfs"
    _write_archive(archive, directory / "root", plan)
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", str(MEGABYTES)]
    command += ["-nographic", "-no-reboot", "-nic", "none", "-kernel", str(_kernel(directory)), "-initrd", str(archive)]
    command += ["-append", "console=ttyS0 quiet panic=-1 lsm=landlock,yama"]
    with (directory / "console").open("wb") as console:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=console, timeout=SECONDS, check=True)
    text = (directory / "console").read_text(errors="replace")
    results = [json.loads(line.partition(RESULT)[2]) for line in text.splitlines() if RESULT in line]
    assert results and results[-1] == {"ended": True}, text[-4000:]
    return results[:-1]


def _kernel(directory: Path) -> Path:
    if KERNEL in os.environ:
        return Path(os.environ[KERNEL])
    shown = subprocess.run(["apt-cache", "depends", PACKAGE], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Depends: (linux-image-\S+)", shown)
    assert found, f"{PACKAGE}: unknown to apt; run apt-get update"
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["apt-get", "-q", "download", found[1]], cwd=place, check=True, capture_output=True)
        (package,) = Path(place).glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", str(package), f"{place}/unpacked"], check=True)
        (kernel,) = Path(place, "unpacked/boot").glob("vmlinuz-*")
        return Path(shutil.copy(kernel, directory / "kernel"))


def _write_archive(archive: Path, root: Path, plan: Mapping[str, Any]) -> None:
    """Write a cpio archive whose program mounts `/system` as the root: bubblewrap cannot leave an initramfs."""
    system = root / "system"
    for name in ("bin", "dev", "proc", "sys", "tmp", "usr/bin", "etc", "root"):
        (system / name).mkdir(parents=True, exist_ok=True)
    (root / "bin").mkdir()
    for place in (root, system):
        shutil.copy(shutil.which("busybox") or "", place / "bin/busybox")
    for program in PROGRAMS:
        for file in (program, *_libraries(program)):
            _copy(file, system)
    _copy_python(system)
    (system / "bin/python3").symlink_to(PYTHON)
    (system / "plan").write_text(json.dumps(plan))
    (system / "start").write_text(START)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    names = subprocess.run(["find", ".", "-print"], cwd=root, capture_output=True, check=True).stdout
    with archive.open("wb") as output:
        pack = ["busybox", "cpio", "-o", "-H", "newc", "-R", "0:0"]
        subprocess.run(pack, cwd=root, input=names, stdout=output, stderr=subprocess.DEVNULL, check=True)
    shutil.rmtree(root)


def _copy_python(system: Path) -> None:
    unused = shutil.ignore_patterns("test", "idlelib", "tkinter", "lib2to3", "config-*", "*-packages", "ensurepip")
    shutil.copytree(LIBRARY, f"{system}{LIBRARY}", ignore=unused)
    for module in Path(LIBRARY, "lib-dynload").glob("_ctypes.*"):
        for file in _libraries(str(module)):
            _copy(file, system)
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("sandbox", "toolchain"):
        shutil.copytree(PACKAGES / "jarvis_workers" / name, system / "code/jarvis_workers" / name, ignore=skip)
    for file in (PACKAGES / "jarvis_workers").glob("*.py"):
        shutil.copy(file, system / "code/jarvis_workers" / file.name)
    shutil.copytree(Path(__file__).parent, system / "code/tests/sandbox/allotment", ignore=skip)


def _libraries(program: str) -> Sequence[str]:
    shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return SHARED.findall(shown)


def _copy(file: str, system: Path) -> None:
    target = Path(f"{system}{file}")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)


def table(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each result."""
    for result in results:
        if "attack" in result:
            mega = {name: result[name] / (1 << 20) for name in ("memory_bytes", "scratch_bytes")}
            yield (
                f"{result['mode']:8} {result['tier']} {result['attack']:38} memory {mega['memory_bytes']:7.1f} MB"
                f" tasks {result['tasks']:4} disk {mega['scratch_bytes']:6.1f} MB {result['seconds']:5.1f} s"
                f" {result['reason']} {result['output'][-80:]!r}"
            )
        else:
            yield str(dict(result))
