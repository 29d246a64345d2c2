"""Memory of `embed`: bounded by the weights and 100 MiB at a stated budget, and flat however long the input is. Memory of
`export`: weights go from file to file, not through memory of its own."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import threading
import time

import driver

BUDGET = 2048  # tokens computed together
ROOM = 100 << 20
GROWTH = 4 << 20  # what the allocator may still add after the first two fifths
EXPORT = 64 << 20  # anonymous memory of an export whose weights stand beside the program
WORDS = "the goat climbs rocks above a village and looks down on river mill bridge road bell night water".split()


def lengths(count, longest, every):
    """Random lengths up to `longest`; where `every` is given, every so-many-th is up to 254 words long."""
    numbers = random.Random(11)
    for i in range(count):
        yield numbers.randint(0, 254 if every and i % every == 0 else longest)


class MemoryTest(driver.DriverTest):
    def test_ten_thousand_random_lengths(self):
        """In label ci most texts are short; the nightly run has all lengths alike."""
        nightly = os.environ.get("CAPRA_TEST_NIGHTLY") == "1"
        wanted = list(lengths(10_000, 254 if nightly else 16, 0 if nightly else 100))
        model = driver.checkpoint()
        process = subprocess.Popen(
            driver.command("embed", model, "--input", "-", "--token-budget", BUDGET, "--threads", "2"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def feed():
            numbers = random.Random(12)
            for length in wanted:
                process.stdin.write((" ".join(numbers.choices(WORDS, k=length)) + "\n").encode())
            process.stdin.close()

        feeder = threading.Thread(target=feed)
        feeder.start()
        peaks = {}
        for index, line in enumerate(process.stdout):
            row = json.loads(line)
            self.assertEqual((row["index"], row["tokens"]), (index, wanted[index] + 2))
            if index in (4000, 9900):
                peaks[index] = self.status(process.pid, "VmHWM")
        feeder.join()
        process.stdout.close()
        self.assertEqual(process.wait(), driver.DONE)
        self.assertEqual(index, len(wanted) - 1)
        weights = (model / "model.safetensors").stat().st_size
        print(f"peak resident set: {peaks[9900] / 2**20:.1f} MiB, weights {weights / 2**20:.1f} MiB, "
              f"grown since row 4000: {(peaks[9900] - peaks[4000]) / 2**20:.2f} MiB")
        self.assertLessEqual(peaks[9900], weights + ROOM)
        self.assertLessEqual(peaks[9900] - peaks[4000], GROWTH)

    def test_export_with_weights_beside_the_program(self):
        self.export_is_small()

    def test_export_of_weights_that_are_made_one_at_a_time(self):
        # In f64 they are more than the bound.
        for form in ("irpa", "safetensors"):
            with self.subTest(form=form):
                self.export_is_small("--weights", form, "--dtype-policy", "linear=f64")
                made = (self.scratch / "program" / f"model.{form}").stat().st_size
                self.assertGreater(made, (driver.checkpoint() / "model.safetensors").stat().st_size + EXPORT // 2)
                shutil.rmtree(self.scratch / "program")

    def export_is_small(self, *arguments):
        process = subprocess.Popen(
            driver.command("export", driver.checkpoint(), "--target", "stablehlo", "--constants", "external",
                           *arguments, "--output", self.scratch / "program"), stdout=subprocess.DEVNULL)
        samples = []
        while process.poll() is None:
            samples.append(self.status(process.pid, "RssAnon"))
            time.sleep(0.002)
        self.assertEqual(process.returncode, driver.DONE)
        print(f"anonymous memory of an export: at most {max(samples) / 2**20:.1f} MiB in {len(samples)} samples")
        self.assertGreater(len(samples), 20)
        self.assertGreater(max(samples), 0)
        self.assertLess(max(samples), EXPORT)

    @staticmethod
    def status(process, field):
        """A figure of the process in bytes; 0 of one that has ended."""
        for line in pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
        return 0


if __name__ == "__main__":
    driver.main()
