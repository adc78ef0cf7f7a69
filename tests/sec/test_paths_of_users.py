"""Paths from the environment are weak evidence of path traversal, except what a web server passes to CGI programs."""

import pytest

from tests.sec.following import follow

OPENS = """\
#include <stdio.h>
#include <stdlib.h>

FILE *settings(void)
{
    const char *name = getenv("%s");
    if (name == NULL)
        return NULL;
    return fopen(name, "r");
}
"""


@pytest.mark.parametrize("variable", ["HOME", "APP_CONFIG", "EDITOR"])
def test_the_environment_of_the_user_names_files_with_little_confidence(variable: str) -> None:
    assert _confidences(variable) == [0.4]


@pytest.mark.parametrize("variable", ["QUERY_STRING", "PATH_INFO", "HTTP_COOKIE"])
def test_what_a_client_sent_to_a_web_server_names_no_files(variable: str) -> None:
    assert all(one > 0.5 for one in _confidences(variable))
    assert _confidences(variable) != []


def _confidences(variable: str) -> list[float]:
    hits = follow({"a.c": (OPENS % variable).encode()})["a.c"]
    return [hit.confidence for hit in hits if hit.pattern == "flow_path_traversal"]
