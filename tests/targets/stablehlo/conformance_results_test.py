"""When conformance.json counts as stale, and what --write makes of it; no op is run."""

import json
import pathlib
import tempfile
import unittest
import unittest.mock

import conformance_test

PASSED = {"f32": {"result": "passed"}}
FAILED = {"f32": {"result": "unsupported", "reason": "none"}}
OPS = ["abs", "add"]


class ConformanceResultsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.file = pathlib.Path(scratch.name) / "conformance.json"
        for name, value in (("RESULTS", self.file), ("JUDGE", "IREE 2")):
            patch = unittest.mock.patch.object(conformance_test, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def commit(self, judge, ops):
        self.file.write_text(conformance_test.results_text({"judge": judge, "ops": ops}), encoding="utf-8")

    def update(self, results, ops=None, write=False):
        return conformance_test.update(results, ops or OPS, OPS, write)

    def committed(self):
        return json.loads(self.file.read_text(encoding="utf-8"))

    def test_the_same_results_of_the_same_judge(self):
        self.commit("IREE 2", {"abs": PASSED, "add": PASSED})
        before = self.file.read_bytes()
        self.assertEqual(self.update({"abs": PASSED, "add": PASSED}), [])
        self.assertEqual(self.update({"abs": PASSED, "add": PASSED}, write=True), [])
        self.assertEqual(self.file.read_bytes(), before)

    def test_another_judge_with_the_same_results(self):
        self.commit("IREE 1", {"abs": PASSED, "add": PASSED})
        words, = self.update({"abs": PASSED, "add": PASSED})
        self.assertIn("IREE 1, where this is IREE 2", words)
        self.assertEqual(self.update({"abs": PASSED, "add": PASSED}, write=True), [])
        self.assertEqual(self.committed(), {"judge": "IREE 2", "ops": {"abs": PASSED, "add": PASSED}})

    def test_another_judge_on_a_part_of_the_ops(self):
        self.commit("IREE 1", {"abs": PASSED, "add": PASSED})
        words, = self.update({"abs": PASSED}, ops=["abs"], write=True)
        self.assertIn("--write takes all ops at once", words)
        self.assertEqual(self.committed()["judge"], "IREE 1")

    def test_other_results(self):
        self.commit("IREE 2", {"abs": PASSED, "add": PASSED, "gone": PASSED})
        self.assertEqual(len(self.update({"abs": FAILED, "add": PASSED})), 2)
        self.assertEqual(self.update({"abs": FAILED}, ops=["abs"], write=True), [])
        self.assertEqual(self.committed(), {"judge": "IREE 2", "ops": {"abs": FAILED, "add": PASSED}})

    def test_no_file_yet(self):
        self.assertEqual(self.update({"abs": PASSED, "add": PASSED}, write=True), [])
        self.assertEqual(self.committed(), {"judge": "IREE 2", "ops": {"abs": PASSED, "add": PASSED}})


if __name__ == "__main__":
    unittest.main()
