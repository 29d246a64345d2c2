"""A peer as a child process: JSON lines both ways, stopped while it is not its turn, measured when it ends."""

import array
import contextlib
import json
import os
import select
import signal
import subprocess
import time

TIMEOUT = 900


class PeerFailed(Exception):
    """Why a peer has no figures."""


@contextlib.contextmanager
def bound_to(cpus):
    """Children started inside are bound to these CPUs; None: to those of this process."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Child:
    """A process, its output line by line, and its peak resident set once it has ended."""

    def __init__(self, command, log, threads, cpus):
        count = str(threads)
        environment = os.environ | {name: count for name in (
            "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")}
        environment |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
        self.log = log
        self.buffer = b""
        with bound_to(cpus), open(log, "wb") as errors:
            self.started = time.perf_counter()
            self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors, env=environment, bufsize=0)

    def line(self):
        """The next line of output; fails at the end of it or after TIMEOUT seconds."""
        deadline = time.monotonic() + TIMEOUT
        output = self.process.stdout
        while b"\n" not in self.buffer:
            if not select.select([output], [], [], max(0, deadline - time.monotonic()))[0]:
                raise PeerFailed(f"no answer in {TIMEOUT} s")
            piece = output.read(1 << 20)
            if not piece:
                raise PeerFailed(self.end())
            self.buffer += piece
        found, _, self.buffer = self.buffer.partition(b"\n")
        return found

    def end(self):
        """How a process ended that was to go on."""
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            return "closed its output"
        return f"ended with exit code {code}, last line: {self.last_line()}"

    def last_line(self):
        lines = [line.strip() for line in open(self.log, errors="replace") if line.strip()]
        return lines[-1][:200] if lines else "none"

    def seconds(self):
        return time.perf_counter() - self.started

    def finish(self):
        """Lets the process end by itself; returns its peak resident set in bytes."""
        self.process.stdin.close()
        while self.process.stdout.read(1 << 20):
            pass
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.process.stdout.close()
        if self.process.returncode != 0:
            raise PeerFailed(f"ended with exit code {self.process.returncode}, last line: {self.last_line()}")
        return usage.ru_maxrss * 1024

    def kill(self):
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()


class PeerProcess(Child):
    """A child that answers requests."""

    def ready(self):
        if "ready" not in self.reply():
            raise PeerFailed("its first line is not `ready`")

    def reply(self):
        line = self.line()
        try:
            reply = json.loads(line)
        except ValueError:
            raise PeerFailed(f"not JSON: {line[:100]!r}") from None
        if "error" in reply:
            raise PeerFailed(reply["error"].strip().splitlines()[-1][:200])
        return reply

    def send(self, request):
        line = json.dumps(request).encode() + b"\n"
        try:
            while line:
                line = line[self.process.stdin.write(line):]
        except BrokenPipeError:
            pass  # the reply says why

    def ask(self, request):
        self.send(request)
        return self.reply()

    def seconds_of(self, batches, repeat=1, seconds=0.0):
        """Times of runs over all batches: at least `repeat`, together at least `seconds`."""
        return self.ask({"batches": batches, "repeat": repeat, "seconds": seconds})["seconds"]

    def vectors_of(self, batches):
        return array.array("f", bytes.fromhex(self.ask({"batches": batches, "vectors": True})["vectors"]))

    def pause(self):
        """No thread of it runs, spinning or not, until resume()."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
