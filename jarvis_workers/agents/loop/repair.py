"""Lenient parser for reports that a model wrote as almost valid YAML or JSON.

Repairs are tried in order of invasiveness, starting with none; the caller takes the first value that its schema
accepts. No repair changes content: scalars remain text until the schema types them (`no` is text in a text field, `010`
is ten). Duplicate keys, a truncated report, and contradictory reports are errors.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

BODY_MAX = 200_000
THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
OPEN_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*$", re.MULTILINE)
WHOLE_FENCE = re.compile(r"\A(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*\n(.*)\n[ \t]*\1\Z", re.DOTALL)
INVISIBLE = re.compile("[\ufeff\u200b-\u200d\u2060\u00ad]")
SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u3000]")
TRAILING_COMMA = re.compile(r",(\s*[}\]])")
LINE_COMMA = re.compile(r"(?<=\S),[ \t]*$", re.MULTILINE)
SMART = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'"})
BULLET = re.compile(r"^([ \t]*)[*•–][ \t]+", re.MULTILINE)
BOLD_KEY = re.compile(r"^([ \t]*(?:- )?)[*_`\"']+(\w+)[*_`\"']*[ \t]*:[*_]*(?=[ \t]|$)", re.MULTILINE)
TIGHT_COLON = re.compile(r"^([ \t]*(?:-[ \t]+)?\w+)[ \t]*(?::(?=\S)|=(?!=)|：)[ \t]*", re.MULTILINE)
KEY_LINE = re.compile(r"^(?P<lead>[ \t]*(?:-[ \t]+)?)(?P<key>[A-Za-z_][\w -]*?)[ \t]*:[ \t]+(?P<value>\S.*?)[ \t]*$")
MARKED = ('"', "'", "|", ">", "[", "{", "&", "!")
NOTHING = frozenset({"null", "~", "Null", "NULL", "None"})

PARSER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
AROUND = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent)
ENDS = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
DEEPEST = 20


class Unreadable(ValueError):
    """An answer without a readable report; the message is for the model."""


def bodies(answer: str, tag: str) -> list[str]:
    """Return the texts between the tags, or the whole answer if it consists of a report only.

    Raises Unreadable for a missing or unterminated report.
    """
    text = THOUGHTS.sub("", answer)
    if OPEN_THOUGHT.search(text):
        raise Unreadable("it ends before its reasoning block is closed")
    texts = _between(text, tag) or _between(html.unescape(text), tag)
    if texts:
        return texts
    whole = text.strip()
    fenced = WHOLE_FENCE.match(whole)
    inner = fenced[2] if fenced else whole
    if not fenced and not inner.startswith(("{", "[", "- ")):
        raise Unreadable(f"there is no report between <{tag}> and </{tag}>")
    return [inner]


def readings(body: str, words: frozenset[str]) -> Iterator[Any]:
    """Yield the values that a text parses to, the least repaired first; `words` are the names of text fields."""
    if len(body) > BODY_MAX:
        return
    seen: list[str] = []
    for text in _versions(body, words):
        if text in seen:
            continue
        seen.append(text)
        for read in (_json, _yaml):
            try:
                yield read(text)
            except (ValueError, RecursionError, yaml.YAMLError):
                continue


def _between(text: str, tag: str) -> list[str]:
    name = r"[ _]?".join(map(re.escape, tag.split("_")))
    starts = list(re.finditer(rf"<[ \t]*{name}[ \t]*>", text, re.IGNORECASE))
    ends = list(re.finditer(rf"<[ \t]*/[ \t]*{name}[ \t]*>", text, re.IGNORECASE))
    if not starts and not ends:
        return []
    if len(starts) != len(ends) or any(end.start() < start.end() for start, end in zip(starts, ends, strict=True)):
        raise Unreadable(f"each <{tag}> needs exactly one </{tag}> after it")
    if any(start.start() < end.end() for end, start in zip(ends, starts[1:], strict=False)):
        raise Unreadable(f"a <{tag}> is nested in another")
    return [text[start.end() : end.start()] for start, end in zip(starts, ends, strict=True)]


def _versions(body: str, words: frozenset[str]) -> Iterator[str]:
    """Yield the text with increasingly invasive repairs."""
    clean = SPACES.sub(" ", INVISIBLE.sub("", body)).replace("\r\n", "\n").replace("\r", "\n")
    clean = FENCE.sub("", clean) if FENCE.search(clean) else clean
    clean = _dedented(clean.expandtabs(2))
    yield _quoted(clean, words)
    yield clean
    straight = clean.translate(SMART)
    yield straight
    spaced = TIGHT_COLON.sub(r"\1: ", BOLD_KEY.sub(r"\1\2:", BULLET.sub(r"\1- ", straight)))
    yield _quoted(spaced, words)
    without = LINE_COMMA.sub("", TRAILING_COMMA.sub(r"\1", spaced))
    yield TRAILING_COMMA.sub(r"\1", straight)
    yield _quoted(without, words)
    yield _level(_quoted(without, words))


def _dedented(text: str) -> str:
    lines = [line.rstrip() for line in text.split("\n")]
    indents = [len(line) - len(line.lstrip()) for line in lines if line]
    least = min(indents, default=0)
    return "\n".join(line[least:] for line in lines).strip("\n")


def _level(text: str) -> str:
    """Give all fields of an item the same indentation."""
    lines = text.split("\n")
    if any(line.rstrip().endswith(("|", ">", ":", "|-", ">-")) for line in lines):
        return text
    return "\n".join(
        f"- {line.lstrip()[2:].lstrip()}" if line.lstrip().startswith("- ") else f"  {line.strip()}" for line in lines
    )


def _quoted(text: str, words: frozenset[str]) -> str:
    """Quote single-line text values, which YAML would cut at a colon or a hash."""
    lines = text.split("\n")
    return "\n".join(
        _quote(line, lines[place + 1] if place + 1 < len(lines) else "", words) for place, line in enumerate(lines)
    )


def _quote(line: str, following: str, words: frozenset[str]) -> str:
    match = KEY_LINE.match(line)
    if not match or plain_key(match["key"]) not in words or match["value"].startswith(MARKED):
        return line
    indent = len(match["lead"])
    goes_on = following.strip() and len(following) - len(following.lstrip()) > indent and not KEY_LINE.match(following)
    return line if goes_on else f"{match['lead']}{match['key']}: {json.dumps(match['value'], ensure_ascii=False)}"


def plain_key(key: object) -> str:
    """Normalize a field name to the spelling of the schemas: `Has-Risk` becomes has_risk."""
    return re.sub(r"[\s-]+", "_", str(key).strip().strip("*_`\"'")).lower()


def _json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_each_once, strict=False)


def _each_once(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


def with_plain_fields(value: Any, schema: Mapping[str, Any]) -> Any:
    """Normalize the names of fields in a value, as its JSON schema has them; keys of free maps are data and remain.

    Raises ValueError if a field occurs twice.
    """
    return _with_fields(value, [schema], schema.get("$defs", {}))


def _with_fields(value: Any, schemas: Sequence[Mapping[str, Any]], definitions: Mapping[str, Any]) -> Any:
    """Normalize a value that has one of several schemas; an object in place of a list is its only item."""
    schemas = [one for schema in schemas for one in _alternatives(schema, definitions)]
    items = [schema["items"] for schema in schemas if isinstance(schema.get("items"), Mapping)]
    if isinstance(value, list):
        return [_with_fields(one, items, definitions) for one in value]
    if not isinstance(value, Mapping):
        return value
    schemas += [one for schema in items for one in _alternatives(schema, definitions)]
    fields = [schema["properties"] for schema in schemas if "properties" in schema]
    free = [
        schema["additionalProperties"] for schema in schemas if isinstance(schema.get("additionalProperties"), Mapping)
    ]
    pairs = [(plain_key(name) if fields else name, inner) for name, inner in value.items()]
    return {
        name: _with_fields(inner, [one[name] for one in fields if name in one] or free, definitions)
        for name, inner in _each_once(pairs).items()
    }


def _alternatives(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a schema with its reference resolved, or those of a union."""
    if name := schema.get("$ref"):
        return _alternatives(definitions[name.rpartition("/")[2]], definitions)
    union = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    return [one for part in union for one in _alternatives(part, definitions)] if union else [schema]


def _yaml(text: str) -> Any:
    """Parse one YAML document of lists, mappings and text; raises ValueError for duplicate keys and aliases."""
    events = iter(yaml.parse(text, Loader=PARSER))
    documents = [_value(events, event, DEEPEST) for event in events if not isinstance(event, AROUND)]
    result = [document for document in documents if document]
    if len(result) != 1 or isinstance(result[0], str):
        raise ValueError("not a single list or mapping")
    return result[0]


def _value(events: Iterator[yaml.Event], event: yaml.Event, depth: int) -> Any:
    if depth == 0 or isinstance(event, yaml.AliasEvent):
        raise ValueError("nested too deeply, or contains an alias")
    if isinstance(event, yaml.ScalarEvent):
        if event.style in ("|", ">"):
            return event.value.rstrip("\n")
        return None if event.style is None and event.value in NOTHING else event.value
    inner = []
    while not isinstance(following := next(events), ENDS):
        inner.append(_value(events, following, depth - 1))
    if isinstance(event, yaml.SequenceStartEvent):
        return inner
    return _each_once(list(zip(inner[::2], inner[1::2], strict=True)))
