"""A real browser without a screen, to look at pages with."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

# what a reader would notice: pictures that are broken, a page wider than its window, tables without a place
_LOOK = """<script>addEventListener('load', () => {
  const box = e => { const b = e.getBoundingClientRect(); return [b.width, b.height]; };
  const seen = {
    window: innerWidth, page: document.documentElement.scrollWidth,
    pictures: [...document.images].map(i => ({alt: i.alt, natural: i.naturalWidth, shown: box(i)})),
    tables: [...document.querySelectorAll('table')].map(t => ({rows: t.rows.length, shown: box(t)})),
    bold: [...document.querySelectorAll('.results strong')].map(
      e => [e.innerText, Number(getComputedStyle(e).fontWeight)]),
    text: document.body.innerText,
  };
  parent.document.getElementById('seen').textContent = JSON.stringify(seen);
});</script>"""


def browser():
    """The path of Chromium; the test is skipped where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no chromium on this machine (Debian: apt-get install chromium)")
    return found


def look(page, width, folder):
    """What the browser shows of a page in a window of this width.

    The page sits in a frame: a window of its own cannot be made as narrow as a telephone.
    """
    # the page forbids scripts; ours is let in, in a copy
    text = page.read_text(encoding="utf-8").replace(
        "default-src 'none'", "default-src 'none'; script-src 'unsafe-inline'"
    )
    (folder / "copy.html").write_text(text.replace("</body>", _LOOK + "</body>"), encoding="utf-8")
    host = _host(folder, "copy.html", width, 2000)
    dom = _run(folder, "--allow-file-access-from-files", "--dump-dom", host.as_uri())
    found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert found, dom[-2000:]
    return json.loads(unescape(found[1]))


def screenshot(page, width, height, folder):
    """The page as pixels, [height, width, 3]."""
    from matplotlib.image import imread

    host = _host(folder, page.as_uri(), width, height)
    picture = folder / f"screen-{width}.png"
    _run(folder, f"--window-size={max(width, 500)},{height}", f"--screenshot={picture}", host.as_uri())
    return imread(picture)[:height, :width, :3]


def _host(folder, source, width, height):
    host = folder / "host.html"
    frame = f'<iframe src="{source}" style="border:0;width:{width}px;height:{height}px"></iframe>'
    host.write_text(f'<!doctype html><body style="margin:0"><pre id="seen"></pre>{frame}', encoding="utf-8")
    return host


def _run(folder, *words):
    usual = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
    ]
    done = subprocess.run([browser(), *usual, *words], capture_output=True, timeout=120, check=True)
    return done.stdout.decode("utf-8", "replace")
