"""The frame of every page: style inside, nothing from outside, no scripts."""

from html import escape
from importlib.resources import files
from string import Template

# the browser is told to fetch nothing: a page that tries to is broken, and says so
_FRAME = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<main>
$body
</main>
</body>
</html>
""")


def page(title: str, body: str) -> str:
    """A whole document; `body` is HTML, `title` plain text."""
    style = files("mhaug.experiments.report").joinpath("style.css").read_text(encoding="utf-8")
    return _FRAME.substitute(title=escape(title), style=style, body=body)
