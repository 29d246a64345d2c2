"""Chromium without a window, driven through its DevTools protocol over two pipes. One page at a time."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def find():
    """The browser's path, or nothing."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A page of a size; what went wrong on it is in `errors`, what it asked for in `requests`."""

    def __init__(self, program, width=1280, height=1600):
        self.errors, self.requests, self._events = [], [], []
        self._buffer, self._next = b"", 0
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                 "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                 f"--user-data-dir={self._profile.name}", "about:blank"]
        # The browser reads commands from descriptor 3 and answers on 4.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", program, *flags],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._session = None
        self.call("Browser.close")
        self._process.wait(60)
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def _receive(self, deadline):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        method, about = event["method"], event["params"]
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(about["args"])[:500])
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.errors.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def call(self, method, seconds=120, **params):
        self._next += 1
        message = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + seconds
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self._note(answer)

    def open(self, path, seconds=120):
        self._events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + seconds
        while "Page.loadEventFired" not in self._events:
            answer = self._receive(deadline)
            if "method" in answer:
                self._note(answer)

    def value(self, expression):
        """The value of an expression on the page, as JSON has it; of a promise what it promises."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {json.dumps(answer['exceptionDetails'])[:500]}")
        return answer["result"].get("value")

    def press(self, key):
        """A key as a person presses it, on what has the focus."""
        codes = {"Enter": (13, "\r"), " ": (32, " "), "Tab": (9, ""), "ArrowLeft": (37, ""), "ArrowRight": (39, "")}
        code, text = codes[key]
        down = {"type": "keyDown" if text else "rawKeyDown", "key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", **down, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def click(self, selector):
        """A click of the mouse on the upper left part of an element, scrolled into view."""
        box = self.value(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
                         "e.scrollIntoView({block: 'center', behavior: 'instant'}); "
                         "const r = e.getBoundingClientRect(); return [r.x + 20, r.y + 12]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def color_scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self):
        """The bytes of a PNG of what the window shows."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def colors(self, png):
        """How many pixels of a picture have each color, most frequent first; leaves the page."""
        self.call("Page.navigate", url="about:blank")
        return self.value("""(async () => {
          const image = new Image();
          image.src = "data:image/png;base64,%s";
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
          pen.drawImage(image, 0, 0);
          const counts = new Map();
          for (const color of new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer)) {
            counts.set(color, (counts.get(color) || 0) + 1);
          }
          return [...counts.values()].sort((a, b) => b - a);
        })()""" % base64.b64encode(png).decode())
