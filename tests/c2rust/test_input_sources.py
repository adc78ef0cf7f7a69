"""Inputs use what the project offers: its makers of structures, initialisers, callbacks and string literals."""

import re
from pathlib import Path

import pytest

from jarvis_workers.c2rust.input_sources import InputSources, input_sources
from jarvis_workers.c2rust.inputs import CallPlan, plan_calls
from jarvis_workers.c2rust.project import Project
from tests.c2rust.deliveries import translated

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
struct box;
struct state { int ready; int used; char *name; };
struct box *box_new(int size);
int box_size(struct box *box) { return box != NULL; }
void state_init(struct state *s, int used) { s->ready = 1; s->used = used; s->name = "literal text"; }
int state_open(const char *name, struct state **to) { *to = malloc(sizeof **to); return *to && name; }
struct part { int number; };
struct whole { int ready; int count; struct part *first; };
void whole_init(struct whole *w) { w->ready = 1; w->count = 0; w->first = NULL; }
int part_number(const struct part *p) { return p->number; }
static int started, level;
void start(void) { started = 1; level = 2; }
int state_used(const struct state *s) { return s->ready ? s->used : -1; }
int twice(int n) { return 2 * n; }
int apply(int (*f)(int), int n) { return f(n); }
int end(FILE *file) { return fclose(file); }
FILE *open_it(const char *name) { return fopen(name, "r"); }
int is_literal(const char *text, int length) { return text[0] == 'l' && length; }
int use(void) { return is_literal("in a call", -4711); }
"""
OTHER = """
#include <stdlib.h>
struct box { int size; };
struct box *box_new(int size) { struct box *b = malloc(sizeof *b); if (b) b->size = size; return b; }
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root: Path = tmp_path_factory.mktemp("sources")
    return translated(root, {"a.c": SOURCE, "b.c": OTHER}).project


@pytest.fixture(scope="module")
def sources(project: Project) -> InputSources:
    return input_sources(project)


def plan(project: Project, sources: InputSources, name: str) -> CallPlan:
    item = next(one for one in project.functions if one.slot == name)
    return plan_calls(item, sources.mappings.get(item.definition.key, ()), "x86_64", sources)


def test_an_opaque_structure_is_made_by_a_function_or_filled_by_its_definition(
    project: Project, sources: InputSources
) -> None:
    found = plan(project, sources, "box_size")

    assert found.reason == ""
    made = [lines for lines in found.inputs if re.fullmatch(r"g [0-9a-f]+\nc box_new\nG 0\n", lines)]
    filled = [lines for lines in found.inputs if re.fullmatch(r"o 4\n(w 0 \w+\n)?G 0\n", lines)]
    assert made
    assert filled


def test_a_structure_is_prepared_by_a_function_that_assigns_its_members(
    project: Project, sources: InputSources
) -> None:
    text = plan(project, sources, "state_used").text()

    assert re.search(r"^G 0\ng [0-9a-f]+\nc state_init\n(G 0\ng [0-9a-f]+\nc state_init\n)?G 0$", text, re.MULTILINE)


def test_a_callback_is_a_function_of_the_same_type(project: Project, sources: InputSources) -> None:
    text = plan(project, sources, "apply").text()

    assert {"G =twice", "G -"} <= set(text.splitlines())
    assert "G =state_used" not in text


def test_a_structure_is_stored_where_a_parameter_points_to(project: Project, sources: InputSources) -> None:
    text = plan(project, sources, "state_used").text()

    assert re.search(r"^o 8\n(o .*\nw .*\n)?(G 1|g 0)\nG 0\nc state_open\nl 0 0\nG \d$", text, re.MULTILINE)


def test_a_structure_is_what_a_member_of_another_one_points_to(project: Project, sources: InputSources) -> None:
    text = plan(project, sources, "part_number").text()

    assert re.search(r"^G 0\nc whole_init\nl 0 8\nG 2$", text, re.MULTILINE)


def test_functions_that_assign_globals_are_called_before(project: Project, sources: InputSources) -> None:
    assert [(one.slot, one.weight) for one in sources.starters] == [("start", 4)]
    assert "\nc start\n" in plan(project, sources, "twice").text()


def test_constant_arguments_of_calls_are_among_the_arguments(project: Project, sources: InputSources) -> None:
    text = plan(project, sources, "is_literal").text()

    assert re.search(rf"^w 0 {b'in a call'.hex()}\nG \d+\ng ffffffffffffed99$", text, re.MULTILINE)


def test_literals_of_the_file_are_among_the_strings(project: Project, sources: InputSources) -> None:
    assert f"w 0 {b'literal text'.hex()}" in plan(project, sources, "is_literal").text()


def test_a_structure_of_a_library_with_pointers_is_made_never_filled(project: Project, sources: InputSources) -> None:
    found = plan(project, sources, "end")

    assert found.inputs
    assert all(re.search(r"\nc open_it\n(G \d+|g 0)\n$", lines) or lines.endswith("g 0\n") for lines in found.inputs)
    sources.setups.pop(next(key for key, some in sources.setups.items() if some[0].slot == "open_it"))
    assert plan(project, sources, "end").reason.endswith(", which only a library can fill")


def test_a_setup_function_that_cannot_be_called_is_left_out(tmp_path: Path) -> None:
    source = """
    struct box { int size; };
    int box_size(struct box *box) { return box->size; }
    void box_init(struct box *box, long double size) { box->size = (int)size; }
    """
    project = translated(tmp_path, {"a.c": source}).project
    found = plan(project, input_sources(project), "box_size")

    assert found.inputs
    assert "c box_init" not in found.text()
