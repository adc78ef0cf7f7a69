"""The evaluation with held-out tests, and the replay of published outputs, on projects of one function."""

from pathlib import Path

import pytest

from tests.agents.loop.server import Body, ModelServer, Step, calls
from tests.agents.loop.translating import task_of
from tests.bench import c2rust_interface_replay as replay
from tests.bench.eval_crust import dependencies, given_crate, hold_out, lines, write_files
from tests.support.servers import require
from tests.support.settings_files import write_settings

GIVEN = "pub fn twice(n: i32) -> i32 { unimplemented!() }\n"
TESTS = """use {name}::numbers::twice;
fn main() {{}}
#[test]
fn doubles_one() {{ assert_eq!(twice(1), 2); }}
#[test]
fn doubles_three() {{ assert_eq!(twice(3), 6); }}
"""
RIGHT, WRONG = (GIVEN.replace("unimplemented!()", body) for body in ("2 * n", "n + 1"))
REFUSED = RIGHT.replace("n: i32", "n: i64")
UNBUILT = RIGHT.replace("2 * n", "2 * m")


def projects(place: Path, **answers: str) -> Path:
    """Write a project for each answer, as CRUST-bench publishes them."""
    for name, answer in answers.items():
        files = {
            "src/interfaces/numbers.rs": GIVEN,
            "src/bin/test_numbers.rs": TESTS.format(name=name),
            "src/numbers.rs": answer,
            "src/lib.rs": "pub mod numbers;",
            "Cargo.toml": '[dependencies]\nrand = "0.8"\n',
            "data.txt": "data",
        }
        write_files(place / name, {path: text.encode() for path, text in files.items()})
    return place


def test_a_crate_is_made_of_interfaces_and_tests(tmp_path: Path) -> None:
    crate = given_crate(projects(tmp_path, one=RIGHT) / "one")
    assert sorted(crate) == ["Cargo.toml", "data.txt", "src/bin/test_numbers.rs", "src/lib.rs", "src/numbers.rs"]
    assert crate["src/numbers.rs"].decode() == GIVEN
    assert b"rand" not in crate["Cargo.toml"]
    assert dependencies(tmp_path / "one", crate) == []
    assert dependencies(tmp_path / "one", {**crate, "src/a.rs": b"use rand::Rng; // serde::x"}) == ["rand"]


def test_every_second_test_is_held_out(tmp_path: Path) -> None:
    crate = given_crate(projects(tmp_path, one=RIGHT) / "one")
    shown, hidden = hold_out(crate)
    assert hidden == {"src/bin/test_numbers.rs: doubles_three"}
    assert b"doubles_one" in shown["src/bin/test_numbers.rs"]
    assert b"doubles_three" not in shown["src/bin/test_numbers.rs"]


@pytest.mark.slow
def test_shown_and_held_out_tests_are_counted_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer passes the test that the model may learn of, and fails the other one."""
    require("cargo")
    crates, c = projects(tmp_path / "crates", one=RIGHT), tmp_path / "c"
    write_files(c / "one", {"numbers.c": b"int twice(int n) { return 2 * n; }"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))

    def learns(body: Body) -> Step:
        assert "doubles" not in task_of(body)
        return calls("submit_report", files=[{"path": "src/numbers.rs", "rust": WRONG}])

    with ModelServer(forever=learns) as server:
        group = {"model": "m", "base_url": server.url, "profile": "deepseek", "api_key": "k"}
        write_settings(tmp_path, {"models": {"m": group}})
        report = list(lines(c, crates, ["one"], ["-m", "0"]))

    assert report[1:] == [
        "| one | yes | 1 of 1 | 0 of 1 | 0 | 0 | 1 | unknown |",
        "1 projects: 1 build with all bodies",
        "1 of 1 shown tests pass; all of them in 1 of 1",
        "0 of 1 held-out tests pass; all of them in 0 of 1",
        "0 lines of unsafe code; 1 answers; cost unknown",
    ]


@pytest.mark.long
def test_published_outputs_pass_and_fail_as_with_cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cargo")
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    answers = {"right": RIGHT, "wrong": WRONG, "refused": REFUSED, "unbuilt": UNBUILT, "left": GIVEN}
    places = projects(tmp_path / "outputs", **answers)

    report = list(replay.lines(places, answers))

    assert report[1:6] == [
        "| right | 2 of 2 | 2 of 2 | same |",
        "| wrong | 1 of 2 | 1 of 2 | same |",
        "| refused | does not build | refused: src/numbers.rs: it must keep `pub fn twice ( _ : i32 ) - > i32` | |",
        "| unbuilt | does not build | does not build | same |",
        "| left | 0 of 2 | 0 of 2, 1 functions without a body | same |",
    ]
    assert report[6:] == [
        "4 projects say the same (1 of them pass all tests),",
        "0 differ, 1 answers are refused by the gate form,",
        "0 projects need crates",
    ]
