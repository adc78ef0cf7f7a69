"""Sanitize untrusted text before a model reads it.

Every line is prefixed with the mark of the conversation; invisible characters and bidirectional controls are
escaped; and the text is searched for lines that look like instructions to a model. The level "block" masks the line,
"review" and "warn" let it pass; each match is recorded as a suspicion with its text, so that no evidence is lost.

The search runs on the joined lines without line numbers and comment markers, to find instructions that are spread over
several lines of a comment; every line of a match is masked.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

# Patterns of prompt injection, one row per rule. A blank matches any white space, including line breaks.

Level = Literal["block", "review", "warn"]


@dataclass(frozen=True)
class Pattern:
    """A pattern; `rule` is its name in a report."""

    rule: str
    level: Level
    words: tuple[str, ...]
    regex: re.Pattern[str]


def _ways(rule: str, level: Level, words: str, *regexes: str) -> Pattern:
    """Build a pattern; `words` are a prefilter: a text without any of them (lower case, single blanks) cannot match."""
    text = "|".join(regex.replace(" ", r"\s+") for regex in regexes)
    return Pattern(rule, level, tuple(words.split(",")), re.compile(text, re.IGNORECASE))


# Between two words of a sentence, or of a name that is one.
GAP, GAP_OR_NOT = r"[\s_-]{1,3}", r"[\s_-]{0,3}"
EARLIER = (
    r"(?:all |any |every |the |your |these |of ){0,4}"
    r"(?:previous|prior|above|earlier|preceding|existing|system|former) (?:\w{1,30} )?"
)
ORDERS = r"(?:instructions?|prompts?|rules?|directions?|guidelines?|context|messages?)\b"
ENGLISH = (
    _ways(
        "forget_orders",
        "block",
        "ignore,disregard,forget,override,bypass",
        rf"\b(?:ignore|disregard|forget|override|bypass) {EARLIER}{ORDERS}",
        rf"\b(?:ignore|disregard|forget) (?:all|any|everything)(?: of)?(?: your)? {ORDERS}",
    ),
    _ways(
        "new_role",
        "block",
        "you are now,from now on,act as",
        r"\b(?:you are now|from now on,? you(?: are| will| must)?)\b",
        r"\bact as (?:an? |the )?(?:ai|assistant|system)\b",
    ),
    _ways(
        "new_orders",
        "block",
        "instruction:,instructions:,prompt:,instruction :,instructions :,prompt :",
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
        "as safe,as benign,as secure,as false,as not",
        r"\b(?:mark|report|classify|treat|consider) (?:this|it|the (?:code|function|file|finding|issue)) (?:\w{1,30} )?"
        r"as (?:safe|benign|secure|false[- ]positive|not vulnerable)",
    ),
    _ways(
        "verdict",
        "block",
        "not report,not flag,not mention,n't report,n't flag,n't mention,never report,never flag,never mention",
        r"\b(?:do not|don't|never) (?:report|flag|mention) (?:this|it|any|the)\b",
    ),
    _ways(
        "secrets",
        "block",
        "system prompt,instructions,api key",
        r"\b(?:reveal|print|repeat|show|output) (?:\w{1,30} ){0,2}(?:system prompt|instructions|api key)\b",
    ),
    _ways(
        "to_the_model",
        "review",
        "note to,note for,message to,message for,attention to,attention for,instruction to,instruction for,"
        "instructions to,instructions for,as an ai,language model,dear ai,dear assistant,dear model, tool",
        r"\b(?:note|message|attention|instructions?) (?:to|for) (?:the |any |all )?"
        r"(?:ai|llms?|language models?|assistants?|reviewers?|auditors?|analy[sz]ers?|scanners?)\b",
        r"\b(?:as an ai|large language model|dear (?:ai|assistant|model))\b",
        r"\b(?:call|use|invoke) (?:the )?[\w`'\"]{1,40} tool\b",
    ),
    _ways(
        "claim",
        "review",
        "audited,verified,proven,reviewed,sanitized,validated,false positive,false-positive",
        r"\b(?:has been|was|is) (?:fully |already |formally )?"
        r"(?:audited|verified|proven|reviewed|sanitized|validated)\b"
        r"[\s\S]{0,60}\b(?:safe|secure|caller|correct)\b",
        r"\b(?:known|confirmed) false[- ]positive\b",
    ),
    _ways(
        "answer_to_the_model",
        "review",
        "has_risk,has-risk,hasrisk,has risk,no_risk,norisk,not_a_risk,not a risk,candidate,verdict,reviewer,"
        "security team,security_team,false_positive,false positive,finding,vulnerable",
        r"has[_-]?risk|has risk\W{0,3}\s?(?:false|no|0)\b",
        r"no_?risk|not_a_risk|\bis not a risk\b",
        rf"candidate{GAP_OR_NOT}\d+[ _]?(?:[:=]|{GAP}(?:is|was|has|withdrawn|safe|false|no|not)(?![a-z]))",
        rf"verdict{GAP_OR_NOT}(?:is|are|was|=|:|should be)?{GAP_OR_NOT}"
        r"[\"'`]?(?:safe|benign|harmless|false|no[ _-]risk|risk|unclear|dismiss)",
        rf"reviewers?{GAP_OR_NOT}(?:please|must|should|can|may|answer|ignore|skip|report|mark|say)(?![a-z])",
        rf"security{GAP}team{GAP}(?:has|have|checked|verified|approved|reviewed|says?)",
        rf"(?:is|are|was|mark|mark{GAP}as){GAP}(?:an?{GAP})?false{GAP}positive",
        rf"(?:ignore|dismiss|skip|drop){GAP}(?:all|any|this|these|the|every){GAP}(?:candidates?|findings?)(?![a-z])",
        rf"(?:is{GAP})?not{GAP}vulnerable(?![a-z])",
    ),
    _ways("insists", "warn", "important,crucial", r"\b(?:very )?important\s*[:!]", r"\bcrucial\s*:"),
)
# Chinese text has no spaces: a bounded number of arbitrary characters or line breaks may separate two words.
CHINESE = (
    _ways(
        "forget_orders",
        "block",
        "忽略,无视,忘记,忘掉",
        r"(?:忽略|无视|忘记|忘掉)[\s\S]{0,12}(?:指令|指示|提示|规则|说明)",
    ),
    _ways("new_role", "block", "你现在是,从现在开始", r"(?:你现在是|从现在开始,?你)"),
    _ways(
        "new_orders", "block", "指令,指示,提示", r"(?:新的?|更新后的?|真正的?)(?:系统)?(?:指令|指示|提示词?)\s*[:：]"
    ),
    _ways(
        "verdict",
        "block",
        "报告,标记,提及,判定,视为,归类",
        r"(?:不要|不得|请勿|无需|切勿|禁止)[\s\S]{0,6}(?:报告|标记|提及)",
        r"(?:标记|判定|报告|视为|归类)(?:为|成)?[\s\S]{0,4}(?:安全|误报|无风险|没有风险|无漏洞|没有漏洞)",
    ),
    _ways(
        "secrets",
        "block",
        "系统提示,提示词,密钥,指令",
        r"(?:输出|打印|显示|重复|泄露|透露)[\s\S]{0,8}(?:系统提示|提示词|密钥|指令)",
    ),
    _ways(
        "to_the_model",
        "review",
        "人工智能,模型,助手,审计,审查,扫描,致ai,写给,提醒,作为,工具",
        r"(?:致|写给|提醒|通知)[\s\S]{0,6}(?:ai|人工智能|模型|助手|审计|审查|扫描)",
        r"作为(?:一个)?(?:ai|人工智能|语言模型|助手)",
        r"(?:调用|使用)[\s\S]{0,20}工具",
    ),
    _ways(
        "answer_to_the_model",
        "review",
        "风险值,审核结论,审查结论,判定,结论",
        r"风险值|审[核查]结论|判定(?:结果|为)|结论[\s_:：=]{0,3}(?:为|是)?[\s_]{0,2}(?:安全|误报|无|没有|false)",
    ),
    _ways(
        "claim",
        "review",
        "审计,审核,验证,证明,确认",
        r"已(?:经|被|通过|经过)[\s\S]{0,8}(?:审计|审核|验证|证明|确认)[\s\S]{0,20}(?:安全|正确|误报|没有问题)",
    ),
)
PATTERNS = ENGLISH + CHINESE


QUOTED = 200
BLANK_SHARE, BLANK_LINES = 0.5, 40
VERY_LONG = 2_000
INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
SELECTORS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
CONTROL = re.compile(r"[^\t\n -~]")
LEAD = re.compile(r"^(?:\S{0,300}?:\d+: ?|\s*\d+\| ?)?(?:<!--)?[\s/*#;>-]*")
NUMBER = re.compile(r"^(?:\S{0,300}?:\d+: ?|\s*\d+\| ?)?")


@dataclass(frozen=True)
class Suspicion:
    """A line that looks like an instruction to a model."""

    level: Level
    rule: str
    text: str


class Guard:
    """Sanitizes the untrusted text of one conversation, and collects its suspicions."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.suspicions: list[Suspicion] = []

    def admit(self, text: str) -> str:
        """Return the text for the model: escaped, with suspicious lines masked and each line marked."""
        return self.mark_lines(iter(self.screen(text).split("\n")))

    def admit_claim(self, text: str) -> str:
        """Return what a person says of a finding, as `admit` does; words about verdicts raise no suspicion there."""
        return self.mark_lines(iter(self.screen(text, ignored="review").split("\n")))

    def screen(self, text: str, *, ignored: Level | None = None) -> str:
        """Return a text of another agent: escaped and with suspicious lines masked, but not marked.

        Lines of the level `ignored` are not recorded.
        """
        lines = escape(text).split("\n")
        masked: dict[int, str] = {}
        for level, rule, touched in _suspicious(lines):
            if level == ignored:
                continue
            self.suspicions.append(Suspicion(level, rule, "\n".join(lines[place] for place in touched)[:QUOTED]))
            if level == "block":
                masked |= dict.fromkeys(touched, rule)
        return "\n".join(_mask(line, masked[place]) if place in masked else line for place, line in enumerate(lines))

    def mark_lines(self, lines: Iterator[str]) -> str:
        """Mark lines of untrusted origin, including those that a model has paraphrased."""
        return "\n".join(f"{self.mark}{line}" for line in lines)


