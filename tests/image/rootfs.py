"""Build the image's targets without a container engine: run the instructions of deploy/Dockerfile in a Debian root.

By hand, as root: python -m tests.image.rootfs DIRECTORY [BASE] debootstrap creates the base, unless BASE is an existing
one. Each stage is a directory, and each RUN a chroot in a separate mount namespace. Files that this machine needs to
reach package registries are mounted during a RUN, and are not part of a layer.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from tests.image.dockerfile import BuildStage, Instruction, read_stages

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
BASE_IMAGE = next(iter(read_stages(DOCKERFILE).values())).parent
NETWORK_FILES = {
    "/etc/resolv.conf": "/etc/resolv.conf",
    "/etc/pip.conf": "/etc/pip.conf",
    "/etc/apt/sources.list.d": "/etc/apt/sources.list.d",
    "/etc/ssl/certs/ca-certificates.crt": "/run/certificates",
}
CERTIFICATES = {"SSL_CERT_FILE": "/run/certificates", "PIP_CERT": "/run/certificates"}
NETWORK_VARIABLES = ("https_proxy", "HTTPS_PROXY", "no_proxy", "PIP_INDEX_URL", "UV_INDEX_URL")
# The documentation that the base image leaves out, too.
DOCUMENTS = ("doc", "man", "locale", "info")
ARRAYS = {"SHELL": "shell", "ENTRYPOINT": "entry", "CMD": "command", "HEALTHCHECK": "health"}
MOUNTED = """
set -eu
root=$1; shift
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
while [ "$1" != -- ]; do
    [ -e "$root$2" ] || if [ -d "$1" ]; then mkdir "$root$2"; else touch "$root$2"; fi
    mount --bind "$1" "$root$2"
    shift 2
done
shift
exec chroot "$root" "$@"
"""
CONTAINED = """
set -eu
root=$1 data=$2 source=$3 uid=$4; shift 4
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --bind "$data" "$root/var/lib/jarvis"
mount --bind "$source" "$root/mnt"
mount -o remount,ro,bind "$root/mnt"
exec chroot --userspec="+$uid:+0" --groups= "$root" setpriv --no-new-privs --inh-caps=-all "$@"
"""


@dataclass
class Image:
    """A built stage: its root, and the settings from its instructions."""

    root: Path
    environ: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    shell: Sequence[str] = ("/bin/sh", "-c")
    directory: str = "/"
    user: str = "0"
    labels: dict[str, str] = field(default_factory=dict)
    entry: Sequence[str] = ()
    command: Sequence[str] = ()
    health: Sequence[str] = ()

    @property
    def size(self) -> int:
        """The bytes on disk."""
        told = subprocess.run(["du", "-sx", "--block-size=1", self.root], capture_output=True, text=True, check=True)
        return int(told.stdout.split()[0])

    def program(self, data: Path, source: Path, *args: str, uid: int = 54321, entry: bool = True) -> list[str]:
        """Return the command that runs `args` in this image: a read-only root, an arbitrary user, no capability.

        `data` is its data directory, `source` is at /mnt. Pass the variables of the container to `run` or Popen.
        """
        words = [*(self.entry if entry else ()), *args]
        mounts = [str(self.root), str(data), str(source), str(uid)]
        return [
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--propagation",
            "private",
            "sh",
            "-c",
            CONTAINED,
            "sh",
            *mounts,
            *words,
        ]

    def copy(self, root: Path) -> "Image":
        subprocess.run(["cp", "-a", "--reflink=auto", self.root, root], check=True)
        more = {"environ": dict(self.environ), "labels": dict(self.labels)}
        return Image(**{**vars(self), **more, "root": root})


def build(directory: Path, base: Path | None = None) -> dict[str, Image]:
    """Build every stage below `directory` and return them by name."""
    debian = directory / "base"
    if base is None:
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", debian], check=True)
    else:
        subprocess.run(["cp", "-a", base, debian], check=True)
    for name in [*(f"usr/share/{name}" for name in DOCUMENTS), "var/cache/apt", "var/lib/apt/lists"]:
        shutil.rmtree(debian / name, ignore_errors=True)
        (debian / name).mkdir()
    (debian / "var/cache/apt/archives/partial").mkdir(parents=True)
    (debian / "etc/apt/sources.list").unlink(missing_ok=True)
    images = {BASE_IMAGE: Image(debian)}
    for stage in read_stages(DOCKERFILE).values():
        print(f"stage {stage.name}", flush=True)
        images[stage.name] = images[stage.parent].copy(directory / stage.name)
        for step in stage.steps:
            _perform(step, stage, images)
    return images


def _perform(step: Instruction, stage: BuildStage, images: Mapping[str, Image]) -> None:
    image = images[stage.name]
    match step.name:
        case "RUN":
            _run(image, step.text)
        case "COPY":
            _copy(image, step.text, images)
        case "ENV":
            image.environ |= step.pairs
        case "LABEL":
            image.labels |= step.pairs
        case "USER":
            image.user = step.text
        case "WORKDIR":
            image.directory = step.text
            (image.root / step.text.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case name:
            setattr(image, ARRAYS[name], step.array)


def _run(image: Image, script: str) -> None:
    assert image.user == "0", f"as {image.user}: {script}"
    network = [name for pair in NETWORK_FILES.items() if Path(pair[0]).exists() for name in pair]
    inside = [*image.shell, f"cd {shlex.quote(image.directory)} && {script}"]
    mounted = ["unshare", "--mount", "--propagation", "private", "sh", "-c", MOUNTED, "sh", str(image.root)]
    outer = {name: os.environ[name] for name in NETWORK_VARIABLES if name in os.environ}
    environ = {"HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", **CERTIFICATES, **outer, **image.environ}
    subprocess.run([*mounted, *network, "--", *inside], env=environ, check=True)


def _copy(image: Image, text: str, images: Mapping[str, Image]) -> None:
    words = text.split()
    stage = next((word.removeprefix("--from=") for word in words if word.startswith("--from=")), None)
    *sources, target = [word for word in words if not word.startswith("--")]
    place = image.root / target.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    if target.endswith("/"):
        place.mkdir(parents=True, exist_ok=True)
    for source in sources:
        origin = images[stage].root / source.lstrip("/") if stage else _of_context(source)
        into = place / origin.name if target.endswith("/") else place
        subprocess.run(["cp", "-a", "--no-preserve=ownership", "-T", origin, into], check=True)


def _of_context(source: str) -> Path:
    """Return a file of the build context. Fails for one that .dockerignore leaves out, as a container engine does."""
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert any(fnmatch(source, pattern) for pattern in allowed), f"{source} is not in the build context"
    return ROOT / source


def main(directory: str, base: str | None = None) -> None:
    images = build(Path(directory), Path(base) if base else None)
    for name, image in images.items():
        print(f"{name}: {image.size / 1e6:.0f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
