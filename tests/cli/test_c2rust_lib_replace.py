"""`jarvis c2rust lib-replace` on a small packer, with a scripted model that answers from the request.

The uses among its functions, by hand (callees after the arrow; `methods` is an exported table):

    main -> pack_file usage                    pack_file -> crc32_of emit_bits store_block deflate_block (by methods)
    deflate_block -> emit_bits encode_lengths find_match         encode_lengths -> emit_bits package_merge
    find_match -> hash_of min_of               package_merge -> compare_nodes init_nodes min_of
    crc32_of -> make_table                     adler_of -> add_mod
"""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, fails, says
from tests.cli.commands import Ended, Jarvis
from tests.support.settings_files import write_settings

PACKER = Path(__file__).parents[1] / "data" / "c2rust" / "packer"
FIRST_MEMBER = re.compile(r"signatures:\n\n\W(\w+) \| ")
CHOICES = {"crc32_of": ["crc32fast"], "package_merge": ["package-merge", "std"], "adler_of": ["adler"]}
ALLOWED = ("crc32fast", "package_merge")
# Without main, which is never replaced, and without what crc32_of and package_merge use.
JUDGED = {
    *("adler_of", "add_mod", "store_block", "deflate_block", "pack_file", "usage", "crc32_of", "emit_bits"),
    *("encode_lengths", "find_match", "package_merge", "hash_of", "min_of"),
}
PRUNED = {"make_table", "compare_nodes", "init_nodes"}


def function_of(body: Body) -> str:
    """Return the name of the function that a request asks about."""
    task = next(message["content"] for message in body["messages"] if message["role"] == "user")
    (name,) = FIRST_MEMBER.findall(task)
    return str(name)


