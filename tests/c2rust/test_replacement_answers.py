"""What a model answers about a library: every form that is read, and everything that is refused."""

import json
from typing import Any

import pytest

from jarvis_workers.agents.loop.report import BadReport
from jarvis_workers.c2rust.library_replacement import (
    FunctionVerdict,
    LibraryChoice,
    LibraryPolicy,
    ReplacementAnswer,
    verdict_of,
)
from jarvis_workers.c2rust.yaml_form import YamlForm

YAML = "replaceable: yes\nlibraries: [flate2]\nconfidence: 0.8\nnotes: the same format: zlib"
READ = ReplacementAnswer(replaceable=True, libraries=["flate2"], confidence=0.8, notes="the same format: zlib")
POLICY = LibraryPolicy(allowed=["flate2", "crc32_fast"], disabled=["OpenSSL"])


def read(text: str) -> ReplacementAnswer:
    answer = YamlForm(ReplacementAnswer, "SUMMARY").read_text(text)
    assert isinstance(answer, ReplacementAnswer)
    return answer


@pytest.mark.parametrize(
    "text",
    [
        f"<SUMMARY>\n<yaml>\n{YAML}\n</yaml>\n</SUMMARY>",
        f"<think>which one?</think>I compared them.\n<SUMMARY><yaml>\n{YAML}\n</yaml></SUMMARY>\nThat is all.",
        f"<SUMMARY>\n{YAML}\n</SUMMARY>",
        f"```yaml\n{YAML}\n```",
        f"I compared them:\n\n```yaml\n{YAML}\n```\n\nThat is all.",
        json.dumps(READ.model_dump()),
        f"```json\n{json.dumps(READ.model_dump())}\n```",
        f"<SUMMARY>\n{json.dumps(READ.model_dump())}\n</SUMMARY>",
    ],
)
def test_summary_yaml_fence_and_json_are_read(text: str) -> None:
    assert read(text) == READ


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I think that flate2 would do.", "there is no report"),
        ("", "there is no report"),
        (f"<SUMMARY>\n{YAML}", "needs exactly one </SUMMARY>"),
        ("<SUMMARY>\n<yaml>\nreplaceable: [true\nlibraries: flate2\n</yaml>\n</SUMMARY>", "neither YAML nor JSON"),
        ("<SUMMARY>\nreplaceable: true\n</SUMMARY>", "name the crates"),
        ("<SUMMARY>\nlibraries: flate2\n</SUMMARY>", "replaceable: Field required"),
        ("<SUMMARY>\nreplaceable: true\nlibraries: ../evil\n</SUMMARY>", "is not the name of a crate"),
        ("<SUMMARY>\nreplaceable: true\nlibraries: flаte2\n</SUMMARY>", "is not the name of a crate"),
        ("<SUMMARY>\nreplaceable: true\nlibraries: {a: b}\n</SUMMARY>", "neither a name nor a list"),
        ("<SUMMARY>\nreplaceable: true\nlibraries: a\nconfidence: .nan\n</SUMMARY>", "confidence"),
        ("<SUMMARY>\nreplaceable: &a true\nlibraries: *a\n</SUMMARY>", "neither YAML nor JSON"),
        ("<SUMMARY>\n!!python/object/apply:os.system [id]\n</SUMMARY>", "should be an object with the fields"),
        (f"<SUMMARY>\n{YAML}\n</SUMMARY>\n<SUMMARY>\nreplaceable: false\n</SUMMARY>", "2 different reports"),
        (f"<SUMMARY>\n{YAML}\n</SUMMARY>" + " " * 2_000_000, "longer than 200,000 characters"),
        (f"<SUMMARY>\n{YAML}{'x' * 2_000_000}\n</SUMMARY>", "longer than 200,000 characters"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(BadReport, match=problem):
        read(text)


@pytest.mark.parametrize(
    ("fields", "libraries", "apis"),
    [
        ({"libraries": "flate2, crc32fast"}, ("flate2", "crc32fast"), ()),
        ({"libraries": ["flate2"], "library": "crc32fast"}, ("crc32fast", "flate2"), ()),
        ({"library": "flate2", "api": "flate2::read::ZlibDecoder"}, ("flate2",), ("flate2::read::ZlibDecoder",)),
        ({"libraries": ["flate2::read"], "apis": "a, b"}, ("flate2",), ("a", "b")),
        ({"libraries": None, "library": "none"}, (), ()),
    ],
)
def test_libraries_may_be_a_text_or_a_list(fields: dict[str, Any], libraries: object, apis: object) -> None:
    choice = LibraryChoice.model_validate(fields)

    assert (choice.libraries, choice.apis) == (libraries, apis)


@pytest.mark.parametrize(("value", "number"), [("0.5", 0.5), ("85%", 0.85), (90, 0.9), (None, 0.0), (-1, 0.0)])
def test_a_confidence_is_a_fraction_or_a_percentage(value: object, number: float) -> None:
    assert LibraryChoice.model_validate({"confidence": value}).confidence == number


@pytest.mark.parametrize(
    ("libraries", "reason"),
    [
        (["openssl"], "openssl is disabled"),
        (["OPENSSL"], "OPENSSL is disabled"),
        (["flate2", "OpenSSL"], "OpenSSL is disabled"),
        (["flate3"], "flate3 is not in c2rust.allowed_crates"),
        (["flate2", "serde"], "serde is not in c2rust.allowed_crates"),
    ],
)
def test_a_disabled_or_unknown_crate_replaces_nothing(libraries: list[str], reason: str) -> None:
    verdict = verdict_of(1, READ.model_copy(update={"libraries": tuple(libraries)}), POLICY)

    assert verdict == FunctionVerdict(id=1, reason=f"{reason}; the same format: zlib")


@pytest.mark.parametrize("libraries", [["flate2"], ["std"], ["Flate2", "crc32-fast"], ["core", "alloc"]])
def test_allowed_crates_and_those_of_the_compiler_replace_a_function(libraries: list[str]) -> None:
    verdict = verdict_of(1, READ.model_copy(update={"libraries": tuple(libraries)}), POLICY)

    assert verdict.choice is not None
    assert verdict.choice.libraries == tuple(libraries)


def test_the_compilers_crates_can_be_disabled() -> None:
    assert LibraryPolicy(disabled=["STD"]).objection(["std"]) == "std is disabled"
