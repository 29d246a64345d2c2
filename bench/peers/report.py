"""The table of a comparison, in Markdown, from what run.py measured."""

import platform
import statistics
import subprocess

from workloads import LENGTHS

# Vectors farther than this from the golden ones are another model's, and set no mark for the others.
SAME_MODEL = 1e-5
LATENCY_BARS = {12: 0.6, 32: 0.6, 128: 0.8, 256: 0.8}
THROUGHPUT_BARS = {1: 1.4, 2: 1.6}
PEAK_BAR, START_BAR, RSS_BAR = 0.8, 0.75, 1.5


def machine():
    """Lines about this machine."""
    done = subprocess.run(["lscpu"], capture_output=True, text=True, check=False)
    facts = dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    wanted = ("Model name", "CPU family", "Model", "Stepping", "CPU(s)", "Hypervisor vendor",
              "L1d cache", "L2 cache", "L3 cache")
    lines = {key: facts[key].strip() for key in wanted if key in facts}
    lines["System"] = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return lines


def spread(values, scale=1.0, digits=2):
    """Median (smallest-largest)."""
    if not values:
        return "-"
    low, middle, high = (f"{scale * value:.{digits}f}" for value in (min(values), statistics.median(values),
                                                                    max(values)))
    return middle if len(values) == 1 else f"{middle} ({low}-{high})"


def rows(header, lines):
    """A Markdown table."""
    text = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return [*text, *("| " + " | ".join(line) + " |" for line in lines), ""]


class Figures:
    """One thread count's results, and the questions a table asks of them."""

    def __init__(self, threads, results):
        self.threads = int(threads)
        self.results = results
        self.rounds = {name: kept for name, kept in results["rounds"].items() if kept["mixed"]}

    def exact(self, name):
        return self.results["accuracy"].get(name, {}).get("alone", 1) <= SAME_MODEL

    def best(self, key):
        """The peer with the lowest median time of a workload."""
        peers = [name for name in self.rounds if name != "capra" and self.exact(name)]
        return min(peers, key=lambda name: statistics.median(self.rounds[name][key]), default=None)

    def ratios(self, name, key):
        """Of a peer's times to the best peer's, round by round; first that of the medians."""
        best = self.best(key)
        if best is None or name not in self.rounds:
            return []
        mine, theirs = self.rounds[name][key], self.rounds[best][key]
        return [statistics.median(mine) / statistics.median(theirs), *(a / b for a, b in zip(mine, theirs))]

    def shares(self, name):
        """The long batch's share of the multiply-add peak, round by round."""
        kept = self.rounds[name]
        return [self.results["long_flops"] / seconds / peak for seconds, peak in zip(kept["long"], kept["peak"])]

    def fastest_start(self):
        peers = {name: statistics.median(kept["seconds"]) for name, kept in self.results["start"].items()
                 if not name.startswith("capra") and self.exact(name)}
        return min(peers, key=peers.get, default=None)


def ratio_text(ratios, invert=False):
    if not ratios:
        return "-"
    values = [1 / value for value in ratios] if invert else ratios
    text = f"{values[0]:.2f}"
    return text if len(values) <= 2 else f"{text} ({min(values[1:]):.2f}-{max(values[1:]):.2f})"


def latency(figures):
    header = ["peer", *(f"{length} tokens" for length in LENGTHS), *(f"x {length}" for length in LENGTHS)]
    lines = [[name, *(spread(kept[str(length)], 1e3) for length in LENGTHS),
              *(ratio_text(figures.ratios(name, str(length))) for length in LENGTHS)]
             for name, kept in figures.rounds.items()]
    return ["### One text: ms, and time over that of the best peer", "", *rows(header, lines)]


def throughput(figures):
    results, lines = figures.results, []
    for name, kept in figures.rounds.items():
        size = results["batch"][name]
        rates = [results["mixed_tokens"] / seconds for seconds in kept["mixed"]]
        flops = [results["long_flops"] / seconds for seconds in kept["long"]]
        lines.append([name, str(size["mixed"] or "all"), spread(rates, digits=0),
                      ratio_text(figures.ratios(name, "mixed"), invert=True), str(size["long"]),
                      spread(kept["long"], 1e3, 1), spread(flops, 1e-9, 1), spread(figures.shares(name), 100, 0),
                      ratio_text(figures.ratios(name, "long"))])
    header = ["peer", "batch", "mixed, tokens/s", "x best peer", "8 x 256, batch", "8 x 256, ms", "GFLOP/s",
              "% of peak", "time x best peer"]
    return [f"### {results['mixed_texts']} texts of mixed length ({results['mixed_tokens']} tokens), and 8 x 256 tokens",
            "", *rows(header, lines)]


def start(figures, weights):
    results, fastest, lines = figures.results, figures.fastest_start(), []
    for name, kept in results["start"].items():
        share = "-"
        if fastest:
            share = "{:.2f}".format(statistics.median(kept["seconds"])
                                    / statistics.median(results["start"][fastest]["seconds"]))
        last = results["last_rss"].get(name)
        lines.append([name, spread(kept["seconds"], 1e3, 0), share, spread(kept["rss"], 1e-6, 0),
                      f"{statistics.median(kept['rss']) / weights:.2f}", f"{last / 1e6:.0f}" if last else "-"])
    header = ["peer", "ms", "x fastest peer", "peak resident set, MB", "x weights", "after all rounds, MB"]
    text = ["### Start of a process to the first vector (12 tokens)", "", *rows(header, lines)]
    if results["tokenizer_load"]:
        text += [f"The tokenizers crate alone reads tokenizer.json in {spread(results['tokenizer_load'], 1e3, 0)} ms.",
                 ""]
    return text


