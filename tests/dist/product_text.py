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
# Every text file git knows is read but these; a line that is no longer needed is a finding.
EXCEPTIONS = {
    "capra/io/tokenizers_c/Cargo.lock": "cargo writes it, and names the registry of each crate",
    "bench/peers/candle/Cargo.lock": "cargo writes it, and names the registry of each crate",
    "tests/dist/product_text.py": "must spell what it looks for",
}


def check(repository, _):
    for path in repository.files():
        if not repository.is_text(path):
            continue
        found_any = False
        for number, line in enumerate(repository.text(path).splitlines(), 1):
            for what, pattern in FORBIDDEN.items():
                found = pattern.search(line)
                if found:
                    found_any = True
                    if str(path) not in EXCEPTIONS:
                        yield f"{path}:{number}: {what}: {found.group(0)}"
        if str(path) in EXCEPTIONS and not found_any:
            yield f"tests/dist/product_text.py: {path} needs no exception"


if __name__ == "__main__":
    main(check)
