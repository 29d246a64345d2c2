"""report.html of an exported encoder of twelve layers, in a browser: its facts, folding by mouse and keyboard, no error
and no request, and pictures that are not blank."""

import json
import os
import pathlib
import re

import browser
import driver
import small_model

LAYERS = 12
LAYER = "encoder/layer.3"


def boxes(selector):
    return f"[...document.querySelectorAll({json.dumps(selector)})].map((box) => box.dataset.id)"


def box(name):
    return f'g[data-id="{name}"]'


def opened(test):
    """A browser that ends with the test."""
    program = browser.find()
    if program is None:
        if os.environ.get("CI"):
            test.fail("no Chromium; scripts/install_packages.sh --ci installs it")
        test.skipTest("no Chromium on this machine")
    made = browser.Browser(program)
    test.addCleanup(made.__exit__)
    return made


class ReportPageTest(driver.DriverTest):
    def setUp(self):
        super().setUp()
        self.browser = opened(self)
        self.addCleanup(setattr, small_model, "LAYERS", small_model.LAYERS)
        small_model.LAYERS = LAYERS
        model = small_model.make(self.scratch / "twelve", config={**small_model.CONFIG, "num_hidden_layers": LAYERS})
        folder = self.scratch / "program"
        self.report = self.document("export", model, "--output", folder, "--approximate", "gelu=tanh",
                                    "--keep-fused", "softmax")
        self.page = folder / "report.html"
        self.browser.open(self.page)

    def has_focus(self, name):
        self.assertEqual(self.browser.value("document.activeElement.dataset.id"), name)

    def expanded(self):
        return set(self.browser.value(boxes('g[aria-expanded="true"]')))

    def test_needs_nothing_but_itself(self):
        self.assertEqual(self.browser.errors, [])
        self.assertEqual([url for url in self.browser.requests if not url.startswith("data:")], [self.page.as_uri()])
        text = self.page.read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]*\"", text), [])
        self.assertNotIn("@data@", text)

    def test_every_fact_is_there(self):
        text = self.browser.value(
            "(() => { for (const one of document.querySelectorAll('details')) one.open = true; "
            "return new Promise((done) => setTimeout(() => done(document.body.textContent), 50)); })()")
        self.assertIn("Capra export report", self.browser.value("document.title"))
        facts = [self.report["model"], self.report["function"], self.report["target"], self.report["capra"],
                 *self.report["flags"], *self.report["run"]]
        for port in [*self.report["inputs"], *self.report["outputs"], *self.report["parameters"]]:
            facts += [port["name"], port["type"]]
        for one in self.report["artifacts"]:
            facts += [one["file"], str(one["bytes"]), one["sha256"]]
        for one in self.report["stages"]:
            facts += [one["name"], one["status"], *(row["pass"] for row in one["passes"])]
        for one in self.report["rewrites"]:
            facts += [one["pass"], one["rule"], one["node"], one["before"], one["after"]]
        for one in self.report["approximations"]:
            facts += [one["node"], one["from"], one["to"], one["reason"]]
        for one in self.report["kept_fused"]:
            facts += [one["node"], one["as"], one["body"], one["reason"]]
        facts += [one["op"] for one in self.report["budget"]["ops"]]
        self.assertGreater(len(self.report["rewrites"]), LAYERS)
        self.assertEqual(len(self.report["approximations"]), LAYERS)
        self.assertEqual(len(self.report["kept_fused"]), LAYERS)
        for fact in set(facts):
            self.assertIn(fact, text)
        self.assertIn("4.8e-4", text)

    def test_what_is_there_is_said(self):
        graph = self.write("g.tir", 'graph @g {\n  %x = input : f32[2]\n  %y = abs %x\n  output %y\n}\n')
        self.document("export", graph, "--output", self.scratch / "text")
        model = small_model.make(self.scratch / "embedding")
        self.document("export", model, "--outputs", "embedding", "--output", self.scratch / "vectors")
        for folder, has_budget, embeds in (("text", False, False), ("vectors", True, True)):
            self.browser.open(self.scratch / folder / "report.html")
            text = self.browser.value("document.getElementById('main').textContent")
            self.assertEqual("capra verify --budget" in text, has_budget)
            self.assertEqual("python3 embed.py 'a text'" in text, embeds)

    def test_layers_start_folded(self):
        self.assertEqual(self.expanded(), {"encoder"})
        folded = set(self.browser.value(boxes('g[aria-expanded="false"]')))
        self.assertEqual(folded, {"embeddings", *(f"encoder/layer.{i}" for i in range(LAYERS))})
        self.assertEqual(self.browser.value("document.querySelectorAll('g.op').length"), 2)  # input and output

    def test_the_keyboard_unfolds_and_folds(self):
        self.browser.value(f"document.querySelector('{box(LAYER)}').focus()")
        self.browser.press("Enter")
        self.assertIn(LAYER, self.expanded())
        self.has_focus(LAYER)
        self.browser.press(" ")
        self.assertNotIn(LAYER, self.expanded())
        self.browser.press("ArrowRight")
        self.assertIn(LAYER, self.expanded())
        self.browser.press("Tab")
        self.has_focus(f"{LAYER}/attention")
        self.browser.press("Enter")
        self.assertIn(f"{LAYER}/attention", self.expanded())
        labels = self.browser.value(f"[...document.querySelectorAll('{box(LAYER + '/attention')} g.op')]"
                                    ".map((box) => box.getAttribute('aria-label'))")
        self.assertEqual(sum(label.startswith("linear") for label in labels), 4)
        self.browser.press("ArrowLeft")
        self.assertEqual(self.expanded(), {"encoder", LAYER})
        self.assertEqual(self.browser.errors, [])

    def test_the_mouse_unfolds_and_shows_an_op(self):
        for module in (LAYER, f"{LAYER}/feed_forward"):
            self.browser.click(box(module))
            self.assertIn(module, self.expanded())
        self.browser.click(f"{box(LAYER)} g.op[aria-label^=gelu]")
        shown = self.browser.value("document.querySelector('.inspector').innerText")
        for fact in ("gelu", "encoder.layer.3.feed_forward", "approximated", "gelu(approximate=false)"):
            self.assertIn(fact, shown)
        self.browser.click(box(LAYER))
        self.assertEqual(self.expanded(), {"encoder"})
        self.assertEqual(self.browser.errors, [])

    def test_all_unfolds(self):
        self.browser.click('button[aria-label="Unfold all modules"]')
        document = self.document("graph", self.scratch / "twelve", "--sequence", "single", "--approximate", "gelu=tanh")
        drawn = [node for node in document["nodes"] if node["op"] not in ("parameter", "constant")]
        self.assertEqual(self.browser.value("document.querySelectorAll('g.op').length"), len(drawn))
        overlaps = self.browser.value("""(() => {
          const frames = [...document.querySelectorAll("g.op > .box")].map((box) => box.getBoundingClientRect());
          let count = 0;
          frames.forEach((a, i) => frames.slice(i + 1).forEach((b) => {
            count += a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
          }));
          return count;
        })()""")
        self.assertEqual(overlaps, 0)
        self.browser.click('button[aria-label="Fold all modules"]')
        self.assertEqual(self.expanded(), set())

    def test_pictures_are_not_blank_light_and_dark(self):
        pictures = {}
        for scheme in ("light", "dark"):
            self.browser.color_scheme(scheme)
            pictures[scheme] = self.browser.screenshot()
            wanted = os.environ.get("CAPRA_TEST_PICTURES")
            if wanted:
                pathlib.Path(wanted, f"report-{scheme}.png").write_bytes(pictures[scheme])
        self.assertNotEqual(pictures["light"], pictures["dark"])
        for picture in pictures.values():
            counts = self.browser.colors(picture)
            self.assertGreater(len(counts), 50)  # letters have soft edges
            self.assertLess(counts[0], 0.9 * sum(counts))