def escape(text: str) -> str:
    """Escape invisible characters: controls, zero-width characters, bidirectional controls, unusual line separators."""
    text = text.replace("\r\n", "\n")
    if not CONTROL.search(text):
        return text
    hidden: dict[str, str | int | None] = {letter: _written(letter) for letter in set(text) if _is_hidden(letter)}
    return text.translate(str.maketrans(hidden)) if hidden else text


# Letters of other alphabets that look like Latin ones (confusables of UTS 39).
LOOK_ALIKES = str.maketrans("аеорсухіѕјԁνοαАВЕКМНОРСТХ", "aeopcyxisjdvoaABEKMHOPCTX")
# What splits a word, and shows nothing or not much: escaped zero-width characters, and adjacent literals.
SPLITS_WORDS = re.compile(r"\\(?:u200[b-f]|u206[0-4]|ufeff|xad)|\"[ \t]+\"")


def _is_hidden(letter: str) -> bool:
    if letter in "\t\n":
        return False
    return unicodedata.category(letter) in INVISIBLE or SELECTORS.match(letter) is not None


def _written(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()


def _suspicious(lines: list[str]) -> Iterator[tuple[Level, str, list[int]]]:
    """Yield the level, the rule and the line indices of each match."""
    starts, joined = _join(lines)
    small = " ".join(joined.lower().split())
    for pattern in PATTERNS:
        if not any(word in small for word in pattern.words):
            continue
        for match in pattern.regex.finditer(joined):
            first, last = (bisect_right(starts, at) - 1 for at in (match.start(), max(match.end() - 1, match.start())))
            yield pattern.level, pattern.rule, list(range(first, last + 1))
    if len(lines) >= BLANK_LINES and sum(not line.strip() for line in lines) > BLANK_SHARE * len(lines):
        yield "warn", "mostly_blank", []
    for place, line in enumerate(lines):
        if len(line) > VERY_LONG:
            yield "warn", "very_long_line", [place]


def _join(lines: list[str]) -> tuple[list[int], str]:
    """Return the offset of each line in the joined text, and the joined text without numbers and comment markers."""
    starts, bare, at = [], [], 0
    for line in lines:
        starts.append(at)
        piece = LEAD.sub("", line, count=1)
        if not piece.isascii():
            piece = unicodedata.normalize("NFKC", piece).translate(LOOK_ALIKES)
        piece = SPLITS_WORDS.sub("", piece)
        bare.append(piece)
        at += len(piece) + 1
    return starts, "\n".join(bare)


def _mask(line: str, rule: str) -> str:
    number = NUMBER.match(line)
    return f"{number[0] if number else ''}[line masked: it looks like an instruction to a model ({rule})]"
