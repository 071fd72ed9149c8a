# What quickstart.sh and test.sh share: a line a stage with the time it took, and one virtual environment. Sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

STAGE=""
STARTED=0

stage() { # stage NAME: closes the stage before it with its time and opens the next
  local now
  now=$(date +%s)
  if [ -n "$STAGE" ]; then echo "== $STAGE: done in $((now - STARTED)) s"; fi
  STAGE="$1"
  STARTED=$now
  if [ -n "$STAGE" ]; then echo "== $STAGE"; fi
}

find_python() { # the first Python we support
  local candidate
  for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.10 python; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "No Python 3.10 to 3.13 found; install one or set PYTHON=/path/to/python3" >&2
  exit 1
}

install() { # install EXTRAS: .venv with this checkout in it; skipped when pyproject.toml has not changed since
  local extras="$1" mark sum
  if [ ! -x .venv/bin/python ]; then "$(find_python)" -m venv .venv; fi
  sum=$(cksum <pyproject.toml)
  mark=".venv/installed${extras//[^a-z]/-}"
  if [ "$(cat "$mark" 2>/dev/null)" = "$sum" ]; then
    echo "   already installed"
    return
  fi
  if ! command -v c++ >/dev/null && ! command -v g++ >/dev/null && ! command -v clang++ >/dev/null; then
    echo "   no C++ compiler found: llama-cpp-python is built from source and needs one (Debian: apt-get install g++ make)" >&2
  fi
  echo "   llama-cpp-python is compiled the first time: five to ten minutes on two cores"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".$extras"
  echo "$sum" >"$mark"
}
