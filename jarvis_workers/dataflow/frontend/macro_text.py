"""Expand macros within the text of a macro: parameters that are types or operators have no node to substitute."""

import re
from collections.abc import Mapping, Sequence

EXPANSIONS_MAX, TEXT_MAX = 4, 3_000
VARIADIC = b"__VA_ARGS__"
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|' rb"'(?:[^'\\]|\\.)*'|\w+|.", re.DOTALL)
PASTED_REST = re.compile(rb"#\s*#\s*(?=__VA_ARGS__\b)")
CALLED = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
Texts = Mapping[str, tuple[tuple[bytes, ...], bytes]]


def without_operators(body: bytes, params: Sequence[bytes]) -> bytes:
    """Replace `#parameter` by a string literal, and drop the `##` before the variable arguments."""
    if b"#" not in body:
        return body
    body = PASTED_REST.sub(b"", body)
    names = b"|".join(re.escape(name) for name in (*params, VARIADIC) if name != b"...")
    return re.sub(rb"(?<!#)#\s*(?:" + names + rb")\b(?!\s*##)", b'""', body)


def with_expansions(body: bytes, texts: Texts) -> bytes | None:
    """Expand the calls of macros that are in `texts`; None if the text becomes too long."""
    for _ in range(EXPANSIONS_MAX):
        opening = next((one for one in CALLED.finditer(body) if _name(one) in texts), None)
        if opening is None:
            return body
        params, text = texts[_name(opening)]
        args, end = _arguments(body, opening.end())
        body = body[: opening.start()] + _filled(without_operators(text, params), params, args) + body[end:]
        if len(body) > TEXT_MAX:
            return None
    return body


def with_loops(code: bytes, texts: Texts) -> bytes:
    """Expand the calls of macros that are the head of a loop, which do not parse; lines keep their numbers."""
    parts, done = [], 0
    for opening in CALLED.finditer(code):
        if opening.start() < done or _name(opening) not in texts:
            continue
        params, text = texts[_name(opening)]
        args, end = _arguments(code, opening.end())
        lines = code.count(b"\n", opening.start(), end)
        head = _filled(text, params, args).replace(b"\n", b" ")
        parts += [code[done : opening.start()], head, b"\n" * lines]
        done = end
    return b"".join([*parts, code[done:]])


def _name(opening: re.Match[bytes]) -> str:
    return opening.group(1).decode("latin-1")


def _arguments(text: bytes, start: int) -> tuple[list[bytes], int]:
    """Return the arguments of a call whose parenthesis opens before `start`, and the end of the call."""
    args, depth, end = [b""], 0, len(text)
    for token in TOKEN.finditer(text, start):
        word = token[0]
        if word == b")" and not depth:
            end = token.end()
            break
        depth += (word in b"([{") - (word in b")]}") if len(word) == 1 else 0
        if word == b"," and not depth:
            args.append(b"")
        else:
            args[-1] += word
    return [arg.strip() for arg in args], end


def _filled(body: bytes, params: Sequence[bytes], args: Sequence[bytes]) -> bytes:
    values = dict(zip(params, args, strict=False))
    if params and params[-1] == b"...":
        values[VARIADIC] = b", ".join(args[len(params) - 1 :])
    return b"".join([values.get(token[0], token[0]) for token in TOKEN.finditer(body)])
