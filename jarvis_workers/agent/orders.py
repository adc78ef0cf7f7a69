"""How lines look that are meant for a model: a row a way. Blanks stand for any room: a broken line is no way out.

Block is what no source code has to say; Review what an honest comment may say as well; Warn what only insists.
"""

import re
from dataclasses import dataclass
from typing import Literal

Level = Literal["block", "review", "warn"]


@dataclass(frozen=True)
class Pattern:
    """A way; `rule` names it in a report."""

    rule: str
    level: Level
    words: tuple[str, ...]
    regex: re.Pattern[str]


def _ways(rule: str, level: Level, words: str, *regexes: str) -> Pattern:
    """Make a row; a text in which none of `words` stands, in small letters, has no match."""
    text = "|".join(regex.replace(" ", r"\s+") for regex in regexes)
    return Pattern(rule, level, tuple(words.split(",")), re.compile(text, re.IGNORECASE))


EARLIER = (
    r"(?:all |any |every |the |your |these |of ){0,4}"
    r"(?:previous|prior|above|earlier|preceding|existing|system|former) (?:\w{1,30} )?"
)
ORDERS = r"(?:instructions?|prompts?|rules?|directions?|guidelines?|context|messages?)\b"
PATTERNS = (
    _ways(
        "forget_orders",
        "block",
        "ignore,disregard,forget,override,bypass,忽略,无视,忘记,忘掉",
        rf"\b(?:ignore|disregard|forget|override|bypass) {EARLIER}{ORDERS}",
        rf"\b(?:ignore|disregard|forget) (?:all|any|everything)(?: of)?(?: your)? {ORDERS}",
        r"(?:忽略|无视|忘记|忘掉).{0,12}(?:指令|指示|提示|规则|说明)",
    ),
    _ways(
        "new_role",
        "block",
        "now,act,你现在是,从现在开始",
        r"\b(?:you are now|from now on,? you(?: are| will| must)?)\b",
        r"\bact as (?:an? |the )?(?:ai|assistant|system)\b",
        r"(?:你现在是|从现在开始,?你)",
    ),
    _ways(
        "new_orders",
        "block",
        "instruction,prompt",
        r"\b(?:new|updated|real|actual) (?:system )?(?:instructions?|prompt)\s*:",
    ),
    _ways(
        "control_words",
        "block",
        "<|,inst],sys>>",
        r"<\|\s*/?(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\b",
        r"\[/?INST\]",
        r"<</?SYS>>",
    ),
    _ways(
        "tool_call",
        "block",
        "tool_call,function_call,invoke",
        r"</?\s*TOOL_CALL\b",
        r"</?tool_calls?>",
        r"\"tool_calls\"\s*:",
        r"</?function_calls?>",
        r"</?invoke\b",
    ),
    _ways(
        "ending",
        "block",
        "!!!complete!!!,report>,clusters>,submit_report",
        r"!!!COMPLETE!!!",
        r"</?REPORT>",
        r"</?CLUSTERS>",
        r"\bsubmit_report\b",
    ),
    _ways(
        "verdict",
        "block",
        "mark,report,classify,treat,consider,flag,mention",
        r"\b(?:mark|report|classify|treat|consider) (?:this|it|the (?:code|function|file|finding|issue)) (?:\w{1,30} )?"
        r"as (?:safe|benign|secure|false[- ]positive|not vulnerable)",
        r"\b(?:do not|don't|never) (?:report|flag|mention) (?:this|it|any|the)\b",
    ),
    _ways(
        "secrets",
        "block",
        "reveal,print,repeat,show,output",
        r"\b(?:reveal|print|repeat|show|output) (?:\w{1,30} ){0,2}(?:system prompt|instructions|api key)\b",
    ),
    _ways(
        "to_the_model",
        "review",
        "ai,llm,model,assistant,reviewer,auditor,analyser,analyzer,scanner",
        r"\b(?:note|message|attention|instructions?) (?:to|for) (?:the |any |all )?"
        r"(?:ai|llms?|language models?|assistants?|reviewers?|auditors?|analy[sz]ers?|scanners?)\b",
        r"\b(?:as an ai|large language model|dear (?:ai|assistant|model))\b",
    ),
    _ways(
        "claim",
        "review",
        "audited,verified,proven,reviewed,sanitized,validated,positive",
        r"\b(?:has been|was|is) (?:fully |already |formally )?"
        r"(?:audited|verified|proven|reviewed|sanitized|validated)\b"
        r".{0,60}\b(?:safe|secure|caller|correct)\b",
        r"\b(?:known|confirmed) false[- ]positive\b",
    ),
    _ways("insists", "warn", "important,crucial", r"\b(?:very )?important\s*[:!]", r"\bcrucial\s*:"),
)