class MeasuredTest(driver.DriverTest):
    def test_what_a_run_showed_is_there(self):
        page = opened(self)
        graph = self.write("f.tir", "graph @f {\n  %x = input : f32[1, 3]\n  %y = add %x, %x : f32[1, 3]\n  output %y\n}\n")
        samples = self.write("samples.json", json.dumps([{"x": [[1.0, -0.3, 0.07]]}]))
        report = self.document("export", graph, "--target", "ga2", "--calibrate", samples, "--output", self.scratch / "program")
        page.open(self.scratch / "program" / "report.html")
        text = page.value("document.getElementById('measured').textContent")
        [measured] = report["measured"]
        self.assertIn(measured["what"], text)
        self.assertIn(repr(measured["value"]), text)
        self.assertEqual(page.errors, [])


class EscapeTest(driver.DriverTest):
    def test_data_do_not_end_the_script(self):
        graph = self.write("f.tir", 'graph @f {\n  %x = input {name = "</script><b>"} : f32[2]\n'
                                    '  %y = abs %x : f32[2]\n  output %y {name = "<!--"}\n}\n')
        self.document("export", graph, "--output", self.scratch / "program")
        text = (self.scratch / "program" / "report.html").read_text(encoding="utf-8")
        self.assertEqual(text.count("</script>"), 2)
        self.assertNotIn("<!--", text)
        found = re.search(r'<script type="application/json" id="data">(.*)</script>\n<script>', text)
        data = json.loads(found.group(1))
        self.assertEqual(data["report"]["inputs"][0]["name"], "</script><b>")


if __name__ == "__main__":
    driver.main()
