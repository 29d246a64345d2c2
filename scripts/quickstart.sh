#!/usr/bin/env bash
# From a fresh Debian 12 machine to embeddings: packages, build, model, three sentences, parity.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh
cmake --preset release >/dev/null
cmake --build --preset release --target capra_driver
capra=build/release/bin/capra
model=$(scripts/get_model.sh)

echo
"$capra" inspect "$model"
echo
"$capra" embed "$model" \
  --text "A goat climbs the rocks above the village." \
  --text "High over the houses, a mountain goat is climbing." \
  --text "The central bank left interest rates unchanged." |
  python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
print("cosine similarity of the three sentences")
for a in rows:
    print("  " + "  ".join("%6.3f" % sum(x * y for x, y in zip(a["embedding"], b["embedding"])) for b in rows))
'
echo
"$capra" verify "$model"
