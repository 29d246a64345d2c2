"""What the checks share: the files of the repository, and how a check reports what it found."""

import argparse
import pathlib
import re
import subprocess
import sys

SKIPPED_FOLDERS = {".git", "build", ".cache", "__pycache__", "target"}


class Repository:
    """The tracked and the not yet tracked files under a root, as paths relative to it."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self._files = None

    def files(self, *folders, suffixes=None):
        """Sorted relative paths, optionally under some folders and with some suffixes."""
        if self._files is None:
            self._files = sorted(self._listed())
        chosen = []
        for path in self._files:
            if folders and path.parts[0] not in folders:
                continue
            if suffixes and path.suffix not in suffixes:
                continue
            chosen.append(path)
        return chosen

    def _listed(self):
        if (self.root / ".git").exists():
            command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
            done = subprocess.run(command, cwd=self.root, capture_output=True, check=False)
            if done.returncode == 0:
                names = done.stdout.decode().split("\0")
                return {pathlib.Path(n) for n in names if n and (self.root / n).is_file()}
        found = set()
        for path in self.root.rglob("*"):
            relative = path.relative_to(self.root)
            if path.is_file() and not SKIPPED_FOLDERS.intersection(relative.parts):
                found.add(relative)
        return found

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def is_text(self, path):
        """Whether the file is UTF-8 without NUL bytes: what a person reads."""
        content = (self.root / path).read_bytes()
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return b"\0" not in content

    def read_list(self, path):
        """Lines `name: reason` of an exceptions file as a dict; '#' starts a comment line."""
        entries = {}
        if not (self.root / path).exists():
            return entries
        for line in self.text(path).splitlines():
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.partition(": ")
                entries[name.strip()] = reason.strip()
        return entries


def without_comments(text):
    """C++ text with comments blanked; line numbers and string literals stay."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)

    def blank(match):
        piece = match.group(0)
        if piece.startswith("/"):
            return re.sub(r"[^\n]", " ", piece)
        return piece

    return pattern.sub(blank, text)


def main(check, **options):
    """Runs `check(repository, arguments)` as a program; each finding is one printed line."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    for name, text in options.items():
        parser.add_argument("--" + name.replace("_", "-"), help=text)
    arguments = parser.parse_args()
    findings = list(check(Repository(arguments.root), arguments))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings")
    sys.exit(1 if findings else 0)
