"""The identity of interpreter and engines, under which results are cached."""

import sys

import pytest

from jarvis_workers.source.identity import engine_identity, installed_version


def test_it_names_this_build_of_python_on_one_line() -> None:
    identity = engine_identity()

    assert sys.implementation.name in identity
    assert sys.version.split()[0] in identity
    assert "\n" not in identity


@pytest.mark.parametrize("engine", ["hyperscan", "google-re2", "tree-sitter", "tree-sitter-c"])
def test_another_version_of_an_engine_is_another_identity(engine: str) -> None:
    versions = {"hyperscan": "0.9.1", "google-re2": "1.1", "tree-sitter": "0.26.1", "tree-sitter-c": "0.24.2"}

    def identity(**changes: str) -> str:
        return engine_identity(version_of=lambda name: (versions | changes).get(name, ""))

    assert len({identity(), identity(**{engine: "9.9"}), identity(**{engine: ""})}) == 3


def test_the_version_of_what_is_not_installed_is_empty() -> None:
    assert installed_version("no-such-distribution-of-ours") == ""
    assert installed_version("tree-sitter")