def text_in(figures):
    """Whole runs of `capra embed` less its start, for texts and for their token ids."""
    driver, tokens = figures.results["driver"], figures.results["mixed_tokens"]
    if not driver["text"]:
        return []
    rates = {kind: [tokens / max(whole - first, 1e-9) for whole, first in zip(driver[kind], driver["start " + kind])]
             for kind in ("ids", "text")}
    share = statistics.median(rates["text"]) / statistics.median(rates["ids"])
    lines = [[label, spread(driver[kind], 1e3, 0), spread(driver["start " + kind], 1e3, 0),
              spread(rates[kind], digits=0)] for kind, label in (("ids", "token ids"), ("text", "texts"))]
    return ["### `capra embed` on the mixed texts", "",
            *rows(["input", "whole process, ms", "with one short text, ms", "tokens/s of the difference"], lines),
            f"Texts in: {share:.2f} of the rate with token ids.", ""]


def accuracy(figures):
    lines = [[name, f"{kept['alone']:.1e}", f"{kept['batches']:.1e}", f"{kept['equal']} of {kept['texts']}",
              "" if figures.exact(name) else "not the same model; no mark for the others"]
             for name, kept in figures.results["accuracy"].items()]
    header = ["peer", "max abs error, alone", "in batches of 8", "texts with the same bits in both", ""]
    return ["### Vectors against golden/minilm", "", *rows(header, lines)]


def search(figures):
    lines = [[name, ", ".join(f"{size or 'all'}: {rate:.0f}" for size, rate in kept.items())]
             for name, kept in figures.results["batch_search"].items()]
    return ["### Search of the batch size: tokens/s on every fourth text, best of 2", "",
            *rows(["peer", "size: tokens/s"], lines)]


def bars(figures, weights):
    """What Capra wants to reach, and whether it did."""
    lines, results = [], figures.results

    def bar(what, value, limit, at_least, against):
        met = value >= limit if at_least else value <= limit
        sign = ">=" if at_least else "<="
        lines.append([what, f"{value:.2f}", f"{sign} {limit:.2f}", against, "pass" if met else "FAIL"])

    if "capra" not in figures.rounds:
        return ["### Bars", "", "None: Capra has no figures.", ""]
    if figures.best("mixed"):
        for length, limit in LATENCY_BARS.items():
            bar(f"{length} tokens, time", figures.ratios("capra", str(length))[0], limit, False,
                figures.best(str(length)))
        if figures.threads in THROUGHPUT_BARS:
            bar("mixed, rate", 1 / figures.ratios("capra", "mixed")[0], THROUGHPUT_BARS[figures.threads], True,
                figures.best("mixed"))
    bar("8 x 256, share of peak", statistics.median(figures.shares("capra")), PEAK_BAR, True, "multiply-add peak")
    if "capra" in results["start"]:
        kept, fastest = results["start"]["capra"], figures.fastest_start()
        if fastest:
            ratio = statistics.median(kept["seconds"]) / statistics.median(results["start"][fastest]["seconds"])
            bar("start, time", ratio, START_BAR, False, fastest)
        bar("peak resident set", statistics.median(kept["rss"]) / weights, RSS_BAR, False, "weights file")
    return ["### Bars", "", *rows(["what", "Capra", "bar", "against", ""], lines)]


def table(results):
    """The whole document."""
    weights = results["weights_bytes"]
    text = [f"# Capra and its peers: {results['model']}, f32, CPU", "",
            f"{results['date']}, `{results['command']}`. Figures are medians of {results['rounds']} round{'s'[:results['rounds'] - 1]} "
            "(smallest-largest); ratios are of medians, in parentheses those of single rounds. "
            "The best peer is the fastest one whose vectors are within "
            f"{SAME_MODEL:g} of the golden ones. How: bench/peers/README.md.", "",
            *(f"- {key}: {value}" for key, value in results["machine"].items()),
            "- " + ", ".join(f"{name} {version}" for name, version in results["versions"].items()),
            f"- weights: {weights / 1e6:.1f} MB", ""]
    if results["missing"]:
        text += ["## Missing", "", *rows(["peer", "reason"], [[name, reason.replace("|", "/")] for name, reason
                                                             in results["missing"].items()])]
    for threads, kept in results["threads"].items():
        figures = Figures(threads, kept)
        peaks = [peak for rounds in figures.rounds.values() for peak in rounds["peak"]]
        text += [f"## {threads} thread{'' if threads == '1' else 's'}", "",
                 f"Peak of fused multiply-adds: {spread(peaks, 1e-9, 1)} GFLOP/s.", "",
                 *latency(figures), *throughput(figures), *start(figures, weights), *text_in(figures),
                 *accuracy(figures), *search(figures), *bars(figures, weights)]
    return "\n".join(text)
