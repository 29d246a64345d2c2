"""The order of rooms: who may include whom, who may name a machine, where heavy headers may be."""

import re

from repository import main, without_comments

# Room: the rooms it may include besides itself.
MAY_INCLUDE = {
    "base": set(),
    "ir": {"base"},
    "ops": {"base", "ir"},
    "interp": {"base", "ir", "ops"},
    "passes": {"base", "ir", "ops"},
    "runtime": {"base", "ir", "ops", "passes"},
    "nn": {"base", "ir", "ops", "passes", "runtime"},
    "io": {"base", "ir"},
    "targets": {"base", "ir", "ops", "interp", "passes", "runtime", "nn", "io"},
}
EVERYTHING = set(MAY_INCLUDE) | {"models"}

# Each of these costs seconds to read, so one .cc of ours stands in front of it.
HEAVY = {"CLI": "CLI/", "json": "nlohmann/", "httplib": "httplib.h"}

# Words that only targets/ (and what stands above it) may say.
MACHINES = re.compile(
    r"\b\w*?(avx\w*|avx2|avx512\w*|neon|sse4\w*|stablehlo|iree|onnx\w*|vulkan\w*|spirv|ga2)\w*\b",
    re.IGNORECASE)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def room_of(path):
    parts = path.parts
    if parts[0] == "capra" and len(parts) > 2:
        return parts[1]
    return parts[0]


def check(repository, _):
    heavy_users = {name: [] for name in HEAVY}
    for path in repository.files("capra", "models", "tools", "python", suffixes={".h", ".cc"}):
        room = room_of(path)
        text = without_comments(repository.text(path))
        allowed = MAY_INCLUDE.get(room, EVERYTHING) | {room}
        if path.parts[0] == "capra" and room not in MAY_INCLUDE:
            yield f"{path}: capra/{room} is no room of the house"
        for match in INCLUDE.finditer(text):
            quoted, target = match.group(1) == '"', match.group(2)
            where = f"{path}:{text.count(chr(10), 0, match.start(1)) + 1}"
            parts = target.split("/")
            written = target.endswith("_shaders.h") or (repository.root / (target + ".in")).exists()
            if quoted and not written and not (repository.root / target).exists():
                yield f"{where}: \"{target}\" is not a path of the repository"
            if parts[0] == "capra" and len(parts) > 2 and parts[1] not in allowed:
                yield f"{where}: {room} may not include {target}"
            if parts[0] in ("models", "tools", "python") and path.parts[0] == "capra":
                yield f"{where}: the library may not include {target}"
            if target.startswith("capra/targets/") and len(parts) > 3 and room == "targets":
                own = path.parts[2]
                if own not in (parts[2], "all_targets.cc"):
                    yield f"{where}: target {own} may not include {target}"
            for name, prefix in HEAVY.items():
                if target.startswith(prefix):
                    heavy_users[name].append(where)
                    if path.suffix != ".cc":
                        yield f"{where}: {target} belongs in one .cc, not in a header"
            if target.startswith("fmt/") and path.suffix != ".cc":
                yield f"{where}: {target} belongs in .cc files, not in a header"
            if target.startswith("hwy/"):
                if not str(path).startswith(("capra/targets/cpu/kernels/", "capra/targets/cpu/isa/")):
                    yield f"{where}: {target} belongs in targets/cpu/kernels or isa"
        if path.parts[0] == "capra" and room != "targets":
            for number, line in enumerate(text.splitlines(), 1):
                found = MACHINES.search(line)
                if found:
                    yield f"{path}:{number}: only targets/ may name a machine: {found.group(0)}"
    for name, users in heavy_users.items():
        files = sorted({user.rsplit(":", 1)[0] for user in users})
        if len(files) > 1:
            yield f"{name} is included by {len(files)} files, one is allowed: {', '.join(files)}"


if __name__ == "__main__":
    main(check)
