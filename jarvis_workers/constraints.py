"""What a value in a file should be, in plain words: the messages of pydantic name its own types and steps."""

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAPPING = "should be a mapping of names to values"
LIST = "should be a list"
WHOLE, NUMBER, FLAG, STRING = (
    "should be a whole number",
    "should be a number",
    "should be true or false",
    "should be a string",
)
# Keyed by pydantic's type of an error; the values are filled in from its context.
REQUIREMENTS = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), WHOLE),
    **dict.fromkeys(("float_type", "float_parsing"), NUMBER),
    **dict.fromkeys(("bool_type", "bool_parsing"), FLAG),
    **dict.fromkeys(("string_type", "string_unicode"), STRING),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"), LIST),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"), MAPPING),
    "finite_number": "should be a finite number",
    "greater_than": "should be greater than {gt}",
    "greater_than_equal": "should be at least {ge}",
    "less_than": "should be less than {lt}",
    "less_than_equal": "should be at most {le}",
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
}
# The zone of an IPv6 address may follow a plain percent sign: [fe80::1%eth0].
IPV6 = re.compile(r"\[[^\[\]@/]*\]")
NO_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
PREFIXES = ("Value error, ", "Input ", "String ")


def requirement(wrong: "ErrorDetails") -> str:
    """Return what an invalid value should be, as the predicate of a sentence: "should be a list"."""
    context = {name: _shown(value) for name, value in wrong.get("ctx", {}).items()}
    kind = wrong["type"]
    if kind in REQUIREMENTS:
        return REQUIREMENTS[kind].format(**context)
    if kind == "string_pattern_mismatch":
        pattern = str(context["pattern"]).removeprefix(r"\A").removesuffix(r"\z")
        return f"should match {pattern}"
    for name, form in (("min_length", "at least"), ("max_length", "at most")):
        if name in context:
            unit = "character" if kind.startswith("string") else "item"
            return f"should have {form} {context[name]} {unit}{'' if context[name] == '1' else 's'}"
    says = wrong["msg"]
    for prefix in PREFIXES:
        says = says.removeprefix(prefix)
    return says


def percent_error(address: str) -> str | None:
    """Return what is wrong with the percent-encoding of an address; None if nothing.

    Parsers of addresses do not tell: they leave such text as it is, or replace it (RFC 3986, section 2.1).
    """
    text = IPV6.sub("", address)
    if NO_ESCAPE.search(text):
        return "a % is not followed by two hexadecimal digits; write %25 for the character %"
    try:
        unquote(text, errors="strict")
    except UnicodeDecodeError:
        return "what is percent-encoded is not UTF-8"
    return None


def _shown(value: object) -> object:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else value


def located(wrong: "ErrorDetails") -> str:
    """Return the message of an error of pydantic, after its place if it has one."""
    place = ".".join(map(str, wrong["loc"]))
    return f"{place}: {wrong['msg']}" if place else str(wrong["msg"])
