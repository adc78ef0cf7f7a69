"""Vendored crates, written as `cargo vendor` writes them."""

import json
from collections.abc import Mapping
from pathlib import Path

from jarvis_workers.c2rust.vendored_crates import CHECKSUM, MANIFEST

CHECKSUMS = json.dumps({"files": {}, "package": None}).encode()


def crate_files(
    name: str, source: str = "", version: str = "1.2.0", dependencies: str = "", more: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """Return the files of a crate by their path in a vendor directory; `dependencies` are lines of its manifest."""
    package = f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n'
    texts = {MANIFEST: f"{package}\n[dependencies]\n{dependencies}", "src/lib.rs": source, **(more or {})}
    return {f"{name}/{CHECKSUM}": CHECKSUMS} | {f"{name}/{path}": text.encode() for path, text in texts.items()}


def write_vendor(place: Path, *crates: Mapping[str, bytes]) -> Path:
    """Write crates into a vendor directory."""
    for path, content in (one for crate in crates for one in crate.items()):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    return place
