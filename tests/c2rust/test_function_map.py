"""The Rust texts of functions, for `jarvis c2rust map`."""

import pytest

from jarvis_workers.c2rust import function_map
from jarvis_workers.c2rust.conversion import FunctionResult
from jarvis_workers.c2rust.function_map import STATUSES, rust_texts

MODULE = "static COUNT: i32 = 0;\nfn one() {}\n\npub fn two() {}\n\nfn rust_one() {}\n"


def function(name: str, module: str = "a", signature: str = "") -> FunctionResult:
    return FunctionResult(name, "a.c", 1, 2, module, name, signature)


def test_shim_body_and_locals_of_each_function_are_in_the_order_of_the_module() -> None:
    functions = [function("two"), function("one", signature="fn rust_one()"), function("none"), function("two", "b")]
    assert rust_texts({"src/a.rs": MODULE.encode()}, functions) == [
        "pub fn two() {}",
        "static COUNT: i32 = 0;\nfn one() {}\n\nfn rust_one() {}",
        "",
        "",
    ]


def test_a_module_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed, read = list[str](), function_map.read_items
    monkeypatch.setattr(function_map, "read_items", lambda text: parsed.append(text) or read(text))
    rust_texts({"src/a.rs": MODULE.encode()}, [function("one"), function("two")] * 50)
    assert parsed == [MODULE]


def test_each_status_is_offered_once() -> None:
    assert len(STATUSES) == len(set(STATUSES))
    assert {"translated", "pruned", "not_checked"} <= set(STATUSES)
