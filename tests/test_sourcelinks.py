"""Links to the source: what fills the template adds nothing but a path."""

import pytest

from jarvis_workers.sourcelinks import check_template, fill_template, link_to_source

TEMPLATE = "https://host/team/{repo}/blob/{rev}/{path}#L{line}"
COMMIT = "a" * 40


@pytest.mark.parametrize(
    ("root", "prefix", "start"),
    [
        ("/home/ci/redis", "", "https://host/team/redis/blob/aa/"),
        ("/home/ci/redis/src", "src", "https://host/team/redis/blob/aa/src/"),
        (f"https://example.org/antirez/redis.git@{COMMIT}", "", "https://host/team/redis/blob/aa/"),
        ("/x/a b?/c#d", "c#d", "https://host/team/a%20b%3F/blob/aa/c%23d/"),
    ],
)
def test_a_template_is_filled_for_a_run_and_for_a_line(root: str, prefix: str, start: str) -> None:
    filled = fill_template(TEMPLATE, root=root, prefix=prefix, commit="aa")

    assert filled is not None
    assert link_to_source(filled, "lib/{line}?x#y.c", 7) == f"{start}lib/%7Bline%7D%3Fx%23y.c#L7"
    assert link_to_source(filled, "\\xff\n.c", 7).startswith(f"{start}%FF%0A.c")


def test_without_a_commit_there_are_links_only_if_the_template_needs_none() -> None:
    assert fill_template(TEMPLATE, root="/r", prefix="", commit=None) is None
    assert fill_template("http://host/{path}", root="/r", prefix="", commit=None) == "http://host/{path}"


@pytest.mark.parametrize(
    "template",
    ["javascript:alert('{path}')", "https://host/", "https://host/{path}{x}", 'https://h/"{path}', "//h/{path}"],
)
def test_what_is_no_address_of_a_server_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="should be an http"):
        check_template(template)
