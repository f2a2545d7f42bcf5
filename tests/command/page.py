"""The HTML report in headless Chromium: no word on the console, no request, it sorts, searches, turns dark, fits a phone,
and hostile words stay words. Skipped (77) without Chromium. Usage: page.py ETALON CHROMIUM [REPORT.html SCREENSHOT.png]"""
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

from browser import Browser, given_chromium
from checks import Checks

etalon = sys.argv[1]
chromium = given_chromium(sys.argv[2:])

HOSTILE = "</script></style><script>window.pwned = 1; console.log('pwned')</script><img src=http://example.com/x onerror='pwned = 1'> \"' ü"
folder = pathlib.Path(tempfile.mkdtemp())
check = Checks()


def hostile_page():
    """A real run, with hostile words wherever words of others may stand."""
    adapter = pathlib.Path(__file__).with_name("hostile_adapter.py")
    backend = "exec:" + shlex.join([sys.executable, str(adapter), "crash", etalon])
    subprocess.run([etalon, "conform", "--backend", backend, "--ops", "relu,exp,sum", "--dtypes", "f32", "--json", folder / "a.jsonl"],
                   capture_output=True, timeout=300)
    lines = [json.loads(line) for line in (folder / "a.jsonl").read_text().splitlines()]
    for line in lines:
        for key in ("backend", "version", "command", "contract_text", "why", "text", "tier"):
            if key in line:
                line[key] = str(line[key]) + HOSTILE
        if line["kind"] == "result" and line["verdict"] == "crashed":
            line["reproduction"] = HOSTILE
            line["case"] = {"operands": [HOSTILE], "attributes": {HOSTILE: HOSTILE}}
    (folder / "b.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    ran = subprocess.run([etalon, "report", "render", folder / "b.jsonl", "--html", folder / "b.html"], capture_output=True, text=True)
    check((folder / "b.html").exists(), f"no page: {ran.stderr}")
    return folder / "b.html"


NAMES = "Array.from(document.querySelectorAll('#matrix tbody tr')).map(r => r.cells[0].textContent)"
VALUES = "Array.from(document.querySelectorAll('#matrix tbody tr')).map(r => Number(r.cells[%d].dataset.v))"


def examine(browser, page):
    browser.open(page.as_uri(), 1240, 900)
    names = browser.value(NAMES)
    worst = browser.value(VALUES % 1)
    bad = [w for w in worst if w >= 1e15]  # failures, then what is waived; the others stand by name
    check(len(names) >= 3 and bad and worst[:len(bad)] == sorted(bad, reverse=True), f"the worst operations do not stand first: {worst[:5]}")
    for column in (3, 1, 8):
        button = f"document.querySelectorAll('#matrix th button')[{column}].click()"
        browser.value(button)
        down = browser.value(VALUES % column)
        browser.value(button)
        up = browser.value(VALUES % column)
        check(down == sorted(down, reverse=True) and up == sorted(up), f"column {column} does not sort: {down} {up}")
        check(len(down) == len(names) and sorted(browser.value(NAMES)) == sorted(names), "sorting loses rows")
    browser.value("document.querySelectorAll('#matrix th button')[0].click()")
    check(browser.value(NAMES) == sorted(names), "sorting by name is no order")
    shown = "Array.from(document.querySelectorAll('#matrix tbody tr')).filter(r => r.offsetParent).length"
    find = "(() => { const s = document.querySelector('#search'); s.value = %s; s.dispatchEvent(new Event('input')); })()"
    browser.value(find % json.dumps(names[0]))
    check(1 <= browser.value(shown) < len(names), "the search finds everything or nothing")
    browser.value(find % '"nothing of this kind"')
    check(browser.value(shown) == 0, "the search finds what is not there")
    browser.value(find % '""')
    check(browser.value(shown) == len(names), "an empty search hides rows")
    colour = "getComputedStyle(document.body).backgroundColor"
    before = browser.value(colour)
    browser.value("document.querySelector('#theme').click()")
    check(browser.value(colour) != before, "dark and light are the same")
    browser.value("document.querySelector('#theme').click()")
    check(browser.value(colour) == before, "light does not come back")
    hidden = "(w => w.scrollWidth - w.clientWidth)(document.querySelector('#matrix').parentElement)"
    check(browser.value(hidden) <= 0, f"the table is wider than the page by {browser.value(hidden)} pixels")
    failing = "document.querySelector('details[id^=fail-]')"
    if browser.value(f"{failing} !== null"):
        browser.value(f"location.hash = '#' + {failing}.id")
        browser.value("new Promise(done => setTimeout(done, 100))")
        check(browser.value(f"{failing}.open"), "a link to a failure does not open it")
        check(browser.value(f"{failing}.querySelectorAll('article').length") > 0, "a failure is not shown")
    check(browser.value("document.querySelectorAll('svg.large path.bar').length") >= 3, "no distributions")
    check(browser.value("window.pwned === undefined && document.querySelectorAll('img, iframe, object').length === 0"), "words became markup")
    check(browser.complaints() == [], f"the console: {browser.complaints()[:3]}")
    check(browser.requests() == [page.as_uri()], f"requests: {browser.requests()}")
    for width in (400, 320):
        browser.open(page.as_uri(), width, 800)
        browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
        check(browser.value("document.documentElement.scrollWidth") <= width, f"at {width} pixels the page scrolls sideways: "
              f"{browser.value('document.documentElement.scrollWidth')}")
    browser.open(page.as_uri(), 390, 800)
    edge = "Math.max(...Array.from(document.querySelectorAll('#matrix tbody tr')).map(r => r.cells[1].getBoundingClientRect().right))"
    check(browser.value(edge) <= 390, f"at 390 pixels the verdicts end at {browser.value(edge)}")
    check(browser.complaints() == [], f"the console on a phone: {browser.complaints()[:3]}")


browser = Browser(chromium)
try:
    if len(sys.argv) > 3:
        page = pathlib.Path(sys.argv[3]).resolve()
        examine(browser, page)
        if len(sys.argv) > 4:
            browser.open(page.as_uri(), 1240, 1900)
            browser.screenshot(sys.argv[4])
    else:
        examine(browser, hostile_page())
finally:
    browser.close()
sys.exit(check.status(15))
