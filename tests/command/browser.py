"""A page in headless Chromium, spoken to by the DevTools protocol over a pipe."""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def given_chromium(words):
    """The first of the words. Where there is no such program the test is skipped."""
    if words and pathlib.Path(words[0]).is_file():
        return words[0]
    print("skipped: no Chromium; on Debian: apt-get install chromium")
    sys.exit(77)


class Browser:
    def __init__(self, chromium):
        to_us, from_us = os.pipe(), os.pipe()  # (read, write)
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

        def descriptors():  # Chromium reads 3 and writes 4
            kept = [os.dup2(from_us[0], 100), os.dup2(to_us[1], 101)]
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=descriptors)
        os.close(from_us[0])
        os.close(to_us[1])
        self.out, self.into = from_us[1], os.fdopen(to_us[0], "rb")
        self.events, self.asked, self.received = [], 0, b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    session = None

    def ask(self, method, **parameters):
        self.asked += 1
        message = {"id": self.asked, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.asked:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        while b"\0" not in self.received:
            some = os.read(self.into.fileno(), 1 << 16)
            if not some:
                raise RuntimeError("the browser ended")
            self.received += some
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def open(self, url, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:400])
        return result["result"].get("value")

    def complaints(self):
        """What the console says, exceptions, and requests for anything but the page itself."""
        told = []
        for event in self.events:
            method, about = event.get("method"), event.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                told.append(json.dumps(about)[:300])
            url = about.get("request", {}).get("url", "") if method == "Network.requestWillBeSent" else ""
            if url and not url.startswith(("data:", "file:")):
                told.append("requested " + url)
        return told

    def requests(self):
        urls = [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.profile.cleanup()
