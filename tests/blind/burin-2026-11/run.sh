#!/bin/sh
# Builds the backend at the first start, under a lock, and becomes it.
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$here/build"
flock "$here/build/lock" make -C "$here/src" -j2 >"$here/build/log" 2>&1 || { cat "$here/build/log" >&2; exit 1; }
exec "$here/build/burin"
