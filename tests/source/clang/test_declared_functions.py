"""The functions of a header."""

from pathlib import Path

import pytest

from jarvis_workers.errors import GivenUp
from jarvis_workers.source.clang.declared_functions import declared_functions
from jarvis_workers.toolchain.headers import builtin_headers

HEADER = """
#ifndef API_H
#define API_H
#include <stdio.h>
#include "other.h"
#define DECLARE(name) int name(void)
int second(size_t count);
int first(void), third(int);
DECLARE(generated);
static inline int defined(void) { return 1; }
int second(size_t);
int (*pointer)(void);
int other(void);
#endif
"""


def names(root: Path, header: str, *arguments: str) -> tuple[str, ...]:
    return declared_functions(root, header.encode(), arguments, builtin_headers(None))


def test_each_function_of_the_header_itself_once_in_order(tmp_path: Path) -> None:
    (tmp_path / "api.h").write_text(HEADER)
    (tmp_path / "other.h").write_text("int other(void); int elsewhere(void);\n")

    assert names(tmp_path, "api.h") == ("second", "first", "third", "generated", "defined", "other")


def test_a_header_of_cpp(tmp_path: Path) -> None:
    (tmp_path / "api.hpp").write_text(
        'namespace a { struct S { int method(); }; template <class T> T make(); }\nextern "C" { int plain(void); }\n'
    )

    assert names(tmp_path, "api.hpp") == ("method", "make", "plain")


def test_the_language_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "api.h").write_text("class S { int method(); };\n")

    assert names(tmp_path, "api.h", "-x", "c++") == ("method",)


def test_a_header_with_an_error_has_no_names(tmp_path: Path) -> None:
    (tmp_path / "api.h").write_text('int first(void);\n#include "absent.h"\nint second(void);\n')

    with pytest.raises(GivenUp, match=r"^api\.h:2: 'absent\.h' file not found$"):
        names(tmp_path, "api.h")
