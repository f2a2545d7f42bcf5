#!/bin/sh
# Starts the backend; builds it first where the binary is missing or older than a source. Several may start at once:
# one builds, the others wait for it.
here=$(cd "$(dirname "$0")" && pwd)
cache="$here/.cache"
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || cache="${TMPDIR:-/tmp}/adze-$(id -u)"
mkdir -p "$cache"

stale() {
  [ ! -x "$cache/adze" ] || [ -n "$(find "$here/src" -newer "$cache/adze" \( -name '*.cpp' -o -name '*.h' \) -print)" ]
}

build() {
  own="$cache/adze.$$"
  g++ -std=gnu++17 -O1 -o "$own" "$here"/src/*.cpp -lquadmath >&2 && mv -f "$own" "$cache/adze"
}

if stale; then
  if command -v flock >/dev/null; then
    exec 9>"$cache/lock"
    flock 9
    if stale; then build || exit 1; fi
    exec 9>&-
  else
    build || exit 1
  fi
fi
exec "$cache/adze"
