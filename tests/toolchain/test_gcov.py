"""The output of gcov: lines run, by file and function; what is not of the project or malformed is skipped."""

import json

from jarvis_workers.toolchain.gcov import count_lines, read_coverage


def report(directory: str, file: str, *lines: tuple[object, object, object]) -> bytes:
    rows = [{"function_name": name, "line_number": line, "count": count} for name, line, count in lines]
    return json.dumps({"current_working_directory": directory, "files": [{"file": file, "lines": rows}]}).encode()


def test_a_line_counts_as_run_if_any_program_ran_it() -> None:
    output = b"\n".join(
        [
            report("/p", "src/a.c", ("f", 1, 0), ("f", 2, 3), ("g", 9, 0)),
            report("/p/test", "../src/a.c", ("f", 1, 1), ("f", 3, 0)),
        ]
    )

    coverage = read_coverage(output, "/p")

    assert coverage == {("src/a.c", "f"): {1: True, 2: True, 3: False}, ("src/a.c", "g"): {9: False}}
    assert count_lines(coverage, "src/a.c", "f") == (3, 2)


def test_files_outside_of_the_project_and_malformed_lines_are_skipped() -> None:
    outside = [report("/q", "a.c", ("f", 1, 1)), report("/p", "../p2/a.c", ("f", 1, 1))]
    malformed = [b"{", b"[]", b"null", b'{"files": 3}', report("/p", "a.c", (1, 1, 1), ("f", "x", 1), ("f", 1, "x"))]

    assert read_coverage(b"\n".join([*outside, *malformed]), "/p") == {("a.c", "f"): {}}
