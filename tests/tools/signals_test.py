"""A signal ends the driver as it ends other programs, and leaves no unfinished output."""

import json
import signal
import struct
import subprocess
import time

import driver
import small_model

IDS = "2 5 6 7 3\n"
# A broken invariant aborts; that is an internal error with its own code, not a crash.
CODES = {signal.SIGINT: -signal.SIGINT, signal.SIGTERM: -signal.SIGTERM, signal.SIGHUP: -signal.SIGHUP,
         signal.SIGQUIT: -signal.SIGQUIT, signal.SIGXCPU: -signal.SIGXCPU,
         signal.SIGABRT: driver.INTERNAL}


class SignalsTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def names(self):
        return sorted(path.name for path in self.scratch.iterdir() if path.name != "model")

    def wait_for(self, is_there):
        deadline = time.monotonic() + 60
        while not is_there() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertTrue(is_there())

    def stop(self, process, number, code):
        process.send_signal(number)
        _, said = process.communicate()
        self.assertEqual(process.returncode, code, said)
        self.assertEqual(b"this is a bug" in said, code == driver.INTERNAL)

    def test_a_signal_leaves_nothing_behind(self):
        for number, code in CODES.items():
            with self.subTest(signal=number):
                process = subprocess.Popen(
                    driver.command("embed", self.model, "--token-ids", "--input", "-", "--format", "npy",
                                   "--output", self.scratch / "v.npy"),
                    stdin=subprocess.PIPE, stderr=subprocess.PIPE)
                process.stdin.write((IDS * 1100).encode())
                process.stdin.flush()
                # Rows are on their way once the unfinished file is there.
                self.wait_for(self.names)
                self.assertRegex(self.names()[0], r"^v\.npy\.\w{6}$")
                self.stop(process, number, code)
                self.assertEqual(self.names(), [])

    def test_a_signal_leaves_no_folder_of_an_export(self):
        graph = self.write("f.tir", """graph @f {
  %x = input : f32[268435456]
  %w = parameter {path = "w"} : f32[268435456]
  %y = add %x %w
  output %y
}
""")
        # A gigabyte of zeros that takes no room; writing it takes longer than a signal does.
        header = json.dumps({"w": {"dtype": "F32", "shape": [1 << 28], "data_offsets": [0, 1 << 30]}}).encode()
        weights = self.scratch / "w.safetensors"
        with open(weights, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            file.truncate(8 + len(header) + (1 << 30))
        for number, code in CODES.items():
            with self.subTest(signal=number):
                process = subprocess.Popen(driver.command("export", graph, "--parameters", weights,
                                                          "--output", self.scratch / "program"),
                                           stderr=subprocess.PIPE)
                self.wait_for(lambda: any(self.scratch.glob("program.??????/model.irpa.??????")))
                self.assertTrue(any(self.scratch.glob("program.??????/model.mlir")))
                self.stop(process, number, code)
                self.assertEqual(self.names(), ["f.tir", "w.safetensors"])


if __name__ == "__main__":
    driver.main()
