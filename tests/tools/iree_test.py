"""Target iree with tools that only seem to be iree's: what is found, how failures are called, what is left behind."""

import os
import pathlib
import signal
import subprocess
import time

import driver
import small_model

GRAPH = """graph @f {
  %x = input {name = "x"} : f32[n, 2]
  %y = abs %x : f32[n, 2]
  output %y {name = "y"}
}
"""
VALUE = "x=f32[1, 2] [[0.5, 2]]"
VERSION = "3.13.0rc20261016"
COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then
  echo 'IREE (https://iree.dev):'
  echo '  IREE compiler version {version} @ 89ece87b'
  exit 0
fi
{body}
"""
# The last argument is the file to make.
COMPILES = 'for last; do :; done; echo "$@" > "$last"'
# abs of numbers that are not negative: the input's bytes are the output's.
RUNS = """for argument; do
  case $argument in
    --input=1x2xf32=@*) from=${argument#*@} ;;
    --input=*) exit 9 ;;
    --output=@*) to=${argument#*@} ;;
  esac
done
"""
COPIES = RUNS + 'cat "$from" > "$to"'


class IreeTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def setUp(self):
        super().setUp()
        self.graph = self.write("f.tir", GRAPH)
        self.temporary = self.scratch / "temporary"
        self.temporary.mkdir()
        self.addCleanup(lambda: self.assertEqual(list(self.temporary.iterdir()), []))
        self.tools = self.scratch / "tools"
        self.tools.mkdir()

    def script(self, name, text):
        path = self.write(name, text)
        path.chmod(0o755)
        return path

    def make_tools(self, compiles=COMPILES, runs=COPIES, version=VERSION, folder="tools"):
        self.script(f"{folder}/iree-compile", COMPILER.format(version=version, body=compiles))
        self.script(f"{folder}/iree-run-module", "#!/bin/sh\n" + runs + "\n")

    def environment(self, path="/usr/bin:/bin"):
        return {**os.environ, "PATH": str(path), "TMPDIR": str(self.temporary)}

    def arguments(self, *more):
        return ["run", self.graph, "--target", "iree", "--iree-dir", self.tools, "--input", VALUE, *more]

    def refused_run(self, *more, error):
        return self.refused(*self.arguments(*more), error=error, env=self.environment())

    def test_a_run(self):
        self.make_tools()
        self.assertEqual(self.out(*self.arguments(), env=self.environment()), "y = f32[1, 2] [[0.5, 2]]\n")

    def test_an_empty_axis_that_is_searched(self):
        self.make_tools()
        graph = self.write("search.tir", """graph @f {
  %x = input {name = "x"} : f32[n, 2]
  %i = argmax %x {axis = 0} @ "best"
  output %x {name = "y"}
  output %i {name = "i"}
}
""")
        for target in (("cpu",), ("iree", "--iree-dir", self.tools)):
            message = self.refused("run", graph, "--target", *target, "--input", "x=f32[0, 2] []", error="operand-shape",
                                   env=self.environment())
            self.assertIn("the searched axis of argmax is empty", message)
            self.assertIn("best", message)

    def test_what_the_tools_are_told(self):
        self.make_tools(compiles=f'echo "$@" > {self.scratch}/compiled; ' + COMPILES,
                        runs=f'echo "$@" "$TMPDIR" > {self.scratch}/ran; ' + COPIES)
        self.run_driver(*self.arguments("--threads", "2"), env=self.environment())
        self.run_driver("export", self.graph, "--output", self.scratch / "program")
        flags = (self.scratch / "program" / "iree.flags").read_text().split()
        compiled = (self.scratch / "compiled").read_text().split()
        self.assertEqual(compiled[:len(flags)], flags)
        folder = pathlib.Path(compiled[-1]).parent
        self.assertEqual(folder.parent, self.temporary)
        self.assertEqual(compiled[len(flags):], [str(folder / "model.mlir"), "-o", str(folder / "model.vmfb")])
        ran = (self.scratch / "ran").read_text().split()
        self.assertEqual(ran[:4], [f"--module={folder}/model.vmfb", "--function=f", "--device=local-task",
                                   "--task_topology_group_count=2"])
        self.assertEqual(pathlib.Path(ran[-1]), folder)

    def test_a_temporary_folder_that_a_shell_would_split(self):
        # The compiler calls its linker by a line for a shell, with the paths as they are.
        self.make_tools(compiles=f'echo "$TMPDIR" > {self.scratch}/compiled; ' + COMPILES)
        for name in ("a b", "a;b", "$(a)", "a'b"):
            folder = self.scratch / name
            folder.mkdir()
            self.run_driver(*self.arguments(), env={**self.environment(), "TMPDIR": str(folder)})
            used = pathlib.Path((self.scratch / "compiled").read_text(encoding="utf-8").rstrip("\n"))
            self.assertEqual(used.parent, pathlib.Path("/tmp"))
            self.assertFalse(used.exists())

    def test_tools_in_a_bin_and_in_the_path(self):
        self.make_tools(folder="tools/bin")
        self.run_driver(*self.arguments(), env=self.environment())
        arguments = ["run", self.graph, "--target", "iree", "--input", VALUE]
        self.run_driver(*arguments, env=self.environment(f"/nowhere::{self.tools}/bin:/usr/bin:/bin"))
        self.refused(*arguments, error="tool-not-found", env=self.environment())

    def test_tools_that_are_not_there(self):
        message = self.refused_run(error="tool-not-found")
        self.assertIn("no iree-compile", message)
        self.assertIn(str(self.tools), message)
        self.assertIn("pip install iree-base-compiler==", message)
        self.make_tools()
        (self.tools / "iree-run-module").chmod(0o644)
        self.assertIn("no iree-run-module", self.refused_run(error="tool-not-found"))

    def test_versions(self):
        self.make_tools(version="3.11.0")
        self.assertIn("3.11.0, needed 3.12.0 or later", self.refused_run(error="tool-version"))
        for version in ("3.12.0", "3.12.0rc20260801", "4.0.1"):
            self.make_tools(version=version)
            self.run_driver(*self.arguments(), env=self.environment())
        for version in ("unknown", "3.12", ""):
            self.make_tools(version=version)
            self.refused_run(error="tool-version")
        self.script("tools/iree-compile", "#!/bin/sh\necho 'no such library' >&2\nexit 1\n")
        self.assertIn("no such library", self.refused_run(error="tool-version"))

    def test_versions_of_packages(self):
        # The tool of a package is a script of a Python, which knows the package's version.
        python = self.script("python3",
                             f"#!/bin/sh\n[ \"$1\" = -c ] || exec /bin/sh \"$@\"\ncat {self.scratch}/version\n")
        for version, agrees in ((VERSION, True), ("3.13.0", True), ("3.13.0rc20261017", False), ("3.12.0", False)):
            self.make_tools()
            self.write("version", version + "\n")
            self.script("tools/iree-run-module", f"#!{python}\n{COPIES}\n")
            if agrees:
                self.run_driver(*self.arguments(), env=self.environment())
            else:
                message = self.refused_run(error="tool-versions-differ")
                self.assertIn(f"iree-compile is version {VERSION}, iree-run-module is version {version}", message)
        self.write("version", "Traceback\n")
        self.assertIn("Traceback", self.refused_run(error="tool-version"))

    def test_a_program_of_another_version(self):
        # Its words are those of the runtime 3.13.0 on a program of 3.11.0.
        self.make_tools(runs="echo 'INTERNAL; import function hal.command_buffer.dispatch signature mismatch between "
                             "module and source hal; expected 0rriiiiICiDCiirIID_v' >&2; exit 1")
        self.assertIn("signature mismatch", self.refused_run(error="tool-versions-differ"))

    def test_a_program_that_does_not_compile(self):
        self.make_tools(compiles='echo "${TMPDIR}model.mlir:3:5: error: \033[31mno such op\033[0m" >&2; '
                                 'echo "  note" >&2; exit 1')
        message = self.refused_run(error="tool-compile-failed")
        self.assertIn("ends with 1: model.mlir:3:5: error: no such op\n", message)
        self.make_tools(compiles="kill -SEGV $$")
        self.assertIn("ends with 139: it says nothing", self.refused_run(error="tool-compile-failed"))
        self.make_tools(compiles="head -c 100000 /dev/zero | tr '\\0' 'x' >&2; exit 1")
        self.assertLess(len(self.refused_run(error="tool-compile-failed")), 2000)

    def test_a_program_that_does_not_run(self):
        self.make_tools(runs="echo 'RESOURCE_EXHAUSTED; out of memory' >&2; exit 1")
        message = self.refused_run(error="tool-run-failed")
        self.assertIn("RESOURCE_EXHAUSTED", message)
        self.assertIn("there is memory", message)
        self.make_tools(runs="echo 'NOT_FOUND; no function f' >&2; exit 1")
        self.assertNotIn("memory", self.refused_run(error="tool-run-failed"))
        self.make_tools(runs="exit 0")
        self.assertIn("nothing for output 'y'", self.refused_run(error="tool-run-failed"))
        for size in (7, 9):
            self.make_tools(runs=RUNS + f'head -c {size} /dev/zero > "$to"')
            self.refused_run(error="output-size")

    def test_the_time_limit(self):
        self.make_tools(compiles="sleep 300")
        self.assertIn("0.2 seconds", self.refused_run("--tool-seconds", "0.2", error="tool-time-limit"))
        self.make_tools(runs="sleep 300 & sleep 300")
        self.refused_run("--tool-seconds", "2", error="tool-time-limit")
        self.refused_run("--tool-seconds", "0", error="option-invalid")

    def assert_signal_ends_all(self, process, number):
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertEqual(list(self.temporary.iterdir()), [])
        deadline = time.monotonic() + 60
        while self.runs(number.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(self.runs(number.read_text().strip()))

    @staticmethod
    def runs(process):
        # One that has ended is there until the system's first process has taken note of it.
        try:
            state = pathlib.Path("/proc", process, "stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state not in "ZX"

    def start(self):
        return subprocess.Popen(driver.command(*self.arguments()), env=self.environment(), stderr=subprocess.PIPE)

    def test_a_signal_ends_the_tool_and_removes_its_files(self):
        number = self.scratch / "pid"
        self.make_tools(compiles=f"mkdir $TMPDIR/inner; echo > $TMPDIR/inner/file; echo $$ > {number}; sleep 300")
        process = self.start()
        deadline = time.monotonic() + 60
        while not (number.exists() and number.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        self.assert_signal_ends_all(process, number)

    def test_a_signal_that_comes_as_soon_as_the_tool_runs(self):
        number = self.scratch / "pid"
        self.make_tools(compiles=f"echo $$ > {number}; kill -TERM $PPID; sleep 300")
        for _ in range(3):
            self.assert_signal_ends_all(self.start(), number)

    def test_what_is_said_of_this_machine(self):
        def row(path, *arguments):
            rows = self.document("targets", *arguments, env=self.environment(path))
            return next(row for row in rows if row["name"] == "iree")
        found = row("/usr/bin:/bin")
        self.assertFalse(found["ready"])
        self.assertEqual(found["missing"], ["iree-compile", "iree-run-module"])
        self.make_tools()
        found = row(f"{self.tools}:/usr/bin:/bin")
        self.assertTrue(found["ready"])
        self.assertEqual(found["uses"], f"{self.tools}/iree-compile {VERSION}")
        self.make_tools(version="3.11.0")
        self.assertIn("3.11.0", row(f"{self.tools}:/usr/bin:/bin")["missing"][0])

    def test_tools_are_looked_for_where_they_are_said_to_be(self):
        self.make_tools()
        found = next(row for row in self.document("targets", "--iree-dir", self.tools, env=self.environment())
                     if row["name"] == "iree")
        self.assertEqual((found["ready"], found["uses"]), (True, f"{self.tools}/iree-compile {VERSION}"))

    def test_a_folder_of_the_name_that_a_run_takes_is_no_hindrance(self):
        self.make_tools()
        (self.temporary / "capra-iree").mkdir()
        self.run_driver(*self.arguments(), env=self.environment())
        (self.temporary / "capra-iree").rmdir()

    def test_commands_that_run_nothing_need_no_tools(self):
        for command in ("inspect", "graph"):
            self.run_driver(command, self.model, "--target", "iree", env=self.environment())
        self.refused("verify", self.model, "--target", "iree", error="tool-not-found", env=self.environment())
        self.refused("embed", self.model, "--target", "iree", "--token-ids", "--input", "-", stdin=b"2 5 3\n",
                     error="tool-not-found", env=self.environment())


if __name__ == "__main__":
    driver.main()
