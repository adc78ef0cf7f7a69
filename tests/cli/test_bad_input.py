"""What a user meets when something is wrong: one clear line, the right exit code, and no gap that goes unsaid."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.chaos.commands import crowd
from tests.cli.commands import COPY, SYSTEM, obey_modes
from tests.executors.dispatch.test_broker_address import WRONG

MEGABYTE = 1_000_000
DENSE = "strcpy(a, b);\n" * 2000


def not_checked(text):
    return {gap["file"]: gap["reason"] for gap in json.loads(text)["summary"]["not_checked"]}


def found_in(text):
    return {issue["file"] for issue in json.loads(text)["issues"]}


def scan(jarvis, tree, *options):
    return jarvis("sec", "fast", "-p", tree, "--format", "json", *options)


# What is to be scanned.


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nothere", "jarvis: nothere: no such file or directory"),
        ("a.c/x", "jarvis: a.c/x: no such file or directory"),
        ("", "jarvis: a path to scan is empty; give a directory or a file, or . for this directory"),
        ("/dev/null", "jarvis: /dev/null: device, not a regular file; give a directory or a file"),
        ("loop", "jarvis: loop: symbolic link loop"),
        ("empty", "jarvis: empty: no C, C++ or Rust files to scan (no file has a suffix of the selected languages)"),
        ("docs", "jarvis: docs: no C, C++ or Rust files to scan (no file has a suffix of the selected languages)"),
        ("made", "jarvis: made: no C, C++ or Rust files to scan (left out: excluded directory: build)"),
        (
            "docs/n.txt",
            "jarvis: docs/n.txt: no C, C++ or Rust files to scan "
            "(left out: given by name, but not in a selected language: 1)",
        ),
    ],
)
def test_what_cannot_be_scanned_is_one_line_and_leaves_no_run(jarvis, path, says):
    jarvis.tree(".", {"a.c": COPY, "docs/n.txt": "text", "made/build/a.c": COPY})
    Path("empty").mkdir()
    Path("loop").symlink_to("loop")

    ended = jarvis("sec", "fast", "-p", path)

    assert (ended.code, ended.out, ended.line) == (2, "", says)
    assert "no runs yet" in jarvis("runs", "list").line
    assert not Path("empty/.jarvis").exists()


def test_a_file_is_scanned_alone_and_nothing_is_left_beside_it(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, "b.c": COPY})

    ended = scan(jarvis, tree / "a.c")

    assert ended.code == 0
    assert found_in(ended.out) == {"tree/a.c"}
    assert sorted(path.name for path in tree.iterdir()) == ["a.c", "b.c"]


@pytest.mark.slow
@pytest.mark.timing
def test_what_may_not_be_read_is_named(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, "secret.c": COPY, "private/b.c": COPY})
    for path in ("secret.c", "private"):
        (tree / path).chmod(0)

    ended = jarvis.spawn("sec", "fast", "-p", tree, "--format", "json", preexec_fn=obey_modes())

    (tree / "private").chmod(0o700)
    assert ended.code == 3
    assert not_checked(ended.out) == {name: "no permission to read it" for name in ("secret.c", "private")}
    assert found_in(ended.out) == {"a.c"}
    assert "NOT CHECKED: 2" in ended.line


def test_odd_bytes_in_a_file_hide_nothing(jarvis):
    files = {
        "latin.c": b"/* caf\xe9 */\n" + COPY.encode(),
        "utf16.c": COPY.encode("utf-16"),
        "utf8bom.c": COPY.encode("utf-8-sig"),
        "nul.c": b"\0\0\n" + COPY.encode() + b"\0",
    }

    ended = scan(jarvis, jarvis.tree("tree", files))

    assert ended.code == 0
    assert {(i["file"], i["line"]) for i in json.loads(ended.out)["issues"]} == {
        ("latin.c", 2),
        ("utf16.c", 1),
        ("utf8bom.c", 1),
        ("nul.c", 2),
    }


# A process counts the memory of the one it was forked from as its own: a small one stands between.
MEASURED = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "jarvis_cli", *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
NESTED = {
    "deep.c": "{" * 50_000 + "\n" + COPY + "}" * 50_000 + "\n" + "(" * 50_000,
    "deep.rs": "{" * 50_000 + "\nunsafe { x() }\n" + "/*" * 50_000,
}


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(
    ("files", "code"),
    [
        pytest.param(NESTED, 0, id="nested"),
        pytest.param({"one.c": b"int a; " * 14_000_000}, 3, id="one long line", marks=pytest.mark.slow),
        pytest.param({"one.c": b"int a; strcpy(a, b); " * 5_000_000}, 3, id="one long line of calls"),
    ],
)
def test_monstrous_files_take_neither_long_nor_much_memory(jarvis, files, code):
    tree = jarvis.tree("tree", files)
    start = time.monotonic()
    command = ["sec", "fast", "-p", str(tree), "-o", "r.json", "-j", "1", "-q"]
    said = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, timeout=100, check=True
    )
    returned, kilobytes = map(int, said.stdout.split())

    assert returned == code
    assert time.monotonic() - start < 10 * crowd()
    assert 2 * kilobytes * 1024 < 1000 * MEGABYTE, "the command and its child, each at most as large"
    gaps = not_checked(Path("r.json").read_text())
    assert set(gaps) == ({"one.c"} if code else set())


def test_code_that_the_flow_rules_do_not_read_is_not_checked_and_counts_once(jarvis):
    twice = "char *p = malloc(4); if (!p) return 0; free(p); free(p); return 0;"
    macros = f"#define BEGIN {{\n#define END }}\nint f(int n)\nBEGIN\n    {twice}\nEND\n"
    blocks = f"int f(int n)\n{{\n    n = ({{ {twice} }});\n    return ({{ {twice} }});\n}}\n"
    tree = jarvis.tree("tree", {"macros.c": macros, "blocks.c": blocks, "fine.c": f"int f(int n) {{ {twice} }}\n"})

    ended = scan(jarvis, tree)

    assert ended.code == 3
    not_run = "data-flow rules did not run on"
    assert [tuple(gap.values()) for gap in json.loads(ended.out)["summary"]["not_checked"]] == [
        ("blocks.c", f"{not_run} f to its end (line 1): its block in an expression in line 3 is not analyzed"),
        (
            "macros.c",
            f"{not_run} code outside of functions to its end (line 5): the parser finds no function around it",
        ),
    ]


def test_odd_names_are_in_every_file_and_no_report_breaks(jarvis):
    tree = jarvis.tree("tree", {"sp ace.c": COPY, "new\nline.c": COPY, "ünï.c": COPY, "`tick`|.c": COPY})
    Path(os.fsdecode(os.fsencode(tree) + b"/bad\xff.c")).write_text(COPY)
    names = {"sp ace.c", "new\nline.c", "ünï.c", "`tick`|.c", "bad\\xff.c"}

    ended = scan(jarvis, tree)
    markdown = jarvis("runs", "report", "last", "--format", "markdown").out

    assert ended.code == 0
    assert found_in(ended.out) == names
    kept = (tree / ".jarvis/sec/heuristic_issues.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["file"] for line in kept} == names
    assert "#### `new\\nline.c`\n" in markdown
    assert "#### `bad\\xff.c`\n" in markdown
    assert "#### `sp ace.c`\n" in markdown


def test_a_root_with_an_odd_name_stays_on_its_line(jarvis):
    tree = Path(os.fsdecode(os.fsencode(jarvis.place) + b"/a\n\x1b[31m\xff"))
    tree.mkdir()
    (tree / "a.c").write_text(COPY)

    assert scan(jarvis, tree).code == 0
    listed = jarvis("runs", "list").out.splitlines()
    assert len(listed) == 2
    assert listed[1].endswith("/a\\n\\x1b[31m\\xff")
    assert (tree / ".jarvis" / "sec" / "progress.jsonl").is_file()


def test_links_are_never_followed_and_those_that_hide_source_are_named(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    jarvis.tree("outside", {"b.c": COPY})
    for name, target in {
        "one.c": "two.c",
        "two.c": "one.c",
        "again": ".",
        "same.c": "a.c",
        "out.c": "../outside/b.c",
        "outdir": "../outside",
    }.items():
        (tree / name).symlink_to(target)

    ended = scan(jarvis, tree)

    leaves = "symbolic link to a target outside the root; scan the target separately"
    assert ended.code == 3
    assert not_checked(ended.out) == {
        "one.c": "symbolic link loop",
        "two.c": "symbolic link loop",
        "out.c": leaves,
        "outdir": leaves,
    }
    assert found_in(ended.out) == {"a.c"}


def test_a_pipe_is_not_waited_for(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    os.mkfifo(tree / "pipe.c")

    ended = scan(jarvis, tree)

    assert ended.code == 3
    assert not_checked(ended.out) == {"pipe.c": "named pipe, not a regular file"}


def test_a_device_is_not_read(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    try:
        os.mknod(tree / "zero.c", 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")

    ended = scan(jarvis, tree)

    assert ended.code == 3
    assert not_checked(ended.out) == {"zero.c": "device, not a regular file"}


@pytest.mark.slow
@pytest.mark.timing
def test_a_file_that_does_not_stand_still_is_named(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, "log.c": ""})
    os.truncate(tree / "log.c", 200 * MEGABYTE)
    stop = threading.Event()

    def keep_writing():
        moment = 1
        while not stop.is_set():
            os.utime(tree / "log.c", ns=(moment, moment))
            moment += 1

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        ended = scan(jarvis, tree)
    finally:
        stop.set()
        writer.join()

    assert ended.code == 3
    assert not_checked(ended.out) == {"log.c": "changed repeatedly while it was read"}


# What the user asks for.


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-o", "no/r.md"], "jarvis: -o no/r.md: its directory does not exist; name a file, or - for stdout"),
        (["-o", "tree"], "jarvis: -o tree: is a directory; name a file, or - for stdout"),
        (["-o", "x" * 300], f"jarvis: -o {'x' * 300}: cannot be written: File name too long; name a file, or - for"),
        (["--format", "pdf"], 'jarvis: --format: "pdf" is not one of text, json, markdown'),
        (["--fail-on", "huge"], 'jarvis: --fail-on: "huge" is not one of low, medium, high'),
        (
            ["--detach"],
            "jarvis: --detach needs a cluster (JARVIS_BROKER_URL): a local run is executed by this command; leave",
        ),
        (
            ["--where", "cluster"],
            "jarvis: a cluster needs a broker: set JARVIS_BROKER_URL, such as redis://localhost:6379/0",
        ),
        (["--where", "moon"], "jarvis: command line: \"where\" is 'moon', should be 'local' or 'cluster'"),
        (["--languages", "perl"], "jarvis: command line: \"scan.languages\" is 'perl', should be 'c/cpp' or 'rust'"),
        (["--min-confidence", "7"], 'jarvis: --min-confidence: "7" is not a number from 0 to 1'),
        (["-j", "-1"], 'jarvis: --processes: "-1" is not a whole number of at least 0'),
        (["-j", "x"], 'jarvis: --processes: "x" is not a whole number of at least 0'),
        (["--fial-on", "high"], "jarvis sec fast: No such option: --fial-on"),
    ],
)
def test_a_wrong_option_is_one_line_before_any_work(jarvis, options, says):
    tree = jarvis.tree("tree", {"a.c": COPY})

    ended = jarvis("sec", "fast", "-p", "tree", *options)

    assert (ended.code, ended.out) == (2, "")
    assert ended.line.startswith(says)
    assert not (tree / ".jarvis").exists()


@pytest.mark.slow
@pytest.mark.timing
def test_a_report_that_cannot_be_written_is_refused_before_the_work(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    Path("shut").mkdir(mode=0o555)

    ended = jarvis.spawn("sec", "fast", "-p", tree, "-o", "shut/r.md", preexec_fn=obey_modes())

    assert ended.code == 2
    assert ended.line == "jarvis: -o shut/r.md: no permission to write to it; name a file, or - for stdout"
    assert not (tree / ".jarvis").exists()


@pytest.mark.slow
def test_a_report_that_finds_no_room_can_be_had_again(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})

    ended = jarvis("sec", "fast", "-p", tree, "-o", "/dev/full")

    again, why = ended.err.splitlines()
    assert ended.code == 2
    assert "its report again with: jarvis runs report " in again
    assert why == "jarvis: -o /dev/full: cannot be written: No space left on device"
    assert Path("/dev/full").is_char_device()
    assert jarvis("runs", "report", "last").code == 0


@pytest.mark.slow
@pytest.mark.timing
def test_standard_output_without_room_is_a_failure(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    with Path("/dev/full").open("wb") as full:
        process = jarvis.start("sec", "fast", "-p", tree, stdout=full, stderr=subprocess.PIPE)
        said = process.communicate()[1].decode()

    assert process.returncode == 2
    assert said.splitlines()[-1] == "jarvis: the report cannot be written: No space left on device"


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("command", ["runs list --json", "doctor", "config show", "sec rules", "--version"])
def test_output_without_room_is_one_line(jarvis, monkeypatch, command):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1" if command == "sec rules" else "")
    with Path("/dev/full").open("wb") as full:
        process = jarvis.start(*command.split(), stdout=full, stderr=subprocess.PIPE)
        said = process.communicate()[1].decode()

    assert process.returncode == 2
    assert said.splitlines()[-1] == "jarvis: cannot write the output: No space left on device"
    assert "internal" not in said


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("command", ["runs list", "sec rules", "--version"])
def test_closed_standard_output_is_one_line(jarvis, command):
    jarvis("sec", "fast", "-p", jarvis.tree("tree", {"a.c": COPY}))

    ended = jarvis.spawn(*command.split(), preexec_fn=lambda: os.close(1))

    assert (ended.code, ended.line) == (2, "jarvis: cannot write the output: standard output is closed")


@pytest.mark.slow
@pytest.mark.timing
def test_closed_standard_streams_are_no_crash(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})

    no_output = jarvis.spawn("sec", "fast", "-p", tree, preexec_fn=lambda: os.close(1))
    assert no_output.code == 2
    assert no_output.line == "jarvis: standard output is closed; name a file for the report with -o"

    no_errors = jarvis.spawn("sec", "fast", "-p", tree, "-o", "r.md", preexec_fn=lambda: os.close(2))
    assert no_errors.code == 0
    assert Path("r.md").is_file()
    assert whole(jarvis)


@pytest.mark.parametrize("name", ["", "10%", "a\nb"])
def test_what_is_no_run_id_is_one_line(jarvis, name):
    ended = jarvis("runs", "show", name)

    assert ended.code == 2
    assert ended.line.endswith("is not a run id; see: jarvis runs list")


@pytest.mark.parametrize("name", ["zzz", "_"])
def test_an_unknown_run_is_one_line(jarvis, name):
    ended = jarvis("runs", "show", name)

    assert ended.code == 2
    assert ended.line.startswith(f'jarvis: no run "{name}" in sqlite:///')
    assert ended.line.endswith("see: jarvis runs list")


@pytest.mark.slow
def test_an_ambiguous_run_is_told_apart(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    ids = [jarvis.submit(tree) for _ in range(17)]
    beginning = next(one[0] for one in ids if sum(other[0] == one[0] for other in ids) > 1)

    ended = jarvis("runs", "show", beginning)

    assert ended.code == 2
    assert f'jarvis: "{beginning}" matches several runs, such as {beginning}' in ended.line


# Settings.


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("jarvis.yaml", "stor_url: x\n", 'jarvis.yaml:1: unknown setting "stor_url" (did you mean "store_url"?)'),
        ("jarvis.yaml", "processes: many\n", "jarvis.yaml:1: \"processes\" is 'many', should be a whole number"),
        ("jarvis.yaml", "a: [\n", "jarvis.yaml:2: "),
        ("pyproject.toml", "[tool.jarvis]\nprocesses = 'x'\n", 'pyproject.toml [tool.jarvis]: "processes" is '),
        (
            "pyproject.toml",
            "[tool.jarvis.scan]\nbatchmb = 1\n",
            'pyproject.toml [tool.jarvis]: unknown setting "scan.b',
        ),
    ],
)
def test_a_wrong_setting_in_a_file_is_one_line(jarvis, file, text, says):
    jarvis.tree("tree", {"a.c": COPY})
    Path(file).write_text(text)

    ended = jarvis("sec", "fast", "-p", "tree")

    assert ended.code == 2
    assert ended.line.startswith(f"jarvis: {says}")


@pytest.mark.parametrize("number", ["0x" + "f" * 50_000, "1" * 5_000])
def test_a_number_of_too_many_digits_is_one_line(jarvis, number):
    jarvis.tree("tree", {"a.c": COPY})
    Path("pyproject.toml").write_text(f"[tool.jarvis]\nwhere = {number}\n")

    ended = jarvis("sec", "fast", "-p", "tree")

    assert ended.code == 2
    assert "pyproject.toml" in ended.line
    assert len(ended.line) < 300


@pytest.mark.parametrize("text", ["rules: [!!bool x]", "rules: [!!timestamp x]", "[1" + ":00" * 3_000 + "]"])
def test_a_rule_file_of_the_tree_that_is_no_yaml_is_one_line(jarvis, text):
    jarvis.tree("tree", {"a.c": COPY, ".jarvis/rules/own.yaml": text})

    ended = jarvis("sec", "fast", "-p", "tree", "--project-rules")

    assert ended.code == 2
    assert "own.yaml:1: " in ended.line


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("JARVIS_STOR_URL", "x", '(did you mean "JARVIS_STORE_URL"?)'),
        ("JARVIS_PROCESSES", "many", "JARVIS_PROCESSES: is 'many', should be a whole number"),
        ("JARVIS_BROKER_URL", "redis://127.0.0.1:1", "is Redis running? see JARVIS_BROKER_URL"),
        ("JARVIS_STORE_URL", "mysql://x/y", 'JARVIS_STORE_URL: "mysql" is not supported; use sqlite or postgresql'),
        ("JARVIS_STORE_URL", "what", "JARVIS_STORE_URL: not a database address; expected sqlite:////path/file.db or"),
    ],
)
def test_a_wrong_variable_is_one_line(jarvis, monkeypatch, variable, value, says):
    monkeypatch.setenv(variable, value)
    jarvis.tree("tree", {"a.c": COPY})

    ended = jarvis("sec", "fast", "-p", "tree")

    assert ended.code == 2
    assert says in ended.line


@pytest.mark.sample(3)
@pytest.mark.parametrize("url", WRONG)
@pytest.mark.parametrize("command", [("sec", "fast", "-p", "tree"), ("worker", "start", "--queues", "scan")])
def test_a_wrong_address_of_the_broker_is_one_line(jarvis, monkeypatch, url, command):
    monkeypatch.setenv("JARVIS_BROKER_URL", url)
    jarvis.tree("tree", {"a.c": COPY})

    ended = jarvis(*command)

    assert ended.code == 2
    assert ended.line.startswith("jarvis: JARVIS_BROKER_URL: ")
    assert WRONG[url] in ended.line


# The store.


@pytest.mark.timing
@pytest.mark.parametrize("address", ["postgresql:///x?host=/nowhere", "postgresql://u:pass@127.0.0.1:1/x"])
def test_a_database_that_is_not_there_is_one_line_soon(jarvis, monkeypatch, address):
    monkeypatch.setenv("JARVIS_STORE_URL", address)
    tree = jarvis.tree("tree", {"a.c": COPY})
    start = time.monotonic()

    ended = jarvis("sec", "fast", "-p", tree)

    assert time.monotonic() - start < 5
    assert ended.code == 2
    assert ended.line.endswith("is the database running? see JARVIS_STORE_URL")
    assert "pass@" not in ended.line


@pytest.mark.slow
def test_a_database_without_our_schema_says_how_to_make_it(jarvis, monkeypatch, postgres_server):
    postgres_server.sql("CREATE DATABASE bare")
    monkeypatch.setenv("JARVIS_STORE_URL", postgres_server.url("bare"))

    ended = jarvis("runs", "list")

    assert ended.code == 2
    assert ended.line.endswith("the store's schema is missing; run: jarvis admin migrate")
    assert "the schema is up to date" in jarvis("admin", "migrate").out
    assert jarvis("runs", "list").code == 0


def test_a_store_with_a_newer_schema_is_refused_and_left_alone(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    jarvis.submit(tree)
    with sqlite3.connect(store_file(jarvis)) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.close()

    ended = jarvis("sec", "fast", "-p", tree)

    assert ended.code == 2
    assert 'the store has the newer schema "9999"; upgrade jarvis-workers, or use another store' in ended.line


def test_a_file_that_is_no_store_is_refused_and_left_alone(jarvis):
    store_file(jarvis).write_text("my diary\n" * 1000)

    ended = jarvis("runs", "list")

    assert ended.code == 2
    assert "file is not a database" in ended.line
    assert store_file(jarvis).read_text().startswith("my diary")


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("made", [True, False])
def test_a_data_directory_that_cannot_be_written_is_one_line(jarvis, made):
    tree = jarvis.tree("tree", {"a.c": COPY})
    folder = jarvis.settings.data_dir
    if made:
        jarvis.submit(tree)
        store_file(jarvis).chmod(0o444)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    (folder if made else folder.parent).chmod(0o555)

    ended = jarvis.spawn("sec", "fast", "-p", tree, preexec_fn=obey_modes())

    (folder if made else folder.parent).chmod(0o755)
    assert ended.code == 2
    assert str(folder) in ended.line
    assert "set JARVIS_" in ended.line or "see JARVIS_" in ended.line


@pytest.mark.slow
@pytest.mark.timing
def test_a_full_disk_pauses_a_run_that_goes_on_when_there_is_room(jarvis):
    tree = jarvis.tree("tree", {f"{n}.c": f"/* {n} */\n{DENSE}" for n in range(2)})

    ended = jarvis.spawn("sec", "fast", "-p", tree, preexec_fn=files_up_to(400_000))

    assert ended.code == 2
    assert "is not finished; continue with: jarvis runs resume " in ended.err
    assert "free some space" in ended.err.splitlines()[-1]
    assert "Traceback" not in ended.err
    assert whole(jarvis)
    assert json.loads(jarvis("runs", "list", "--json").out)[0]["state"] in ("paused", "abandoned")
    resumed = jarvis("runs", "resume", "last", "--format", "json")
    assert resumed.code == 0
    assert json.loads(resumed.out)["summary"]["total"] == 4000


@pytest.mark.slow
@pytest.mark.timing
def test_no_room_for_the_sources_leaves_no_run_and_the_next_submit_works(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, "big.c": "\n" * MEGABYTE})

    ended = jarvis.spawn("sec", "fast", "-p", tree, preexec_fn=files_up_to(400_000))

    assert ended.code == 2
    assert "File too large; free some space" in ended.line
    assert whole(jarvis)
    assert "no runs yet" in jarvis("runs", "list").line
    assert jarvis("sec", "fast", "-p", tree).code == 0


@pytest.mark.timing
@pytest.mark.slow
def test_a_full_file_system_pauses_a_run_that_goes_on_when_there_is_room(jarvis, monkeypatch):
    folder = jarvis.place / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        monkeypatch.setenv("JARVIS_DATA_DIR", str(folder))
        tree = jarvis.tree("tree", {f"{n}.c": f"/* {n} */\n{DENSE}" for n in range(4)})

        ended = jarvis("sec", "fast", "-p", tree)

        assert ended.code == 2
        assert "free some space" in ended.err.splitlines()[-1]
        assert whole(jarvis)
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        resumed = jarvis("runs", "resume", "last", "--format", "json")
        assert resumed.code == 0
        assert json.loads(resumed.out)["summary"]["total"] == 8000
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.slow
def test_a_damaged_copy_of_the_sources_is_not_scanned_and_is_named(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, "b.c": SYSTEM})
    run = jarvis.submit(tree, paused=True)
    blobs = [path for path in (jarvis.settings.data_dir / "blobs").rglob("*") if path.is_file()]
    shard = next(path for path in blobs if COPY.encode() in path.read_bytes())
    shard.write_bytes(shard.read_bytes().replace(b"strcpy", b"strlen"))

    ended = jarvis("runs", "resume", run, "--format", "json")

    gaps = not_checked(ended.out)
    assert ended.code == 3
    assert "a.c" in gaps
    assert shard.name in gaps["a.c"]
    assert "submit the tree again" in gaps["a.c"]
    assert "submit again to check the files" in jarvis("runs", "retry", run).line


@pytest.mark.slow
def test_a_damaged_blob_is_replaced_by_the_next_scan(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY, "b.c": SYSTEM})
    scan = ("sec", "fast", "-p", tree, "--no-cache", "--format", "json", "--profile")
    assert jarvis(*scan).code == 0
    blobs = [path for path in (jarvis.settings.data_dir / "blobs").rglob("*") if path.is_file()]
    shard = next(path for path in blobs if COPY.encode() in path.read_bytes())
    shard.write_bytes(shard.read_bytes().replace(b"strcpy", b"strlen"))

    damaged, mended = jarvis(*scan), jarvis(*scan)

    assert damaged.code == 3
    assert "submit the tree again" in not_checked(damaged.out)["a.c"]
    assert (mended.code, not_checked(mended.out)) == (0, {})


@pytest.mark.slow
@pytest.mark.timing
def test_two_commands_on_one_store_both_finish_and_report_right(jarvis):
    trees = [jarvis.tree(name, {"a.c": COPY, f"{name}.c": SYSTEM * 200}) for name in ("one", "two")]

    both = [
        jarvis.start("sec", "fast", "-p", tree, "-o", f"{tree.name}.json", "-q", stderr=subprocess.PIPE)
        for tree in trees
    ]

    assert [(process.communicate()[1], process.returncode) for process in both] == [(b"", 0)] * 2
    totals = [json.loads(Path(f"{tree.name}.json").read_text())["summary"]["total"] for tree in trees]
    assert totals[0] == totals[1] > 200
    assert found_in(Path("one.json").read_text()) == {"a.c", "one.c"}


@pytest.mark.slow
@pytest.mark.timing
def test_a_tree_that_cannot_be_written_gets_a_warning_and_its_report(jarvis):
    tree = jarvis.tree("tree", {"a.c": COPY})
    tree.chmod(0o555)

    ended = jarvis.spawn("sec", "fast", "-p", tree, "--format", "json", preexec_fn=obey_modes())

    assert ended.code == 0
    assert found_in(ended.out) == {"a.c"}
    assert (
        f"{tree}/.jarvis/sec: cannot write the run's files: Permission denied; to write them elsewhere: jarvis"
        in ended.err
    )


def store_file(jarvis):
    return jarvis.settings.data_dir / "jarvis.db"


def whole(jarvis):
    database = sqlite3.connect(store_file(jarvis))
    said = database.execute("PRAGMA integrity_check").fetchall()
    database.close()
    return said == [("ok",)]


def files_up_to(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
