"""Installs other programs that compute sentence vectors, runs them and Capra in turns, and writes a table.

    python3 bench/peers/run.py --output table.md

README.md says what is measured and how.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import sys

import report
from install import PEERS, REPOSITORY, NotInstalled, Scratch, find_model
from peer_process import Child, PeerFailed, PeerProcess
from workloads import LENGTHS, Golden, Words, batches_of, encoder_flops

BATCH_SIZES = (1, 4, 8, 16, 32, 64)
LONG_TEXTS, LONG_LENGTH = 8, 256
MIN_STARTS = 7


def say(text):
    print(text, file=sys.stderr, flush=True)


class Comparison:
    """All runs with one number of threads."""

    def __init__(self, scratch, settings, threads):
        self.scratch, self.settings, self.threads = scratch, settings, threads
        self.cpus = {settings.cpu} if threads == 1 else None
        words = Words(scratch.model)
        self.single = {length: words.text(length) for length in LENGTHS}
        self.mixed = words.mixed(settings.texts)
        self.long = [words.text(LONG_LENGTH)[1] for _ in range(LONG_TEXTS)]
        self.peers = {}
        self.failed = {}
        self.results = {
            "batch_search": {}, "batch": {}, "rounds": {}, "start": {}, "accuracy": {}, "last_rss": {},
            "driver": {"ids": [], "text": [], "start ids": [], "start text": []}, "tokenizer_load": []}

    def run(self, names):
        config = json.loads((self.scratch.model / "config.json").read_text())
        self.results["mixed_tokens"] = sum(len(ids) for _, ids in self.mixed)
        self.results["mixed_texts"] = len(self.mixed)
        self.results["long_flops"] = encoder_flops(config, map(len, self.long))
        try:
            for name in names:
                self.attempt(name, self.open)
            golden = Golden(REPOSITORY / "tests" / "golden" / "minilm")
            for name in list(self.peers):
                say(f"{self.threads} threads: {name}: vectors and batch sizes")
                self.attempt(name, self.turn(lambda peer: self.check(peer, golden)))
                self.attempt(name, self.turn(self.search_batch))
            for number in range(self.settings.rounds):
                for name in self.in_rotation(number):
                    say(f"{self.threads} threads: round {number + 1} of {self.settings.rounds}: {name}")
                    self.attempt(name, self.turn(self.measure))
                self.attempt("capra", self.run_driver)
            for name in list(self.peers):
                self.attempt(name, self.close)
            for number in range(self.settings.starts):
                say(f"{self.threads} threads: start {number + 1} of {self.settings.starts}")
                for name in self.in_rotation(number, names):
                    self.attempt(name, self.start)
        finally:
            for peer in self.peers.values():
                peer.kill()
        return self.results

    def in_rotation(self, number, names=None):
        names = list(self.peers if names is None else names)
        at = number % len(names) if names else 0
        return names[at:] + names[:at]

    def attempt(self, name, action):
        """Runs an action of a peer; one that fails is left out from there on, with its reason. Not Capra."""
        if name in self.failed:
            return
        try:
            action(name)
        except (PeerFailed, OSError) as error:
            if name == "capra":
                sys.exit(f"nothing to compare with: capra: {error}")
            say(f"{name}: {error}")
            self.failed[name] = str(error)
            if name in self.peers:
                self.peers.pop(name).kill()

    def child(self, kind, name, command):
        return kind(command, self.scratch.logs / f"{name}.{self.threads}.log", self.threads, self.cpus)

    def open(self, name):
        self.peers[name] = self.child(PeerProcess, name, self.scratch.command(name, self.threads))
        self.peers[name].name = name
        self.peers[name].ready()
        self.peers[name].pause()

    def turn(self, action):
        """The action on a peer that runs only meanwhile."""
        def taken(name):
            peer = self.peers[name]
            peer.resume()
            action(peer)
            peer.pause()
        return taken

    def check(self, peer, golden):
        alone = peer.vectors_of([[text] for text in golden.texts])
        size = 8
        together = peer.vectors_of([golden.texts[at:at + size] for at in range(0, len(golden.texts), size)])
        self.results["accuracy"][peer.name] = {
            "alone": golden.error(alone), "batches": golden.error(together), "texts": len(golden.texts),
            "equal": golden.equal_rows(alone, together) if len(alone) == len(together) else 0}

    def search_batch(self, peer):
        """The fastest batch size on every fourth text by length, and for the long batch whole or one by one."""
        texts = sorted((ids for _, ids in self.mixed), key=len)[::4]
        tokens = sum(map(len, texts))
        sizes = self.settings.batch_sizes + ((0,) if peer.name == "capra" else ())
        rates = {size: tokens / min(peer.seconds_of(batches_of(texts, size), repeat=2)) for size in sizes}
        whole, alone = (min(peer.seconds_of(batches_of(self.long, size), repeat=2)) for size in (0, 1))
        self.results["batch_search"][peer.name] = rates
        self.results["batch"][peer.name] = {"mixed": max(rates, key=rates.get),
                                            "long": 1 if alone < whole else LONG_TEXTS}

    def measure(self, peer):
        """All workloads once; the peak of the processor directly before the long batch, which is a share of it."""
        rounds = self.results["rounds"].setdefault(
            peer.name, {key: [] for key in ("peak", "long", *map(str, LENGTHS), "mixed")})
        batch = self.results["batch"][peer.name]
        rounds["peak"].append(self.measure_peak(peer))
        long = batches_of(self.long, batch["long"])
        rounds["long"].append(statistics.median(peer.seconds_of(long, 3, self.settings.seconds)))
        for length in LENGTHS:
            one = [[self.single[length][1]]]
            peer.seconds_of(one, 3)
            rounds[str(length)].append(statistics.median(peer.seconds_of(one, 5, self.settings.seconds)))
        mixed = batches_of([ids for _, ids in self.mixed], batch["mixed"])
        rounds["mixed"].append(peer.seconds_of(mixed)[0])

    def measure_peak(self, peer):
        capra = self.peers["capra"]
        if capra is not peer:
            peer.pause()
            capra.resume()
        flops = capra.ask({"op": "peak"})["flops"]
        if capra is not peer:
            capra.pause()
            peer.resume()
        return flops

    def embed_command(self, *arguments):
        return [self.scratch.capra_driver, "embed", self.scratch.model, "--quiet", "--threads", self.threads,
                *arguments]

    def run_driver(self, _):
        """`capra embed` on a file of texts and on one of their token ids: whole processes, and with one short text."""
        text, ids = self.single[12]
        ids = " ".join(map(str, ids))
        written = {}
        for kind, option, one, rows in (("ids", ["--token-ids"], ids, [" ".join(map(str, row)) for _, row in self.mixed]),
                                        ("text", [], text, [row for row, _ in self.mixed])):
            file = self.scratch.folder / f"mixed_{kind}.txt"
            file.write_text("\n".join(rows) + "\n")
            output = self.scratch.folder / f"mixed_{kind}.npy"
            output.unlink(missing_ok=True)
            for key, given in (("start " + kind, ["--text", one, "--output", "-"]),
                               (kind, ["--input", file, "--output", output, "--format", "npy"])):
                child = self.child(Child, "capra_embed", self.embed_command(*option, *given))
                child.finish()
                self.results["driver"][key].append(child.seconds())
            written[kind] = output.read_bytes()
        if written["ids"] != written["text"]:
            raise PeerFailed("capra embed gives other vectors for texts than for their token ids")

    def close(self, name):
        peer = self.peers[name]
        peer.resume()
        self.results["last_rss"][name] = peer.finish()
        del self.peers[name]

    def start(self, name):
        """From the start of a process to the first vector of a text of 12 tokens; then its peak resident set."""
        text, ids = self.single[12]
        if name == "capra":
            self.start_driver("capra", "--token-ids", "--text", " ".join(map(str, ids)))
            self.start_driver("capra, text in", "--text", text)
            return
        child = self.child(PeerProcess, name, self.scratch.command(name, self.threads))
        try:
            child.send({"batches": [[ids]], "vectors": True})
            child.ready()
            child.reply()
            self.keep_start(name, child.seconds(), child.finish())
        finally:
            child.kill()
        if name == "candle":
            reader = self.child(PeerProcess, name, [self.scratch.candle, "--tokenizer",
                                                    self.scratch.model / "tokenizer.json"])
            self.results["tokenizer_load"].append(reader.reply()["seconds"])
            reader.finish()

    def start_driver(self, label, *arguments):
        child = self.child(Child, "capra_embed", self.embed_command(*arguments))
        try:
            child.line()
            self.keep_start(label, child.seconds(), child.finish())
        finally:
            child.kill()

    def keep_start(self, label, seconds, rss):
        kept = self.results["start"].setdefault(label, {"seconds": [], "rss": []})
        kept["seconds"].append(seconds)
        kept["rss"].append(rss)


def read_settings():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path.home() / ".cache" / "capra" / "peers",
                        help="folder for what is installed and built")
    parser.add_argument("--peers", default=",".join(PEERS), help="of " + ",".join(PEERS))
    parser.add_argument("--threads", default="1,2", help="numbers of threads, one comparison each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)),
                        help="the CPU that runs with one thread are bound to")
    parser.add_argument("--model", type=pathlib.Path, help="checkpoint; default: what scripts/get_model.sh gets")
    parser.add_argument("--capra-build", type=pathlib.Path,
                        help="folder with bin/capra and bench/capra_peer; default: built in the scratch folder")
    parser.add_argument("--quick", action="store_true", help="one round, fewer texts: to see that all runs")
    parser.add_argument("--allow-missing", action="store_true", help="exit with 0 although a peer is missing")
    parser.add_argument("--output", type=pathlib.Path, help="the table; default: table.md in the scratch folder")
    parser.add_argument("--json", type=pathlib.Path, help="every figure; default: results.json in the scratch folder")
    settings = parser.parse_args()
    settings.peers = [name for name in settings.peers.split(",") if name]
    unknown = [name for name in settings.peers if name not in PEERS]
    if unknown:
        parser.error(f"no peer is called {', '.join(unknown)}")
    settings.threads = [int(count) for count in settings.threads.split(",")]
    settings.texts, settings.seconds, settings.starts = 512, 0.7, MIN_STARTS
    settings.batch_sizes = BATCH_SIZES
    if settings.quick:
        settings.rounds, settings.texts, settings.seconds, settings.starts = 1, 128, 0.2, 3
        settings.batch_sizes = (8, 32)
    settings.scratch = settings.scratch.expanduser().resolve()
    return settings


def main():
    settings = read_settings()
    scratch = Scratch(settings.scratch, (settings.model or find_model()).resolve(),
                      settings.capra_build and settings.capra_build.resolve())
    missing, names = {}, []
    for name in ["capra", *settings.peers]:
        try:
            scratch.install(name)
            names.append(name)
        except NotInstalled as error:
            say(f"{name}: {error}")
            missing[name] = str(error)
    if "capra" in missing:
        sys.exit("nothing to compare with: Capra was not built")
    results = {
        "date": datetime.date.today().isoformat(), "command": " ".join(["run.py", *sys.argv[1:]]),
        "machine": report.machine(), "versions": scratch.versions(), "rounds": settings.rounds,
        "weights_bytes": (scratch.model / "model.safetensors").stat().st_size, "model": scratch.model.name,
        "missing": missing, "threads": {}}
    for threads in settings.threads:
        if threads == 1:
            chosen = [name for name in names if name != "ctranslate2-workers"]  # it is ctranslate2 then
        else:
            chosen = names
        comparison = Comparison(scratch, settings, threads)
        results["threads"][str(threads)] = comparison.run(chosen)
        for name, reason in comparison.failed.items():
            missing.setdefault(name, f"{threads} threads: {reason}")
    text = report.table(results)
    (settings.json or scratch.folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (settings.output or scratch.folder / "table.md").write_text(text)
    print(text)
    if missing:
        say("missing: " + ", ".join(missing))
    sys.exit(1 if missing and not settings.allow_missing else 0)


if __name__ == "__main__":
    main()
