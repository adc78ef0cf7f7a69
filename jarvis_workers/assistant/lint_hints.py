"""Linters for changed files, by their suffix: one hint at the end of a change."""

from collections.abc import Iterable
from pathlib import PurePosixPath

MOST_FILES = 10
C_LINT, CPP_LINT = "clang-tidy {files} --", "clang-tidy {files} -- -std=c++20"
LINTERS = {
    **dict.fromkeys((".c", ".h"), C_LINT),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"), CPP_LINT),
    ".rs": "cargo clippy --all-targets",
    ".py": "ruff check {files}",
    ".go": "go vet ./...",
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx"), "eslint {files}"),
    **dict.fromkeys((".sh", ".bash"), "shellcheck {files}"),
    **dict.fromkeys((".yaml", ".yml"), "yamllint {files}"),
    ".java": "checkstyle {files}",
    ".md": "markdownlint {files}",
}


def lint_hint(paths: Iterable[str]) -> str:
    """Return the commands that check the changed files, separated by semicolons; "" if no linter is known for them."""
    by_linter = dict[str, list[str]]()
    for path in paths:
        if linter := LINTERS.get(PurePosixPath(path).suffix.lower()):
            by_linter.setdefault(linter, []).append(path)
    return "; ".join(linter.format(files=" ".join(files[:MOST_FILES])) for linter, files in by_linter.items())
