"""Scripted models that translate functions: their answers are made from the question."""

import re
from collections.abc import Callable, Mapping

from jarvis_workers.agents.loop.nonces import LINE_MARKS
from tests.agents.loop.server import Body, Step, calls

HEAD = re.compile(r"^[^\s\w]?((?:unsafe )?fn rust_(\w+)\(.*)$", re.MULTILINE)
MECHANICAL = re.compile(
    r'^pub unsafe extern "C" fn (?:r#)?\w+\(([^{]*)\)(?: -> [^{]*)? \{\n(.*?)\n\}$', re.MULTILINE | re.DOTALL
)
MARK = re.compile(rf"^[{re.escape(LINE_MARKS)}]", re.MULTILINE)
FAILING = re.compile(r"-> Result<(.*), ErrorCode<(\w+)>>")
PARAMETER = re.compile(r"(mut )?((?:r#)?\w+): ([^,]*(?:\([^)]*\)[^,]*)?)(?:, |$)")
# How an argument in Rust becomes the pointer of the mechanical translation.
POINTERS: Mapping[str, str] = {
    "Option<&mut core::mem::MaybeUninit<": "{p}.map_or(core::ptr::null_mut(), |p| p.as_mut_ptr())",
    "Option<&mut ": "{p}.map_or(core::ptr::null_mut(), core::ptr::from_mut)",
    "Option<&core::ffi::CStr>": "{p}.map_or(core::ptr::null(), |p| p.as_ptr()).cast()",
    "Option<&": "{p}.map_or(core::ptr::null(), core::ptr::from_ref)",
    "&mut core::mem::MaybeUninit<": "{p}.as_mut_ptr()",
    "&mut [": "{p}.as_mut_ptr()",
    "&mut ": "core::ptr::from_mut({p})",
    "&core::ffi::CStr": "{p}.as_ptr().cast_mut().cast()",
    "&[": "{p}.as_ptr()",
    "&": "core::ptr::from_ref({p})",
}


def task_of(body: Body) -> str:
    """Return the question of a conversation, without the paragraph that names its marks."""
    first: str = next(message["content"] for message in body["messages"] if message["role"] == "user")
    return first.partition("\n\n")[2]


def function_of(body: Body) -> str:
    """Return the C name of the function that a conversation is about."""
    match = HEAD.search(task_of(body))
    assert match, task_of(body)
    return match[2]


def answers(body: Body) -> int:
    """Return the number of answers so far."""
    return sum(message["role"] == "assistant" for message in body["messages"])


def mechanical_body(task: str) -> str:
    """Return a body with the planned signature that does what the mechanical translation in the question does.

    Returns an empty text if the question has none.
    """
    head, mechanical = HEAD.search(task), MECHANICAL.search(MARK.sub("", task.partition("How C calls")[0]))
    if head is None or mechanical is None:
        return ""
    planned = PARAMETER.findall(_parameters(head[1]))
    originals = PARAMETER.findall(" ".join(mechanical[1].replace(",\n)", ")").split()).removesuffix(","))
    slices = [name for _, name, kind in planned if kind.startswith(("&[", "&mut ["))]
    names = {name: (name, kind) for _, name, kind in planned}
    if len(planned) == len(originals):
        # A parameter may have another name if the C name is that of an item.
        names = {one[1]: (other[1], other[2]) for one, other in zip(originals, planned, strict=True)}
    prologue = []
    for mutable, name, kind in originals:
        if name not in names:
            prologue.append(f"let {mutable}{name}: {kind} = {slices.pop(0)}_.len() as {kind};" if slices else "")
            continue
        own, planned_kind = names[name]
        form = next((form for start, form in POINTERS.items() if planned_kind.startswith(start)), "{p}")
        prologue.append(f"let {own}_ = {own}; let {mutable}{name}: {kind} = {form.format(p=f'{own}_')};")
    prologue.sort(key=lambda line: "_.len()" in line)
    body = "unsafe {\n" + "\n".join([*prologue, mechanical[2]]) + "\n}\n"
    if failing := FAILING.search(head[1]):
        success, number = failing.groups()
        arm = "0 => Ok(())" if success == "()" else "value @ 0.. => Ok(value)"
        code = "code => Err(ErrorCode::new(code))"
        body = f"let result = (move || -> {number} {{ {body} }})();\n    match result {{ {arm}, {code} }}\n"
    return f"{head[1]} {{\n    // SAFETY: as in C.\n    {body}}}"


def _parameters(head: str) -> str:
    depth, start = 0, head.index("(") + 1
    for place in range(start, len(head)):
        depth += (head[place] == "(") - (head[place] == ")")
        if depth < 0:
            return head[start:place]
    return ""


def is_review(body: Body) -> bool:
    """Return whether a request asks a reviewer."""
    return "You review functions" in str(body["messages"][0]["content"])


def with_reviews(translate: Callable[[Body], Step], *issues: str) -> Callable[[Body], Step]:
    """Answer the questions of translators, and reviews with these issues."""
    found = [{"line": 1, "text": issue} for issue in issues]
    return lambda body: calls("submit_report", issues=found) if is_review(body) else translate(body)


def perfect(body: Body) -> Step:
    """Answer as the mechanical translation."""
    return calls("submit_report", rust=mechanical_body(task_of(body)))
