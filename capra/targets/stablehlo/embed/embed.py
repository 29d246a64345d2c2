#!/usr/bin/env python3
"""Embeds texts with the program in this folder, which IREE runs.

  embed.py TEXT...       each argument is a text
  embed.py < texts.txt   each line is a text

Prints one JSON object a text: index, tokens (as used), truncated, dropped_tokens, embedding. Needs the Python packages
iree-base-runtime, numpy and tokenizers, and at the first call iree-compile, which makes model.vmfb.
"""

import json
import pathlib
import shutil
import subprocess
import sys

try:
    import iree.runtime
    import numpy
    import tokenizers
except ImportError as missing:
    sys.exit(f"embed.py: there is no Python package {missing.name}; python3 -m pip install 'iree-base-compiler>=3.12' "
             "'iree-base-runtime>=3.12' numpy tokenizers")

FOLDER = pathlib.Path(__file__).resolve().parent
PROGRAM = FOLDER / "model.mlir"
COMPILED = FOLDER / "model.vmfb"


def read_json(name):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def compile_program():
    """Makes model.vmfb for this machine, whole or not at all."""
    tool = shutil.which("iree-compile", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("iree-compile")
    if tool is None:
        sys.exit("embed.py: there is no iree-compile; install the Python package iree-base-compiler")
    flags = (FOLDER / "iree.flags").read_text(encoding="utf-8").split()
    made = COMPILED.with_suffix(".new")
    if subprocess.run([tool, *flags, str(PROGRAM), "-o", str(made)], check=False).returncode:
        sys.exit("embed.py: iree-compile failed")
    made.replace(COMPILED)


def load_program(report, scope):
    """The program as a function: token ids to a vector."""
    if not COMPILED.exists():
        compile_program()
    config = iree.runtime.Config("local-task")
    modules = [iree.runtime.create_hal_module(config.vm_instance, config.device)]
    if report["archive"]:
        index = iree.runtime.ParameterIndex()
        index.load(str(FOLDER / report["archive"]))
        provider = index.create_provider(scope=scope)
        modules.insert(0, iree.runtime.create_io_parameters_module(config.vm_instance, provider))
    modules.append(iree.runtime.VmModule.mmap(config.vm_instance, str(COMPILED)))
    function = iree.runtime.SystemContext(vm_modules=modules, config=config).modules.module[report["function"]]
    return lambda ids: function(ids).to_host()


def load_tokenizer(settings):
    """Text to its token ids and the number of tokens that were cut off."""
    tokenizer = tokenizers.Tokenizer.from_file(str(FOLDER / settings["tokenizer"]))

    def encode(text):
        tokenizer.no_truncation()
        whole = tokenizer.encode(settings["prompt"] + text).ids
        if len(whole) <= settings["max_length"]:
            return whole, 0
        tokenizer.enable_truncation(settings["max_length"], direction=settings["truncation_side"])
        ids = tokenizer.encode(settings["prompt"] + text).ids
        return ids, len(whole) - len(ids)

    return encode


def lines():
    """Those of standard input; what is no UTF-8 is replaced."""
    sys.stdin.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    for line in sys.stdin:
        yield line.removesuffix("\n").removesuffix("\r")


def main(texts):
    settings = read_json("embed.json")
    encode = load_tokenizer(settings)
    embed = load_program(read_json("report.json"), settings["archive_scope"])
    for index, text in enumerate(texts or lines()):
        ids, dropped = encode(text)
        if settings["length"] not in (None, len(ids)):
            sys.exit(f"embed.py: text {index} has {len(ids)} tokens; this program takes texts of exactly "
                     f"{settings['length']} tokens; export with --length dynamic")
        vector = embed(numpy.array(ids, numpy.int32))
        row = {"index": index, "tokens": len(ids), "truncated": dropped > 0, "dropped_tokens": dropped,
               "embedding": vector.tolist()}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
