"""Puts the peers into a scratch folder: packages, the checkpoint in each peer's form, candle and Capra."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]

# What a peer needs: packages of requirements.txt, and forms of the checkpoint (convert.py) in their order.
PYTHON_PEERS = {
    "onnxruntime": (["onnxruntime", "onnx", "safetensors"], ["onnx"]),
    "onnxruntime-fused": (["onnxruntime", "onnx", "safetensors"], ["onnx", "onnx-fused"]),
    "openvino": (["openvino", "onnx", "safetensors"], ["onnx", "openvino"]),
    "openvino-throughput": (["openvino", "onnx", "safetensors"], ["onnx", "openvino"]),
    "ctranslate2": (["ctranslate2", "torch", "transformers", "safetensors"], ["ctranslate2"]),
    "ctranslate2-workers": (["ctranslate2", "torch", "transformers", "safetensors"], ["ctranslate2"]),
    "torch": (["torch", "transformers"], []),
    "llama.cpp": (["llama-cpp-python", "gguf", "safetensors"], ["gguf"]),
}
PEERS = [*PYTHON_PEERS, "candle"]
# llama.cpp compiles for this machine, without the part that reads pictures.
PACKAGE_ENVIRONMENT = {"CMAKE_ARGS": "-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF"}


class NotInstalled(Exception):
    """Why a peer could not be installed."""


class Scratch:
    """The folder that holds everything installed, and how each peer is started from it."""

    def __init__(self, folder, model, capra_build=None):
        self.folder = folder
        self.model = model
        self.capra = capra_build or folder / "build" / "capra"
        self.builds_capra = capra_build is None
        self.python = folder / "venv" / "bin" / "python"
        weights = hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()
        self.forms = folder / "forms" / weights[:12]
        self.logs = folder / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.forms.mkdir(parents=True, exist_ok=True)
        self.done = set()

    @property
    def capra_driver(self):
        return self.capra / "bin" / "capra"

    @property
    def candle(self):
        return self.folder / "cargo" / "release" / "candle_peer"

    def command(self, name, threads):
        """The command line that starts a peer."""
        if name == "capra":
            return [self.capra / "bench" / "capra_peer", self.model, threads]
        if name == "candle":
            return [self.candle, self.model, threads]
        return [self.python, "-B", HERE / "peer.py", name, self.model, self.forms, threads]

    def install(self, name):
        """Installs what a peer needs and does not have yet; raises NotInstalled."""
        if name == "capra":
            self.step("capra", self.build_capra)
        elif name == "candle":
            self.step("candle", self.build_candle)
        else:
            packages, forms = PYTHON_PEERS[name]
            self.step("venv", self.make_environment)
            for package in packages:
                self.step(f"install {package}", lambda wanted=package: self.install_package(wanted))
            for form in forms:
                self.step(f"convert to {form}", lambda wanted=form: self.convert(wanted))

    def step(self, name, action):
        """Does once what several peers need."""
        if name not in self.done:
            action()
            self.done.add(name)

    def run(self, what, command, environment=None):
        print(f"{what}...", file=sys.stderr, flush=True)
        log = self.logs / (what.replace(" ", "_") + ".log")
        if shutil.which(str(command[0])) is None:
            raise NotInstalled(f"{what}: there is no {command[0]}")
        with open(log, "wb") as output:
            done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, env=os.environ | (environment or {}), check=False)
        if done.returncode != 0:
            lines = [line.strip() for line in open(log, errors="replace") if line.strip()]
            errors = [line for line in lines if "error" in line.lower()]
            raise NotInstalled(f"{what}: {(errors or lines or ['no message'])[-1][:200]}")

    def make_environment(self):
        if not self.python.exists():
            self.run("make environment", [sys.executable, "-m", "venv", self.folder / "venv"])

    def install_package(self, package):
        self.run(f"install {package}", [self.python, "-m", "pip", "install", "--constraint",
                                        HERE / "requirements.txt", "numpy", package], PACKAGE_ENVIRONMENT)

    def convert(self, form):
        if (self.forms / form).exists():
            return
        unfinished = self.forms / (form + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        self.run(f"convert to {form}", [self.python, "-B", HERE / "convert.py", form, self.model, unfinished])
        unfinished.rename(self.forms / form)

    def build_candle(self):
        # The processor's own instructions, as candle's examples are built.
        self.run("build candle", ["cargo", "build", "--release", "--locked",
                                  "--manifest-path", HERE / "candle" / "Cargo.toml"],
                 {"CARGO_TARGET_DIR": str(self.folder / "cargo"), "RUSTFLAGS": "-C target-cpu=native"})

    def build_capra(self):
        if self.builds_capra:
            self.run("configure capra", ["cmake", "-S", HERE, "-B", self.capra.parent, "-DCMAKE_BUILD_TYPE=Release"])
            self.run("build capra", ["cmake", "--build", self.capra.parent, "--parallel", os.cpu_count(),
                                     "--target", "capra_driver", "capra_peer"])
        for program in (self.capra_driver, self.capra / "bench" / "capra_peer"):
            if not program.exists():
                raise NotInstalled(f"build capra: {program.name} is not in {program.parent}")

    def versions(self):
        """Package and version, as installed."""
        found = {}
        if self.python.exists():
            done = subprocess.run([self.python, "-m", "pip", "freeze"], capture_output=True, text=True, check=False)
            wanted = {line.split("==")[0] for line in (HERE / "requirements.txt").read_text().splitlines()}
            for line in done.stdout.splitlines():
                name, _, version = line.replace("_", "-").partition("==")
                if name in wanted:
                    found[name] = version
        lines = (HERE / "candle" / "Cargo.lock").read_text().splitlines()
        for name in ("candle-core", "gemm"):
            found[name] = lines[lines.index(f'name = "{name}"') + 1].split('"')[1]
        if self.capra_driver.exists():
            done = subprocess.run([self.capra_driver, "--version"], capture_output=True, text=True, check=False)
            found["capra"] = done.stdout.strip().removeprefix("capra ")
        return found


def find_model():
    """The checkpoint's folder; scripts/get_model.sh gets it if it is not there."""
    done = subprocess.run([REPOSITORY / "scripts" / "get_model.sh"], stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(done.stdout.strip())
