"""A signal ends the driver as it ends other programs, and leaves no unfinished output."""

import signal
import subprocess
import time

import driver
import small_model

IDS = "2 5 6 7 3\n"


class SignalsTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def names(self):
        return sorted(path.name for path in self.scratch.iterdir() if path.name != "model")

    def test_a_signal_leaves_nothing_behind(self):
        # A broken invariant aborts; that is an internal error with its own code, not a crash.
        codes = {signal.SIGINT: -signal.SIGINT, signal.SIGTERM: -signal.SIGTERM, signal.SIGHUP: -signal.SIGHUP,
                 signal.SIGABRT: driver.INTERNAL}
        for number, code in codes.items():
            with self.subTest(signal=number):
                process = subprocess.Popen(
                    driver.command("embed", self.model, "--token-ids", "--input", "-", "--format", "npy",
                                   "--output", self.scratch / "v.npy"),
                    stdin=subprocess.PIPE, stderr=subprocess.PIPE)
                process.stdin.write((IDS * 1100).encode())
                process.stdin.flush()
                # Rows are on their way once the unfinished file is there.
                deadline = time.monotonic() + 60
                while not self.names() and time.monotonic() < deadline:
                    time.sleep(0.01)
                self.assertRegex(self.names()[0], r"^v\.npy\.\w{6}$")
                process.send_signal(number)
                _, said = process.communicate()
                self.assertEqual(process.returncode, code, said)
                self.assertEqual(b"this is a bug" in said, code == driver.INTERNAL)
                self.assertEqual(self.names(), [])


if __name__ == "__main__":
    driver.main()
