"""Draw the charts of a report as SVG: no script, no fonts, nothing loaded.

A bar is a link that sets a filter on the page.  Colours come from the page's classes, so that charts follow its theme.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import pi
from typing import NamedTuple
from urllib.parse import urlencode

from jarvis_workers.escape import visible
from jarvis_workers.markup import Html, markup

WIDTH = 400
ROW = 36
BAR = 8
LABEL_CHARACTERS = 46
COLUMN = 110
LETTERS = 18
RADIUS = 42
GAP = 1.5


class Bar(NamedTuple):
    """A bar, with its parts in the order of their classes; `chosen` is the filter that it sets, if any."""

    label: str
    number: str
    parts: Sequence[tuple[str, float]]
    chosen: Mapping[str, str]


def link_to(**chosen: str) -> str:
    """Return the address of the filtered findings within the page."""
    return "#" + urlencode({name: visible(value) for name, value in chosen.items()})


def ring(counts: Mapping[str, int], words: Mapping[str, str], unit: str) -> Html:
    """Draw shares of a whole as a ring around their sum; `words` are the labels of the shares."""
    total = sum(counts.values())
    around = 2 * pi * RADIUS
    ends = accumulate(counts.values())
    arcs = [
        markup(
            '<circle class="stroke-{name}" cx="60" cy="60" r="{radius}" stroke-dasharray="{length} {around}" '
            'stroke-dashoffset="{offset}"><title>{word}: {count}</title></circle>',
            name=name,
            word=words[name],
            radius=RADIUS,
            length=f"{max(0.5, count / total * around - (GAP if count < total else 0)):.2f}",
            around=f"{around:.2f}",
            offset=f"{-(end - count) / total * around:.2f}",
            count=f"{count:,}",
        )
        for (name, count), end in zip(counts.items(), ends, strict=True)
    ]
    return markup(
        '<svg class="ring" viewBox="0 0 120 120" role="img" aria-label="{label}">'
        '<g transform="rotate(-90 60 60)">{arcs}</g><text class="sum" x="60" y="62" font-size="{size}">{total}</text>'
        '<text class="unit" x="60" y="77">{unit}</text></svg>',
        label=", ".join(f"{count:,} {words[name]}" for name, count in counts.items()),
        unit=unit,
        arcs=arcs,
        total=f"{total:,}",
        size=min(20, 100 // len(f"{total:,}")),
    )


def bars(rows: Sequence[Bar], label: str) -> Html:
    """Draw horizontal bars, the longest as wide as the chart."""
    longest = max((sum(size for _, size in row.parts) for row in rows), default=0) or 1
    return markup(
        '<svg class="bars" viewBox="0 0 {width} {height}" role="group" aria-label="{label}">{rows}</svg>',
        width=WIDTH,
        height=max(1, len(rows)) * ROW,
        label=label,
        rows=[_bar(row, number * ROW, longest) for number, row in enumerate(rows)],
    )


def columns(rows: Sequence[tuple[str, int]], label: str) -> Html:
    """Draw vertical columns, each with its number above and its name below."""
    highest = max((number for _, number in rows), default=0) or 1
    wide = WIDTH / max(1, len(rows))
    return markup(
        '<svg class="bars columns" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{columns}</svg>',
        width=WIDTH,
        height=COLUMN + 2 * LETTERS,
        label=f"{label}: " + ", ".join(f"{name}: {number:,}" for name, number in rows),
        columns=[
            _column(name, number, (place * wide, wide), COLUMN * number / highest)
            for place, (name, number) in enumerate(rows)
        ],
    )


def _column(name: str, number: int, across: tuple[float, float], high: float) -> Html:
    left, wide = across
    top = LETTERS + COLUMN - high
    return markup(
        "<g><title>{name}: {number}</title>"
        '<rect class="fill-plain" x="{x}" y="{y}" width="{width}" height="{height}" rx="2"/>'
        '<text x="{middle}" y="{above}">{number}</text><text class="unit" x="{middle}" y="{below}">{name}</text></g>',
        name=name,
        number=f"{number:,}",
        x=f"{left + wide * 0.1:.1f}",
        y=f"{top:.1f}",
        width=f"{wide * 0.8:.1f}",
        height=f"{high:.1f}",
        middle=f"{left + wide / 2:.1f}",
        above=f"{top - 4:.1f}",
        below=COLUMN + 2 * LETTERS - 4,
    )


def _bar(row: Bar, top: int, longest: float) -> Html:
    label = _shortened(visible(row.label))
    is_cut = label != visible(row.label)
    opened, closed = (_link(row), "a") if row.chosen else (Html("<g>"), "g")
    return markup(
        "{opened}{whole}"
        '<rect class="hit" x="0" y="{top}" width="{width}" height="{row}"/>'
        '<text{hidden} x="0" y="{text}">{label}</text> <text class="number" x="{width}" y="{text}">{number}</text>'
        '<rect class="track" x="0" y="{bar}" width="{width}" height="{thick}" rx="3"/>{parts}</{closed}>',
        opened=opened,
        closed=closed,
        # A shortened label is repeated once in full; other labels are not, so that screen readers read them only once.
        whole=markup("<title>{label}</title>", label=row.label) if is_cut else "",
        hidden=Html(' aria-hidden="true"') if is_cut else "",
        label=label,
        number=row.number,
        top=top,
        row=ROW,
        text=top + 14,
        bar=top + 20,
        thick=BAR,
        width=WIDTH,
        parts=_parts(row.parts, top + 20, WIDTH / longest),
    )


def _link(row: Bar) -> Html:
    """Return the start tag of a link for the mouse; keyboard users find the same filters among the controls."""
    return markup('<a href="{to}" tabindex="-1">', to=link_to(**row.chosen))


def _parts(parts: Iterable[tuple[str, float]], top: int, scale: float) -> list[Html]:
    drawn, at = [], 0.0
    for name, size in parts:
        if size:
            drawn.append(
                markup(
                    '<rect class="fill-{name}" x="{at}" y="{top}" width="{width}" height="{thick}" rx="2"/>',
                    name=name,
                    at=f"{at:.1f}",
                    top=top,
                    width=f"{max(1.5, size * scale - 1):.1f}",
                    thick=BAR,
                )
            )
        at += size * scale
    return drawn


def _shortened(label: str) -> str:
    """Shorten a label, keeping the end, which is the most informative part of a path."""
    return label if len(label) <= LABEL_CHARACTERS else "…" + label[1 - LABEL_CHARACTERS :]
