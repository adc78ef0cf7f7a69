"""Units that declare or name the same things differently are translated to one crate."""

from pathlib import Path

from jarvis_workers.c2rust.project import read_project
from jarvis_workers.c2rust.translation import TranslatedProject, translate_project
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.toolchain.headers import builtin_headers


def translated(root: Path, **sources: str) -> TranslatedProject:
    for name, text in sources.items():
        (root / f"{name}.c").write_text(text)
    commands = [CompileCommand(f"{name}.c".encode(), b"", ()) for name in sources]
    return translate_project(read_project(read_definitions(root, one, builtin_headers(None)) for one in commands))


def body(project: TranslatedProject, name: str) -> str:
    return next(one.body.text for one in project.functions if one.item.rust_name == name and one.body)


def test_a_function_declared_with_two_types_is_called_by_the_type_of_the_unit(tmp_path: Path) -> None:
    first = "int outside(int *); int a(int *p) { return outside(p); }"
    second = "int outside(const char *); int b(const char *s) { return outside(s); }"
    project = translated(tmp_path, first=first, second=second)

    assert project.declarations()["outside"] == "pub fn outside(a0: *mut i32) -> i32;"
    assert "return outside(p);" in body(project, "a")
    cast = 'core::mem::transmute::<*const (), unsafe extern "C" fn(*const i8) -> i32>(outside as *const ())(s)'
    assert f"return {cast};" in body(project, "b")


def test_a_local_variable_has_another_name_than_a_global_of_another_unit(tmp_path: Path) -> None:
    first = "extern int optind; int level; int a(void) { return optind + level; }"
    second = "int b(int level) { int optind = level; return optind; }"
    project = translated(tmp_path, first=first, second=second)

    assert "let mut optind_2: i32 = level_2;" in body(project, "b")


def test_a_function_whose_records_differ_between_units_is_called_by_the_type_of_the_unit(tmp_path: Path) -> None:
    first = "struct s { int n; }; struct s *make(void) { return 0; }"
    second = "struct s { int n; char c; }; struct s *make(void); struct s *b(void) { return make(); }"
    project = translated(tmp_path, first=first, second=second)

    cast = 'core::mem::transmute::<*const (), unsafe extern "C" fn() -> *mut second__s>(make as *const ())()'
    assert f"return {cast};" in body(project, "b")
