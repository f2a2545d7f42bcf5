"""The page of a training run (`etalon train --html`) in headless Chromium: no word on the console, no request, dark and light, it fits a
phone, and names from data stay words. Skipped (77) without Chromium. Usage: run_page.py ETALON CHROMIUM [SCREENSHOT.png]"""
import pathlib
import random
import subprocess
import sys
import tempfile

from browser import Browser, given_chromium
from checks import Checks

etalon = sys.argv[1]
chromium = given_chromium(sys.argv[2:])

HOSTILE = "</style><script>window.pwned = 1</script><img src=http://example.com/x onerror=pwned=1> a rather long name"
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
check = Checks()

draw = random.Random(4)
rows = [f"{x:.3f},{y:.3f},{HOSTILE if x < y else 'ash'}" for x, y in ((draw.random(), draw.random()) for _ in range(150))]
(folder / "data.csv").write_text("x,y,kind\n" + "\n".join(rows) + "\n")
words = [etalon, "train", "--data", "data.csv", "--target", "kind", "--epochs", "12", "--no-plots", "--html", "run.html"]
ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
check(ran.returncode == 0, f"train: {ran.stderr}")
page = folder / "run.html"

browser = Browser(chromium)
try:
    browser.open(page.as_uri(), 1240, 900)
    pictures = browser.value("document.querySelectorAll('svg').length")
    check(pictures == 6, f"{pictures} pictures, expected rate, loss and its logarithm, validation twice, confusion")
    check(browser.value("document.querySelectorAll('tbody tr').length") == 2, "expected a row for each class")
    check(browser.value("document.querySelector('tbody th').textContent.startsWith('</style><script>')"), "a class lost its name")
    markup = "window.pwned === undefined && document.querySelectorAll('img, script, iframe').length === 0"
    check(browser.value(markup), "words became markup")
    ink = "getComputedStyle(document.querySelector('svg text')).fill + getComputedStyle(document.body).backgroundColor"
    seen = []
    for scheme in ("light", "dark"):
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        seen.append(browser.value(ink))
    check(len(set(seen)) == 2, f"dark and light are the same: {seen}")
    check(browser.complaints() == [], f"the console: {browser.complaints()[:3]}")
    check(browser.requests() == [page.as_uri()], f"requests: {browser.requests()}")
    for width in (390, 320):
        browser.open(page.as_uri(), width, 800)
        wide = browser.value("document.documentElement.scrollWidth")
        check(wide <= width, f"at {width} pixels the page scrolls sideways: {wide}")
        letters = browser.value("(t => t.getBoundingClientRect().height)(document.querySelector('svg text'))")
        check(letters >= (9 if width == 390 else 7), f"at {width} pixels a letter of a picture is {letters} pixels high")
        first = browser.value("Math.min(...Array.from(document.querySelectorAll('svg text')).map(t => t.getBoundingClientRect().left))")
        check(first >= 0, f"at {width} pixels a label begins {-first} pixels beyond the edge")
        broken = """Array.from(document.querySelectorAll('td')).filter(cell => {
            const range = document.createRange(); range.selectNodeContents(cell); return range.getClientRects().length !== 1; }).length"""
        check(browser.value(broken) == 0, f"at {width} pixels a number of the table is on two lines")
    if len(sys.argv) > 3:
        browser.open(page.as_uri(), 390, 2600)
        browser.screenshot(sys.argv[3])
finally:
    browser.close()
sys.exit(check.status(16))
