"""tools/mutate on a small tree: what notices a mutant, what lives, and what makes a run say nothing."""

import fcntl
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The check computes 2 + 3 and more, as the mutant wishes.
PROGRAM = """import os, signal, sys, time
first = 2
second = 3
pause = 0
dead = False
unused = 0
if dead: os.kill(os.getpid(), signal.SIGSEGV)
time.sleep(pause)
print("the sum is", first + second)
sys.exit(0 if first + second == 5 else 1)
"""
CHECK = {"name": "sum", "command": [sys.executable, "program.py"], "timeout": 10}
# What is built says whether it can be.
BUILD = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
set(CODE 0)
add_custom_target(thing COMMAND sh -c "exit ${CODE}" VERBATIM)
"""


def mutant(name, old, new, file="program.py", **more):
    return {"name": name, "file": file, "old": old, "new": new, **more}


FIRST = mutant("first is 4", "first = 2", "first = 4")
SECOND = mutant("second is 4", "second = 3", "second = 4")
UNUSED = mutant("unused is 1", "unused = 0", "unused = 1")


class MutateTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.tree = self.scratch / "tree"
        self.tree.mkdir()
        (self.tree / "program.py").write_text(PROGRAM, encoding="utf-8")
        (self.tree / "CMakeLists.txt").write_text(BUILD, encoding="utf-8")

    def mutate(self, mutants, *arguments, code=0, checks=(CHECK,), **more):
        path = self.scratch / "some.json"
        path.write_text(json.dumps({"checks": list(checks), "mutants": mutants, **more}), encoding="utf-8")
        return self.run_tool(path, *arguments, code=code)

    def run_tool(self, *arguments, code):
        command = [sys.executable, "-B", ROOT / "tools/mutate/mutate.py", "--root", "tree", "--folder", "copies",
                   *arguments]
        done = subprocess.run(command, cwd=self.scratch, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual((self.tree / "program.py").read_text(encoding="utf-8"), PROGRAM)
        return done.stdout + done.stderr

    def test_says_which_check_notices(self):
        other = {"name": "length", "command": [sys.executable, "-c", "assert 'unused = 0' in open('program.py').read()"]}
        text = self.mutate([FIRST, SECOND, UNUSED], checks=[CHECK, other])
        self.assertIn("first is 4: caught by sum (", text)
        self.assertIn("unused is 1: caught by length (", text)
        self.assertIn("some.json: 3 of 3 caught (sum 2, length 1); ", text)

    def test_a_mutant_that_lives_fails_the_run(self):
        text = self.mutate([FIRST, UNUSED], code=1)
        self.assertIn("unused is 1: ALIVE", text)
        self.assertIn("1 of 2 caught", text)

    def test_an_expression_that_is_none_is_refused(self):
        self.assertIn("--only (: no regular expression", self.mutate([FIRST], "--only", "(", code=2))

    def test_an_equivalent_one_lives(self):
        text = self.mutate([FIRST, {**UNUSED, "equivalent": "nothing reads it"}])
        self.assertIn("unused is 1: alive, equivalent: nothing reads it", text)
        self.assertIn("1 of 1 caught (sum 1), 1 of 1 equivalent alive", text)
        text = self.mutate([{**FIRST, "equivalent": "it is not"}], code=1)
        self.assertIn("first is 4: caught by sum, but it is marked as equivalent", text)
        self.assertIn("the sum is 7", text)

    def test_crashes_and_pauses_are_named(self):
        checks = [{**CHECK, "timeout": 1}]
        text = self.mutate([mutant("dies", "dead = False", "dead = True"), mutant("sleeps", "pause = 0", "pause = 60")],
                           checks=checks)
        self.assertIn("dies: caught by sum (ended by SIGSEGV)", text)
        self.assertIn("sleeps: caught by sum (more than 1 s)", text)

    def test_a_build_that_fails_is_named(self):
        broken = mutant("does not build", "CODE 0", "CODE 3", file="CMakeLists.txt")
        built = {**CHECK, "targets": ["thing"]}
        text = self.mutate([broken, SECOND], "--jobs", "1", targets=["thing"])
        self.assertIn("does not build: caught by the build", text)
        self.assertIn("second is 4: caught by sum", text)
        self.assertIn("caught by the build", self.mutate([broken], "--jobs", "1", checks=[built]))
        # Nothing is left of the mutant, and a build that fails by itself is no judge.
        (self.tree / "CMakeLists.txt").write_text(BUILD.replace("CODE 0", "CODE 1"), encoding="utf-8")
        self.assertIn("without a mutant, the build fails", self.mutate([FIRST], targets=["thing"], code=2))

    def test_checks_that_fail_by_themselves_judge_nothing(self):
        text = self.mutate([FIRST], checks=[{"name": "never", "command": ["false"]}], code=2)
        self.assertIn("without a mutant, never fails", text)
        text = self.mutate([FIRST], checks=[{"name": "absent", "command": ["./absent"]}], code=2)
        self.assertIn("absent (cannot be run", text)

    def test_old_texts_stand_once(self):
        for old, file, why in (("second", "program.py", "stands there 3 times"), ("third", "program.py", "0 times"),
                               ("x", "other.py", "there is no such file"), ("", "program.py", "0 times")):
            wrong = mutant("the wrong one", old, "y", file=file)
            for option in ([], ["--anchors"]):
                text = self.mutate([FIRST, wrong], *option, code=2)
                self.assertIn("some.json: the wrong one: ", text)
                self.assertIn(why, text)
        self.assertIn("2 mutants have this name", self.mutate([FIRST, {**SECOND, "name": FIRST["name"]}], code=2))
        self.assertIn("the new text is the old one", self.mutate([mutant("same", "first = 2", "first = 2")], code=2))
        self.assertIn("2 mutants, every old text", self.mutate([FIRST, SECOND], "--anchors"))

    def test_files_of_another_form_are_refused(self):
        path = self.scratch / "bad.json"
        for text in ("", "[]", "{}", '{"checks": [], "mutants": []}', '{"checks": [{"name": "x"}], "mutants": []}',
                     '{"checks": [{"name": "x", "command": "true"}], "mutants": []}',
                     '{"checks": [{"name": "x", "command": ["true"]}], "mutants": [{"name": "m"}]}'):
            path.write_text(text, encoding="utf-8")
            self.assertIn("bad.json", self.run_tool(path, code=2))
        self.assertIn("absent.json", self.run_tool(self.scratch / "absent.json", code=2))

    def test_some_of_many(self):
        mutants = [FIRST, SECOND, UNUSED]
        self.assertEqual(self.mutate(mutants, "--list").split("\n"), ["first is 4", "second is 4", "unused is 1", ""])
        self.assertEqual(self.mutate(mutants, "--list", "--every", "2").split("\n"), ["first is 4", "unused is 1", ""])
        self.assertEqual(self.mutate(mutants, "--list", "--only", "is 4$").split("\n"), ["first is 4", "second is 4", ""])
        self.assertIn("1 of 1 caught", self.mutate(mutants, "--only", "second is 4"))
        self.assertIn("no mutant is called so", self.mutate(mutants, "--only", "third", code=2))

    def test_outcomes_as_json(self):
        path = self.scratch / "outcomes.json"
        self.mutate([FIRST, UNUSED], "--json", path, code=1)
        rows = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual([(row["mutant"], row["caught_by"], row["changes"]) for row in rows],
                         [("first is 4", "sum", "program.py"), ("unused is 1", "", "program.py")])

    def test_one_run_at_a_time_uses_the_copies(self):
        self.mutate([FIRST])
        with open(self.scratch / "copies" / "lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("is in use by another run", self.mutate([FIRST], code=2))


if __name__ == "__main__":
    unittest.main()
