"""The formats of reports by name, and by the suffix of a report's file."""

from collections.abc import Mapping
from pathlib import PurePath

FORMAT_NAMES = (
    "text",
    "json",
    "markdown",
    "sarif",
    "html",
    "junit",
    "gcc",
    "github",
    "github-summary",
    "gitlab-sast",
    "codequality",
    "csv",
)
# The first matching suffix counts.
SUFFIXES = {
    # The names that GitLab's documentation uses.
    "gl-sast-report.json": "gitlab-sast",
    "gl-code-quality-report.json": "codequality",
    ".sarif.json": "sarif",
    ".sarif": "sarif",
    ".json": "json",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".xml": "junit",
    ".csv": "csv",
}


def format_of(path: str | PurePath, default: str, suffixes: Mapping[str, str] = SUFFIXES) -> str | None:
    """Return the format for a file's suffix, `default` without a suffix, or None if the suffix is unknown."""
    name = PurePath(path).name.lower()
    return next((form for suffix, form in suffixes.items() if name.endswith(suffix)), None if "." in name else default)
