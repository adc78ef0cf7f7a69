"""The crates that cargo compiles together."""

from pathlib import Path

import pytest

from jarvis_workers.builds.cargo_workspaces import cargo_workspaces

PACKAGE = '[package]\nname = "x"\n'


@pytest.mark.parametrize(
    ("manifests", "found"),
    [
        ({"": PACKAGE}, [""]),
        ({"a": PACKAGE, "b": PACKAGE}, ["a", "b"]),
        # A workspace has its members; an excluded package, and one with a workspace of its own, stand for themselves.
        ({"": "[workspace]\nexclude = ['./tools/']", "a": PACKAGE, "tools/x": PACKAGE}, ["", "tools/x"]),
        ({"": "[workspace]\n", "a": PACKAGE, "fuzz": f"{PACKAGE}[workspace]\n"}, ["", "fuzz"]),
        # A package without a workspace has none.
        ({"": PACKAGE, "a": PACKAGE}, ["", "a"]),
        ({"a": PACKAGE, "a/vendor/b": PACKAGE, "target/c": PACKAGE, ".git/d": PACKAGE}, ["a"]),
        # What cannot be read is cargo's to refuse, and covers nothing.
        ({"": "[" * 100_000, "a": PACKAGE}, ["", "a"]),
        ({"": "[[workspace]]\n", "a": PACKAGE}, [""]),
        ({"": "[workspace]\nexclude = [3, {}]", "a": PACKAGE}, [""]),
        ({}, []),
    ],
)
def test_cargo_is_called_once_for_a_workspace(tmp_path: Path, manifests: dict[str, str], found: list[str]) -> None:
    for directory, text in manifests.items():
        (tmp_path / directory).mkdir(parents=True, exist_ok=True)
        (tmp_path / directory / "Cargo.toml").write_text(text)

    assert cargo_workspaces(tmp_path, ("vendor", "target")) == found
