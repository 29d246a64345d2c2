#!/usr/bin/env bash
# Puts the outside judges (scripts/judges.txt) into a Python environment in the cache folder and prints its Python.
# The folder is $CAPRA_CACHE/judges, with CAPRA_CACHE ~/.cache/capra by default; it is made once for each list.
set -euo pipefail

wanted=$(dirname "$(realpath "$0")")/judges.txt
judges=${CAPRA_CACHE:-$HOME/.cache/capra}/judges

# The list is copied into the folder last, so that a folder with the list is whole.
if ! cmp --quiet "$wanted" "$judges/judges.txt"; then
  mkdir -p "${judges%/*}"
  exec 9>"$judges.lock"
  flock 9
  if ! cmp --quiet "$wanted" "$judges/judges.txt"; then
    echo "judges: getting $(grep -c == "$wanted") packages" >&2
    rm -rf "$judges"
    python3 -m venv "$judges" >&2
    "$judges/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps \
      --requirement "$wanted" >&2
    cp "$wanted" "$judges/judges.txt"
  fi
fi
echo "$judges/bin/python"
