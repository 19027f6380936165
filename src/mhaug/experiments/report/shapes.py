"""The few shapes that the page is made of. Arguments are plain text unless they say HTML."""

from collections.abc import Iterable, Sequence
from html import escape


def section(name: str, title: str, inner_html: str) -> str:
    """A part of the page that the contents link to."""
    return f'<section id="{escape(name)}"><h2>{escape(title)}</h2>{inner_html}</section>'


def paragraph(text: str) -> str:
    """One paragraph."""
    return f"<p>{escape(text)}</p>"


def card(title: str, text: str, uri: str, alt: str, *, wide: bool = False) -> str:
    """A picture under its title; a wide one scrolls where it would become too small to read."""
    words = f"<strong>{escape(title)}</strong> {escape(text)}"
    image = f'<img src="{uri}" alt="{escape(alt)}">'
    if wide:
        image = f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(alt)}">{image}</div>'
    return f"<figure><figcaption>{words}</figcaption>{image}</figure>"


def numbers(head: Sequence[str], rows: Iterable[Sequence[str]], label: str, *, last: str = "") -> str:
    """A table whose first column names its rows; `last` is a class of the last column."""
    classes = [""] * (len(head) - 1) + ([f' class="{last}"'] if last else [""])
    top = "".join(f'<th scope="col"{style}>{escape(word)}</th>' for word, style in zip(head, classes, strict=True))
    body = []
    for first, *rest in rows:
        cells = [f"<td{style}>{escape(word)}</td>" for word, style in zip(rest, classes[1:], strict=True)]
        body.append(f'<tr><th scope="row">{escape(first)}</th>{"".join(cells)}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table class="numbers">'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )
