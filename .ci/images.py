#!/usr/bin/env python3
"""Fill in the digests of the images that the templates of a tree name: python .ci/images.py DIRECTORY

An image is named by its exact version and its digest: `NAME:VERSION@sha256:…`, or a value `digest` beside the value
`image` in the chart. What has a digest stays as it is; for what has none, the registry is asked. Exit code 0: all
images have one; 1: some have none, which are named.
"""

import json
import re
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

# The image of this project is built from the tree; who pushes it to a registry knows its digest.
FILES = ("docker-compose.yml", "deploy/Dockerfile", "deploy/gitlab/jarvis.gitlab-ci.yml", "helm/jarvis/values.yaml")
INLINE = re.compile(
    r"(?m)^(?P<before>(?:\s*image: |ARG BASE=))(?P<image>[a-z][\w./-]*:[\w.-]+)(?P<digest>@sha256:[0-9a-f]{64})?$"
)
BESIDE = re.compile(
    r"(?m)^(?P<before>\s*image: )(?P<image>[a-z][\w./-]*:[\w.-]+)(?P<between>\n\s*digest: )(?P<digest>.*)$"
)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
MANIFESTS = "application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json"
SECONDS = 30


def digest_of(image: str) -> str | None:
    """Return the digest of an image of Docker Hub, or None if the registry does not tell it."""
    name, _, version = image.partition(":")
    repository = name if "/" in name else f"library/{name}"
    try:
        address = f"https://auth.docker.io/token?service=registry.docker.io&scope=repository:{repository}:pull"
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            token = json.load(answer)["token"]
        asks = urllib.request.Request(
            f"https://registry-1.docker.io/v2/{repository}/manifests/{version}",
            headers={"Authorization": f"Bearer {token}", "Accept": MANIFESTS},
            method="HEAD",
        )
        with urllib.request.urlopen(asks, timeout=SECONDS) as answer:
            found = answer.headers.get("Docker-Content-Digest", "")
    except (OSError, ValueError, KeyError):
        return None
    return found if DIGEST.fullmatch(found) else None


def filled(text: str, look_up: Callable[[str], str | None]) -> tuple[str, list[str]]:
    """Return a template with the digests of its images, and the images that have none."""
    missing: list[str] = []

    def beside(match: re.Match[str]) -> str:
        digest = match["digest"] if DIGEST.fullmatch(match["digest"]) else look_up(match["image"])
        if digest is None:
            missing.append(match["image"])
        return f"{match['before']}{match['image']}{match['between']}{digest or match['digest']}"

    def inline(match: re.Match[str]) -> str:
        if match["digest"] or text[match.end() :].lstrip().startswith("digest:"):
            return match[0]
        digest = look_up(match["image"])
        if digest is None:
            missing.append(match["image"])
        return f"{match[0]}@{digest}" if digest else match[0]

    return BESIDE.sub(beside, INLINE.sub(inline, text)), missing


def main(directory: Path) -> int:
    """Fill in the templates of a directory, and name the images without a digest."""
    missing: list[str] = []
    for name in FILES:
        file = directory / name
        text, without = filled(file.read_text(), digest_of)
        file.write_text(text)
        missing += [f"{name}: {image}" for image in without]
    for image in missing:
        sys.stdout.write(f"images: no digest: {image}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
