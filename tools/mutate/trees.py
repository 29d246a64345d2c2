"""Copies of the source tree, each with a build folder of its own, and the programs that run in them.

A copy is brought up to date file by file, so that ninja builds again only what differs from the last run."""

import collections
import concurrent.futures
import fcntl
import os
import pathlib
import queue
import resource
import shutil
import signal
import subprocess
import tempfile
import threading

SKIPPED = {".git", "build", ".cache", "__pycache__"}
BUILD_SECONDS = 1800
# Assertions of the standard library, so that an index beyond the end is a crash and no accident.
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Mutant", "-DCMAKE_CXX_FLAGS_MUTANT=-O1 -D_GLIBCXX_ASSERTIONS",
             "-DCAPRA_TESTS=ON"]
LAST_LINES, LONGEST_LINE = 20, 160

MEMORY_BYTES = 8 << 30  # a mistake may ask for all there is

# `how` says more of a failure than that the exit status is not 0.
Done = collections.namedtuple("Done", "failed how output")


class BuildFailed(Exception):
    """The compiler or ninja found something; the text is the end of what they printed."""


class Stopped(Exception):
    """A signal ended the run."""


class InUse(Exception):
    """Another run works on the copies."""


def last_lines(output):
    lines = output.decode("utf-8", "replace").splitlines()[-LAST_LINES:]
    return "\n".join("  | " + (one if len(one) <= LONGEST_LINE else one[:LONGEST_LINE] + " ...") for one in lines)


def source_files(root):
    """The tracked files and those that are not ignored; without git all but builds."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)
        if done.returncode == 0:
            names = done.stdout.decode().split("\0")
            return {pathlib.Path(name) for name in names if name and (root / name).is_file()}
    found = set()
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED]
        found.update(pathlib.Path(folder, name).relative_to(root) for name in names)
    return found


class Programs:
    """Programs that run, each the leader of a group, so that all of them can be ended."""

    def __init__(self):
        self._lock = threading.RLock()
        self._running = set()
        self._stopped = ""  # why

    def run(self, command, folder, timeout):
        """The exit status (None: it took too long) and the output."""
        with tempfile.TemporaryFile() as printed:
            with self._lock:
                self._continue()
                program = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=printed,
                                           stderr=subprocess.STDOUT, start_new_session=True)
                self._running.add(program)
            resource.prlimit(program.pid, resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            try:
                if self._stopped:  # while it was started
                    self._end(program)
                code = program.wait(timeout)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                self._end(program)
                program.wait()
                with self._lock:
                    self._running.discard(program)
            self._continue()
            printed.seek(0)
            return code, printed.read()

    def _continue(self):
        if self._stopped:
            raise Stopped(self._stopped)

    @staticmethod
    def _end(program):
        """What the program has started and left behind, too."""
        try:
            os.killpg(program.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def stop(self, reason):
        with self._lock:
            self._stopped = reason
            for program in self._running:
                self._end(program)


class Tree:
    """One copy: `source`, and `build` in it."""

    def __init__(self, root, source, programs):
        self._root = root
        self.source = source
        self.build_folder = source / "build" / "mutant"
        self._programs = programs
        self._jobs = 1

    def update(self):
        """Makes the files those of the root; what is equal keeps its time."""
        wanted = source_files(self._root)
        self.source.mkdir(parents=True, exist_ok=True)
        for old in source_files(self.source) - wanted:
            (self.source / old).unlink()
        for path in wanted:
            source, copy = self._root / path, self.source / path
            if copy.is_file() and copy.read_bytes() == source.read_bytes():
                continue
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
            shutil.copymode(source, copy)

    def configure(self, arguments, jobs):
        self._jobs = jobs
        command = ["cmake", "-S", str(self.source), "-B", str(self.build_folder), *CONFIGURE, *arguments]
        self._build(command)

    def work_alone(self):
        self._jobs = 1

    def build(self, targets):
        if targets:
            self._build(["ninja", "-C", str(self.build_folder), "-j", str(self._jobs), *targets])

    def _build(self, command):
        code, output = self._programs.run(command, self.source, BUILD_SECONDS)
        if code != 0:
            raise BuildFailed(last_lines(output) if code is not None else f"it took more than {BUILD_SECONDS} s")

    def run(self, command, timeout):
        places = {"{build}": str(self.build_folder), "{source}": str(self.source)}
        for name, place in places.items():
            command = [word.replace(name, place) for word in command]
        try:
            code, output = self._programs.run(command, self.source, timeout)
        except OSError as error:
            return Done(True, f"cannot be run: {error}", "")
        if code is None:
            return Done(True, f"more than {timeout:g} s", last_lines(output))
        if code < 0:
            return Done(True, f"ended by {signal.Signals(-code).name}", last_lines(output))
        return Done(code != 0, "", last_lines(output))


class Trees:
    """As many copies as mutants are judged at a time. Only one run at a time uses the folder."""

    def __init__(self, root, folder, count, configure):
        self._programs = Programs()
        self._folder = folder.resolve()  # programs run elsewhere
        self._trees = [Tree(root.resolve(), self._folder / str(i), self._programs) for i in range(count)]
        self._configure = configure
        self._lock = None

    def __enter__(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = open(self._folder / "lock", "w", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InUse(f"{self._folder} is in use by another run; give another --folder") from error
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda got, _: self._programs.stop(f"ended by {signal.Signals(got).name}"))
        return self

    def __exit__(self, *_):
        self._programs.stop("the run is over")
        self._lock.close()

    def prepare(self, configure, check):
        """Brings all copies to the state of the root and checks them: the first with all cores, the others with what the
        compiler's cache has by then. Without arguments for CMake nothing is to be built."""
        first, *others = self._trees

        def make(tree):
            tree.update()
            if configure is not None:
                tree.configure([*configure, *self._configure], len(self._trees) if tree is first else 1)
            check(tree)
            tree.work_alone()

        make(first)
        with concurrent.futures.ThreadPoolExecutor(max(1, len(others))) as pool:
            list(pool.map(make, others))

    def each(self, items, work):
        """`work(tree, item)` for each item, on whichever copy is free; results as they come."""
        free = queue.SimpleQueue()
        for tree in self._trees:
            free.put(tree)

        def one(item):
            tree = free.get()
            try:
                return work(tree, item)
            finally:
                free.put(tree)

        with concurrent.futures.ThreadPoolExecutor(len(self._trees)) as pool:
            futures = [pool.submit(one, item) for item in items]
            try:
                for future in concurrent.futures.as_completed(futures):
                    yield future.result()
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
