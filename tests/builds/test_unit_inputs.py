"""The files on which a unit depends."""

from pathlib import Path

import pytest

from jarvis_workers.builds.unit_inputs import UnitInputs
from jarvis_workers.source.clang.unit import CompileCommand

FILES = {
    "src/a.c": '#include "a.h"\nint a;\n',
    "include/a.h": "#include <deep.h>\n",
    "include/sys/deep.h": "#define DEEP 1\n",
    "include/other.h": "#define OTHER 1\n",
    "config.h": "#define CONFIG 1\n",
}
UNIT = CompileCommand(b"src/a.c", b".", ("-include", "{root}/config.h"))


def digest(tree: Path, command: CompileCommand = UNIT, **changed: str) -> str:
    for name, text in {
        **FILES,
        **{name.replace("__", "/").replace("_h", ".h"): text for name, text in changed.items()},
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return UnitInputs(tree).digest(command)


def test_a_unit_depends_on_what_it_includes_and_on_its_arguments(tmp_path: Path) -> None:
    before = digest(tmp_path)

    assert digest(tmp_path) == before
    assert digest(tmp_path, include__other_h="#define OTHER 2\n") == before
    assert digest(tmp_path, include__sys__deep_h="#define DEEP 2\n") != before
    assert digest(tmp_path, config_h="#define CONFIG 2\n") != before
    assert digest(tmp_path, UNIT._replace(arguments=("-DX",))) != before


def test_a_file_that_may_be_found_first_counts(tmp_path: Path) -> None:
    before = digest(tmp_path)

    assert digest(tmp_path, src__deep_h="#define DEEP 3\n") != before


@pytest.mark.parametrize(
    "definition", ["", '#define CONFIG_HEADER "own.h"\n', "#define CONFIG_HEADER <own.h> // its own\n"]
)
def test_a_macro_names_what_its_definitions_name(tmp_path: Path, definition: str) -> None:
    files = {"include__a_h": "#include CONFIG_HEADER\n", "include__more_h": definition, "src__own_h": ""}
    before = digest(tmp_path, **files)

    assert digest(tmp_path, **files, include__other_h="#define OTHER 3\n") == before
    assert (digest(tmp_path, **{**files, "src__own_h": "#define OWN 3\n"}) != before) == bool(definition)


@pytest.mark.parametrize(
    "definition",
    [
        "#define CONFIG_HEADER HEADER(config)\n",
        "#define CONFIG_HEADER \\\n",
        '#def\\\nine CONFIG_HEADER "other.h"\n',
    ],
)
def test_a_macro_may_name_any_file(tmp_path: Path, definition: str) -> None:
    files = {"include__a_h": "#include CONFIG_HEADER\n", "include__more_h": definition}
    before = digest(tmp_path, **files)

    assert digest(tmp_path, **files, include__other_h="#define OTHER 3\n") != before


def test_a_macro_of_the_command_line_may_name_any_file(tmp_path: Path) -> None:
    unit = UNIT._replace(arguments=("-DCONFIG_HEADER=<other.h>",))
    before = digest(tmp_path, unit, include__a_h="#include CONFIG_HEADER\n")

    changed = {"include__a_h": "#include CONFIG_HEADER\n", "include__other_h": "#define OTHER 3\n"}
    assert digest(tmp_path, unit, **changed) != before


def test_links_count_as_what_they_lead_to_inside_the_tree(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tmp_path / "outside.h").write_text("#define DEEP 1\n")
    digest(tree)
    (tree / "include/sys/deep.h").unlink()
    (tree / "real.h").write_text("#define DEEP 1\n")
    (tree / "include/sys/deep.h").symlink_to("../../real.h")
    through = UnitInputs(tree).digest(UNIT)
    (tree / "real.h").write_text("#define DEEP 2\n")

    assert UnitInputs(tree).digest(UNIT) != through
    (tree / "include/sys/deep.h").unlink()
    (tree / "include/sys/deep.h").symlink_to("/dev/zero")
    alone = UnitInputs(tree).digest(UNIT)
    assert alone != through
