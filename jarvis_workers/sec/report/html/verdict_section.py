"""Render a model's verdict inside the card of a finding: the reason, the texts, the evidence, the scripts.

The page's script builds the same HTML, as for card.py.
"""

from collections.abc import Iterator, Sequence

from jarvis_workers.markup import Html, in_lines, markup
from jarvis_workers.sec.assessment import EvidenceQuote, ReproScript
from jarvis_workers.sec.proof.proof import Proof, ProofSource
from jarvis_workers.sec.report.i18n import Words
from jarvis_workers.sec.report.patches import patch_lines, patch_summary
from jarvis_workers.sec.report.proof_inputs import input_text
from jarvis_workers.sec.report.verdicts import PROOF_KINDS, PROOF_STATES, TEXT_TITLES, WORDS, capital, rating_texts
from jarvis_workers.sec.report_document import Issue, ReportPatch

# The error and two frames.
STACK_HEAD = 3
# The beginning of an input.
INPUT_LINES, INPUT_MAX = 6, 400
WORDY = tuple(name for name in TEXT_TITLES if name != "suggestions")


def parts(issue: Issue, patch: ReportPatch | None, say: Words) -> dict[str, Iterator[Html]]:
    """Return the parts of a card by their names in its template."""
    return {
        "reason": reason(issue, say),
        "words": words(issue, say),
        "patch": patch_part(patch, say),
        "proof": proof(issue.proof, say),
        "quotes": evidence(issue.opinion.evidence, say),
        "scripts": scripts(issue.opinion.commands, say),
    }


def exposure_badge(issue: Issue) -> Html | str:
    """Return who can trigger a risk, "" if the verdict does not say it."""
    exposure = issue.opinion.exposure
    return markup(' <span class="exposure">{word}</span>', word=exposure) if exposure else ""


def reason(issue: Issue, say: Words) -> Iterator[Html]:
    """Yield the reason why a finding is open, or why a person confirmed it."""
    if issue.opinion.reason:
        yield markup(
            '<p class="reason"><b>{word}:</b> {reason}</p>',
            word=capital(say(WORDS.get(issue.status, str(issue.status)))),
            reason=in_lines(issue.opinion.reason),
        )


def words(issue: Issue, say: Words) -> Iterator[Html]:
    """Yield the texts of the verdict that explain the impact of the finding."""
    texts = list(rating_texts(issue, say).items())
    texts += [(say(TEXT_TITLES[name]), text) for name in WORDY if (text := getattr(issue.opinion, name))]
    if texts:
        yield markup(
            '<dl class="words">{told}</dl>',
            told=[
                markup("<div><dt>{title}</dt><dd>{text}</dd></div>", title=title, text=in_lines(text))
                for title, text in texts
            ],
        )


def patch_part(patch: ReportPatch | None, say: Words) -> Iterator[Html]:
    """Yield the patch of a finding, with what the gates said of it."""
    if patch is None:
        return
    rows = [
        markup('<span class="line {kind}">{text}\n</span>', kind=kind, text=text) for kind, text in patch_lines(patch)
    ]
    yield markup(
        '<div class="patch"><p><b>{title}</b> {summary}</p>{code}</div>',
        title=say("Patch:"),
        summary=in_lines(patch_summary(patch, say)),
        code=markup('<pre class="code diff" tabindex="0">{rows}</pre>', rows=rows) if rows else "",
    )


def evidence(quotes: Sequence[EvidenceQuote], say: Words) -> Iterator[Html]:
    """Yield the quotes with their locations."""
    if quotes:
        yield markup(
            '<div class="quotes"><b>{title}</b><ul class="path">{quotes}</ul></div>',
            title=say("Evidence"),
            quotes=[
                markup(
                    '<li><span class="place">{file}:{line}</span> <code>{quote}</code></li>',
                    file=quote.file,
                    line=quote.line,
                    quote=in_lines(quote.quote),
                )
                for quote in quotes
            ],
        )


def scripts(commands: Sequence[ReproScript], say: Words) -> Iterator[Html]:
    """Yield the scripts that were run, for reproduction."""
    if commands:
        yield markup(
            '<div class="scripts"><b>{title}</b>{commands}</div>',
            title=say("To reproduce, in a copy of the source"),
            commands=[
                markup(
                    '<pre class="code" tabindex="0"><span class="number">{interpreter}</span>\n{script}</pre>',
                    interpreter=command.interpreter,
                    script=in_lines(command.script),
                )
                for command in commands
            ],
        )


def proof(one: Proof | None, say: Words) -> Iterator[Html]:
    """Yield what came of the attempts to prove a finding: the command, the sanitizer's error, and the files."""
    if one:
        facts, blocks = proof_parts(one, say)
        yield markup(
            '<div class="proof {state}"><b>{title}</b> {facts}{blocks}</div>',
            state=one.state,
            title=say(PROOF_STATES[one.state]),
            facts=in_lines(facts),
            blocks=[
                markup(
                    '<pre class="code" tabindex="0"><span class="number">{name}</span>\n{text}</pre>',
                    name=name,
                    text=in_lines(text),
                )
                for name, text in blocks
            ],
        )


def proof_head(one: Proof | None, say: Words) -> Iterator[Html]:
    """Yield the command, the beginning of the sanitizer's error, and that of the first file: the input, or the code."""
    if one:
        stack, sources = one.stack[:STACK_HEAD], tuple(map(_head, one.sources[:1]))
        yield from proof(one._replace(stack=stack, sources=sources, reason=one.reason if not stack else ""), say)


def _head(source: ProofSource) -> ProofSource:
    """Return the first lines of a file of a proof."""
    whole = input_text(source)
    text = "\n".join(whole.split("\n")[:INPUT_LINES])[:INPUT_MAX]
    return source if text == whole else ProofSource(source.name, text, is_whole=False)


def proof_parts(one: Proof, say: Words) -> tuple[str, list[tuple[str, str]]]:
    """Return the facts about a proof on one line, and its blocks of text with their titles."""
    facts = [say(PROOF_KINDS[one.kind])] if one.kind else []
    facts += [one.command] if one.command else []
    facts += [say.count(one.attempts, "attempt"), *([one.reason] if one.reason else [])]
    blocks = [(say("sanitizer"), "\n".join(one.stack))] if one.stack else []
    for source in one.sources:
        name = source.name if source.is_whole else say("{name} (the beginning)", name=source.name)
        blocks.append((name, input_text(source)))
    return "; ".join(facts), blocks
