"""The builtin headers of clang are found, or their absence is an error."""

import sys
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.toolchain import headers
from jarvis_workers.toolchain.headers import builtin_headers


def test_the_wheel_of_clang_tidy_has_them() -> None:
    directory = builtin_headers(None)

    assert directory.parts[-4:] == ("lib", "clang", "18", "include")
    assert (directory / "stddef.h").is_file()
    assert (directory / "immintrin.h").is_file()


@pytest.mark.parametrize("below", [".", "include"])
def test_a_configured_directory_comes_first(tmp_path: Path, below: str) -> None:
    (tmp_path / below).mkdir(exist_ok=True)
    (tmp_path / below / "stddef.h").touch()

    assert builtin_headers(str(tmp_path)) == tmp_path / below


def test_a_configured_directory_without_headers_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"c2rust\.clang_headers: no stddef\.h in"):
        builtin_headers(str(tmp_path))


def test_without_any_headers_the_message_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "MAJOR", 1)

    with pytest.raises(
        UsageError, match=r"needs the built-in headers of clang 1: install it .*c2rust\.clang_headers"
    ) as error:
        builtin_headers(None)
    assert "\n" not in str(error.value)


def test_without_the_wheel_those_of_an_installed_clang_of_the_same_version_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "clang_tidy", None)
    monkeypatch.setattr(headers, "SYSTEM", (str(tmp_path / "absent"), str(tmp_path)))
    for version in ("17", "18.1.8", "180", "19"):
        (tmp_path / version / "include").mkdir(parents=True)
        (tmp_path / version / "include" / "stddef.h").touch()

    assert builtin_headers(None) == tmp_path / "18.1.8" / "include"
