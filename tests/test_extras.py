"""A command that needs an extra says so, and what to install, in one line."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from jarvis_workers import extras
from jarvis_workers.errors import UsageError
from jarvis_workers.extras import MODULES, advice, extra_of, require

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def test_every_extra_that_users_install_is_known_by_its_modules() -> None:
    assert set(MODULES) == set(PROJECT["optional-dependencies"]) - {"dev", "fuzz", "release"}


@pytest.mark.parametrize("extra", MODULES)
def test_advice_names_the_distributions_of_an_extra(extra: str) -> None:
    for line in PROJECT["optional-dependencies"][extra]:
        assert Requirement(line).name in advice(extra)
    assert f'"{extra}"' in advice(extra)


def test_a_missing_module_is_known_by_the_extra_that_brings_it() -> None:
    assert extra_of("kombu.transport.redis") == "cluster"
    assert extra_of("no_such_module") is None


def test_what_is_not_installed_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras.MODULES, "s3", ("no_such_module",))

    with pytest.raises(UsageError, match=r"blobs needs no_such_module, which is not installed; .*s3fs"):
        require("s3", "blobs")
    require("re2", "this environment, which has all")
