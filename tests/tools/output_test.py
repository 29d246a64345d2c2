"""Where results go: whole files or none, full disks, closed pipes."""

import os
import resource
import stat
import subprocess
import sys
import threading
import unittest

import driver
import small_model

IDS = "2 5 6 7 3\n"


class OutputTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def embed(self, *arguments):
        return ("embed", self.model, "--token-ids", *arguments)

    def names(self):
        return sorted(path.name for path in self.scratch.iterdir() if path.name != "model")

    def test_a_file_gets_its_name_when_it_is_whole(self):
        output = self.scratch / "v.csv"
        self.out(*self.embed("--text", "2 3", "--format", "csv", "--output", output))
        self.assertEqual(self.names(), ["v.csv"])
        old = output.read_bytes()
        self.refused(*self.embed("--text", "2 x", "--format", "csv", "--output", output), error="input-token-ids")
        self.assertEqual(output.read_bytes(), old)
        self.out(*self.embed("--text", "2 3", "--text", "2 5 3", "--format", "csv", "--output", output))
        self.assertEqual(output.read_bytes().count(b"\n"), 3)
        self.assertEqual(self.names(), ["v.csv"])

    def test_permissions_are_the_users(self):
        output = self.scratch / "v.csv"
        self.out(*self.embed("--text", "2 3", "--output", output), preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(stat.S_IMODE(output.stat().st_mode), 0o640)
        output.chmod(0o604)
        self.out(*self.embed("--text", "2 3", "--output", output))
        self.assertEqual(stat.S_IMODE(output.stat().st_mode), 0o604)

    def test_a_link_is_followed(self):
        target = self.write("real.jsonl", "old")
        (self.scratch / "link.jsonl").symlink_to(target)
        self.out(*self.embed("--text", "2 3", "--output", self.scratch / "link.jsonl"))
        self.assertTrue((self.scratch / "link.jsonl").is_symlink())
        self.assertIn(b"embedding", target.read_bytes())

    def test_a_named_pipe_is_written_to(self):
        pipe = self.scratch / "pipe"
        os.mkfifo(pipe)
        for form in ("jsonl", "npy"):
            read = []
            reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
            reader.start()
            self.out(*self.embed("--text", "2 3", "--format", form, "--output", pipe))
            reader.join()
            self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
            self.assertEqual(read[0], self.run_driver(*self.embed("--text", "2 3", "--format", form)).stdout)

    def test_places_that_cannot_be_written(self):
        message = self.refused(*self.embed("--text", "2 3", "--output", self.scratch / "none" / "v"),
                               error="output-unwritable")
        self.assertIn("none", message)
        self.refused(*self.embed("--text", "2 3", "--output", self.scratch), error="output-unwritable")
        self.refused(*self.embed("--text", "2 3", "--output", ""), error="output-unwritable")
        self.refused("docs", "--output", self.write("file", "x") / "docs", error="file-unwritable")
        graph = self.write("f.tir", 'graph @f {\n  %x = input : f32[1]\n  %y = abs %x\n  output %y\n}\n')
        self.refused("run", graph, "--input", "x=f32[1] [1]", "--output",
                     self.scratch / "none" / "y.safetensors",
                     error="file-unwritable")

    def test_a_full_disk_on_standard_output(self):
        many = (IDS * 2000).encode()
        commands = [self.embed("--input", "-", "--format", form) for form in ("jsonl", "csv", "npy")]
        commands += [("ops",), ("targets",), ("explain",), ("inspect", self.model), ("graph", self.model), ("--help",)]
        for arguments in commands:
            with self.subTest(command=arguments[0]), open("/dev/full", "wb") as full:
                self.refused(*arguments, error="output-unwritable", stdin=many, stdout=full)

    def test_a_full_disk_under_a_file(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

        for form in ("jsonl", "csv", "npy"):
            with self.subTest(format=form):
                self.refused(*self.embed("--input", "-", "--format", form, "--output", self.scratch / "v"),
                             error="output-unwritable", stdin=(IDS * 2000).encode(), preexec_fn=limit)
                self.assertEqual(self.names(), [])

    def test_a_reader_that_leaves(self):
        many = (IDS * 3000).encode()
        for form in ("jsonl", "csv", "npy"):
            with self.subTest(format=form):
                ours, theirs = os.pipe()
                process = subprocess.Popen(driver.command(*self.embed("--input", "-", "--format", form)),
                                           stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE)
                os.close(theirs)
                feeder = threading.Thread(target=self.feed, args=(process, many))
                feeder.start()
                self.assertTrue(os.read(ours, 100))
                os.close(ours)
                said = process.stderr.read().decode()
                process.stderr.close()
                feeder.join()
                self.assertEqual(process.wait(), driver.BAD, said)
                self.assertRegex(said, r"^error\[output-closed\]: .*\n  at: standard output\n  help: .*\n$")

    @staticmethod
    def feed(process, contents):
        try:
            process.stdin.write(contents)
            process.stdin.close()
        except BrokenPipeError:
            pass

    @unittest.skipUnless(sys.platform == "linux" and os.geteuid() != 0, "root may write everywhere")
    def test_a_folder_without_permission(self):
        folder = self.scratch / "locked"
        folder.mkdir(0o500)
        self.refused(*self.embed("--text", "2 3", "--output", folder / "v"), error="output-unwritable")


if __name__ == "__main__":
    driver.main()