def judge(body: Body, choices: Mapping[str, list[str]] = CHOICES) -> Step:
    """Replace the functions in `choices`, and no other."""
    found = choices.get(function_of(body))
    report = {"replaceable": bool(found), "libraries": found or [], "confidence": 0.9, "notes": "as the test says"}
    return says(f"<SUMMARY>\n<yaml>\n{json.dumps(report)}\n</yaml>\n</SUMMARY>")


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for the project, which the first test scans."""
    return tmp_path_factory.mktemp("scanned")


@pytest.fixture
def project(jarvis: Jarvis, scanned: Path) -> Path:
    (jarvis.place / "jarvis.yaml").write_text("{}")
    if not (scanned / "packer").exists():
        shutil.copytree(PACKER, scanned / "packer")
        assert jarvis("c2rust", "scan", "-q", "-p", scanned / "packer").code == 0
    return Path(shutil.copytree(scanned / "packer", jarvis.place / "packer"))


def replaced(jarvis: Jarvis, project: Path, server: ModelServer, *more: object) -> Ended:
    """Run the command with the server as its model."""
    group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
    write_settings(jarvis.place, {"models": {"m": group}, "c2rust": {"allowed_crates": ALLOWED}})
    return jarvis("c2rust", "lib-replace", "-p", project, *more)


def rows(project: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / ".jarvis" / "c2rust" / name).read_text().splitlines()]


def functions(project: Path, name: str = "symbols.jsonl") -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows(project, name) if row["category"] == "function"}


@pytest.mark.slow
def test_functions_are_replaced_and_pruned_as_computed_by_hand(jarvis: Jarvis, project: Path) -> None:
    before = functions(project)
    with ModelServer(forever=judge) as server:
        ended = replaced(jarvis, project, server)

    assert ended.code == 0, ended.err
    assert sorted(map(function_of, server.requests)) == sorted(JUDGED)
    assert "13 of 17 functions judged: 2 replaced by libraries, 3 pruned, 12 left to translate" in ended.out
    after = functions(project)
    assert set(before) - set(after) == PRUNED
    assert after["package_merge"]["ref"] == ["lib::package-merge", "lib::std"]
    assert after["crc32_of"]["lib_replacement"] == {
        "libraries": ["crc32fast"],
        "library": "crc32fast",
        "apis": [],
        "api": "",
        "confidence": 0.9,
        "notes": "as the test says",
        "mode": "llm",
        "updated_at": after["crc32_of"]["lib_replacement"]["updated_at"],
    }
    assert functions(project, "symbols_raw.jsonl") == before
    steps = rows(project, "translation_order.jsonl")
    order = [row["name"] for step in steps for row in step["items"] if row["category"] == "function"]
    assert order == [
        *("crc32_of", "add_mod", "adler_of", "usage", "hash_of", "emit_bits", "store_block", "pack_file"),
        *("min_of", "find_match", "package_merge", "encode_lengths", "deflate_block", "main"),
    ]
    assert [row["name"] for row in rows(project, "library_replacements.jsonl")] == ["crc32_of", "package_merge"]
    assert "2 of 17 functions (11.8 %) replaced, 3 pruned" in jarvis("c2rust", "roadmap", "-p", project).out
    assert jarvis("c2rust", "symbols", "-p", project).err == "18 of 18 symbols\n"
    assert jarvis("c2rust", "scan", "-p", project).err.count("edited") == 0


@pytest.mark.slow
def test_the_copies_have_the_same_content(jarvis: Jarvis, project: Path) -> None:
    with ModelServer(forever=judge) as server:
        assert replaced(jarvis, project, server, "-q").code == 0
    files = project / ".jarvis" / "c2rust"
    exported = [Path(line) for line in jarvis("runs", "export", "last", "-d", project / "copy").out.splitlines()]

    assert rows(project, "symbols.jsonl") == rows(project, "symbols_library_pruned.jsonl")
    assert rows(project, "symbols.jsonl") == rows(project, "symbols_prune.jsonl")
    assert rows(project, "translation_order.jsonl") == rows(project, "translation_order_prune.jsonl")
    assert len(exported) == 6
    assert all((files / path.name).read_bytes() == path.read_bytes() for path in exported)


@pytest.mark.slow
def test_a_function_without_a_usable_answer_is_not_checked_and_judged_again_later(
    jarvis: Jarvis, project: Path
) -> None:
    def prose(body: Body) -> Step:
        return says("I think that a crate may do this.") if function_of(body) == "encode_lengths" else judge(body)

    with ModelServer(forever=prose) as server:
        first = replaced(jarvis, project, server)
    checkpoint = json.loads((project / ".jarvis" / "c2rust" / "library_replacer_checkpoint.json").read_text())
    with ModelServer(forever=judge) as server:
        second = replaced(jarvis, project, server)

    assert first.code == 3
    assert "is incomplete (1 function was not judged; first encode_lengths: inconclusive: " in first.err
    assert "12 of 17 functions judged: 2 replaced" in first.err
    assert "NOT CHECKED: 1 function\n  encode_lengths: inconclusive: no valid report" in first.out
    assert len(checkpoint["processed_roots"]) == checkpoint["eval_counter"] == 12
    assert [one["choice"]["libraries"] for one in checkpoint["selected_roots"]] == [
        ["crc32fast"],
        ["package-merge", "std"],
    ]
    assert second.code == 0
    assert [function_of(body) for body in server.requests] == ["encode_lengths"]
    assert set(functions(project)).isdisjoint(PRUNED)
    assert len(rows(project, "library_replacements.jsonl")) == 2
    assert not (project / ".jarvis" / "c2rust" / "library_replacer_checkpoint.json").exists()


@pytest.mark.slow
def test_a_function_for_which_the_model_fails_is_not_checked(jarvis: Jarvis, project: Path) -> None:
    def broken(body: Body) -> Step:
        return fails(401) if function_of(body) == "crc32_of" else judge(body)

    with ModelServer(forever=broken) as server:
        ended = replaced(jarvis, project, server)
    report = json.loads(jarvis("runs", "report", "last", "--format", "json").out)

    assert ended.code == 3
    assert [line.partition(": ")[0] for line in report["not_checked"]] == ["crc32_of"]
    assert report["counts"] == {"judged": 13, "replaced": 1, "pruned": 2, "remaining": 15}
    assert "make_table" in functions(project)


@pytest.mark.slow
def test_a_maximum_judges_the_same_functions_each_time_one_after_the_other(jarvis: Jarvis, project: Path) -> None:
    with ModelServer(forever=judge) as server:
        first = replaced(jarvis, project, server, "--max-funcs", 2)
    with ModelServer(forever=judge) as other:
        second = replaced(jarvis, project, other, "--max-funcs", 5)

    assert (first.code, second.code) == (0, 0)
    assert [function_of(body) for body in server.requests] == ["adler_of", "store_block"]
    # The first two answers are in the cache.
    assert [function_of(body) for body in other.requests] == ["deflate_block", "add_mod", "usage"]
    assert "5 of 17 functions judged: 0 replaced by libraries, 0 pruned, 17 left to translate" in second.out


@pytest.mark.slow
def test_roots_limit_the_scope_and_types_remain(jarvis: Jarvis, project: Path) -> None:
    (project / "roots.txt").write_text("# the interface\nadler_of\nencode_lengths\nadler_of\n")
    with ModelServer(forever=judge) as server:
        ended = replaced(jarvis, project, server, "--root-list-file", project / "roots.txt")

    assert ended.code == 0, ended.err
    assert set(functions(project)) == {"adler_of", "add_mod", "encode_lengths", "emit_bits", "package_merge"}
    assert {row["name"] for row in rows(project, "symbols.jsonl") if row["category"] == "type"} == {"node", "method"}


@pytest.mark.slow
def test_libraries_that_are_not_allowed_or_disabled_replace_nothing(jarvis: Jarvis, project: Path) -> None:
    with ModelServer(forever=judge) as server:
        ended = replaced(jarvis, project, server, "--disabled-libs", "CRC32FAST,STD", "--library", "adler")

    assert ended.code == 0, ended.err
    assert [row["name"] for row in rows(project, "library_replacements.jsonl")] == ["adler_of"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--root-list-syms", "adler_off"], 'no function is named "adler_off" (did you mean "adler_of"?)'),
        (["--root-list-file", "none.txt"], "cannot read none.txt: No such file or directory"),
        (["-g", "large"], 'there is no group "large"'),
        (["--fetch-crates", "--disabled-libs", "CRC32FAST,package-merge"], "--fetch-crates: no crate is allowed"),
    ],
)
def test_unknown_names_are_one_line(jarvis: Jarvis, project: Path, options: list[str], message: str) -> None:
    with ModelServer() as server:
        ended = replaced(jarvis, project, server, *options)

    assert ended.code == 2
    assert message in ended.line


def test_without_a_model_the_command_that_needs_none_is_named(jarvis: Jarvis, project: Path) -> None:
    ended = jarvis("c2rust", "lib-replace", "-p", project)

    assert ended.code == 2
    assert ended.line.endswith("to convert a library without a model: jarvis c2rust fast")


def test_a_project_that_was_not_scanned_is_told_so(jarvis: Jarvis) -> None:
    with ModelServer() as server:
        ended = replaced(jarvis, jarvis.place, server)

    assert (ended.code, "scan the project first: jarvis c2rust scan" in ended.line) == (2, True)


def test_a_replacement_that_is_no_longer_allowed_is_refused(jarvis: Jarvis, project: Path) -> None:
    path = project / ".jarvis" / "c2rust" / "symbols.jsonl"
    lines = rows(project, "symbols.jsonl")
    for line in lines:
        if line["name"] == "crc32_of":
            line |= {"ref": ["lib::evil"], "lib_replacement": {"libraries": ["evil"]}}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with ModelServer() as server:
        ended = replaced(jarvis, project, server)

    assert ended.code == 2
    assert "crc32_of is replaced, but evil is not in c2rust.allowed_crates; scan the project again" in ended.line
