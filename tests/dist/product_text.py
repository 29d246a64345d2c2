"""The repository speaks of the product alone: no machine's paths, issue numbers or registry hosts."""

import re

from repository import main

FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.$}/])/(?:work|root|home|Users|mnt|tmp)/\w+"),
    "an issue number": re.compile(r"(?i)\b(?:issue|issues|PR|pull request|TODO|FIXME)\s*[#(]\s*#?\d+"),
    "unfinished work": re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b"),
    "a registry host": re.compile(
        r"(?i)\b(?:pypi\.org|files\.pythonhosted\.org|crates\.io|static\.rust-lang\.org|deb\.debian\.org|"
        r"artifactregistry|\w+\.pkg\.dev|registry\.npmjs)\b"),
    "who wrote it": re.compile(r"(?i)\b(?:co-authored-by|generated (?:by|with) (?:an? )?(?:ai|llm|model)|"
                               r"claude|chatgpt|copilot|language model)\b"),
}
# Files whose words are not ours, or which must spell what they look for.
OTHERS = {"LICENSE", "tests/dist/product_text.py", "tests/dist/planted_faults_test.py"}
TEXT = {".h", ".cc", ".in", ".py", ".sh", ".md", ".txt", ".cmake", ".json", ".rs", ".toml", ".tir", ".sv", ""}


def check(repository, _):
    for path in repository.files():
        if str(path) in OTHERS or path.suffix not in TEXT or "corpus" in path.parts:
            continue
        for number, line in enumerate(repository.text(path).splitlines(), 1):
            for what, pattern in FORBIDDEN.items():
                found = pattern.search(line)
                if found:
                    yield f"{path}:{number}: {what}: {found.group(0)}"


if __name__ == "__main__":
    main(check)
