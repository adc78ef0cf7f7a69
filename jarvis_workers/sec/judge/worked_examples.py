"""Worked examples for the reviewer: one for each category of rules, on the code that the rule itself documents.

They are part of the system prompt, which is the same in all conversations, so that providers cache it.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from jarvis_workers.agents.tools.tool import Language
from jarvis_workers.sec.rules import RULES_BY_PATTERN


class WorkedExample(NamedTuple):
    """A verdict on the `bad` or `good` example of a rule; `line` is the quoted line of that code, from 1."""

    pattern: str
    code_kind: str
    line: int
    answer: Mapping[str, Any]
    analysis: Mapping[Language, str]

    @property
    def code(self) -> str:
        return str(getattr(RULES_BY_PATTERN[self.pattern], self.code_kind))

    def text(self, language: Language) -> str:
        """Return the example for the prompt: rule, numbered code, and the important fields of the answer."""
        rule = RULES_BY_PATTERN[self.pattern]
        lines = self.code.splitlines()
        file = "a.rs#f" if rule.language == "rust" else "a.c#f"
        evidence = [{"file": file, "line": self.line, "quote": lines[self.line - 1].strip()}]
        answer = {"gid": 1, "analysis": self.analysis[language], **self.answer, "evidence": evidence}
        numbered = (f"{number}| {line}" for number, line in enumerate(lines, 1) if line.strip())
        return "\n".join([f"{self.pattern} ({rule.category})", *numbered, json.dumps(answer, ensure_ascii=False)])


def _risk(exposure: str, severity: str, confidence: float) -> dict[str, Any]:
    return {"verdict": "risk", "exposure": exposure, "severity": severity, "confidence": confidence}


def _other(verdict: str, confidence: float) -> dict[str, Any]:
    return {"verdict": verdict, "exposure": "", "severity": "", "confidence": confidence}


EXAMPLES = (
    WorkedExample(
        "unsafe_api",
        "bad",
        2,
        _risk("self", "low", 0.9),
        {
            "en": "argv[1] has any length, name holds 31 characters and NUL, nothing checks the length. The user"
            " passes argv[1] to their own program.",
            "zh": "argv[1] 长度任意，name 只能容纳 31 个字符和 NUL，没有长度检查。argv[1] 由用户自己传给自己的程序。",
        },
    ),
    WorkedExample(
        "flow_buffer_overflow",
        "good",
        3,
        _other("no_risk", 0.98),
        {
            "en": "name has 16 bytes, the literal needs 10 with its NUL; it is the only write.",
            "zh": "name 有 16 字节，字面量连同 NUL 需要 10 字节，且这是唯一的写入。",
        },
    ),
    WorkedExample(
        "flow_path_traversal",
        "bad",
        4,
        _risk("remote", "high", 0.9),
        {
            "en": "name comes from the peer of s and reaches fopen without a check for ../ or a fixed directory.",
            "zh": "name 来自 s 的对端，未检查 ../ 也未限定目录就传给 fopen。",
        },
    ),
    WorkedExample(
        "alloc_size_overflow",
        "bad",
        1,
        _other("unclear", 0.5),
        {
            "en": "The product overflows if width and height come from a file header; their source is in no file of"
            " the project.",
            "zh": "如果 width 和 height 来自文件头，乘积会溢出；但项目中没有任何文件给出它们的来源。",
        },
    ),
    WorkedExample(
        "flow_unchecked_null",
        "bad",
        4,
        _risk("oom", "low", 0.9),
        {
            "en": "malloc returns NULL only if memory runs out; p[0] is then written without a check.",
            "zh": "malloc 仅在内存耗尽时返回 NULL，此时未经检查就写入 p[0]。",
        },
    ),
    WorkedExample(
        "check_then_use",
        "bad",
        2,
        _risk("local", "medium", 0.7),
        {
            "en": "Between access and open, another local user who can write to a directory of path replaces it with"
            " a link.",
            "zh": "在 access 与 open 之间，能写入路径所在目录的其他本地用户可以把它替换成链接。",
        },
    ),
    WorkedExample(
        "error_path_leak",
        "good",
        3,
        _other("no_risk", 0.95),
        {
            "en": "The only return between strdup and the end frees copy first.",
            "zh": "strdup 之后唯一的提前返回在返回前释放了 copy。",
        },
    ),
    WorkedExample(
        "secret_compare",
        "bad",
        1,
        _risk("remote", "medium", 0.7),
        {
            "en": "received comes from the peer, and memcmp ends at the first difference: its time reveals the HMAC.",
            "zh": "received 来自对端，memcmp 在第一个不同字节处结束，其耗时会泄露 HMAC。",
        },
    ),
    WorkedExample(
        "open_permissive_perms",
        "bad",
        1,
        _risk("local", "medium", 0.8),
        {
            "en": "Every local user may change the state file, which the program reads again.",
            "zh": "任何本地用户都能修改该状态文件，而程序会再次读取它。",
        },
    ),
    WorkedExample(
        "time_apis_not_threadsafe",
        "good",
        2,
        _other("no_risk", 0.98),
        {
            "en": "localtime_r writes to variables of this function; there is no shared buffer.",
            "zh": "localtime_r 写入本函数的变量，没有共享缓冲区。",
        },
    ),
    WorkedExample(
        "inet_legacy",
        "bad",
        1,
        _risk("remote", "low", 0.8),
        {
            "en": "Both calls return the same static buffer, so that the log shows one address twice.",
            "zh": "两次调用返回同一个静态缓冲区，日志会把同一个地址显示两次。",
        },
    ),
    WorkedExample(
        "get_unchecked",
        "good",
        2,
        _other("no_risk", 0.97),
        {
            "en": "assert! is active in every build and compares the same index with the same slice.",
            "zh": "assert! 在所有构建中都有效，并以同一索引与同一切片比较。",
        },
    ),
)
ONE_OF_EACH_VERDICT = tuple({one.answer["verdict"]: one for one in reversed(EXAMPLES)}.values())
