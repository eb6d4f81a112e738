#!/bin/sh
# tests/heads_json.sh TLAKE: `tlake head --json` of every head in tests/data prints what Timelake decodes from it, byte for byte
# (tests/data/expected-heads). A JSON head that Timelake wrote and cannot read holds what its arrow twin holds.
set -u
tlake=$1
here=$(dirname "$0")
expected=$here/data/expected-heads
passed=0 failed=0
out=${TMPDIR:-/tmp}/timelake-heads.$$
trap 'rm -f "$out" "$out.want"' EXIT
for head in "$here"/data/heads/*.head "$here"/data/lake/*.head; do
    [ -f "$head" ] || continue
    name=$(basename "$head" .head)
    twin=$expected/${name%.json}.arrow.json
    status=0
    "$tlake" head --json "$head" >"$out" 2>"$out.want" || status=$?
    if [ "$status" -eq 1 ] && [ "$name" = iot.unknown_codec ]; then
        passed=$((passed + 1))
        continue
    fi
    if [ "$status" -ne 0 ]; then
        echo "$name: exit code $status: $(cat "$out.want")"
        failed=$((failed + 1))
        continue
    fi
    if [ -f "$expected/$name.cksum" ]; then
        cksum <"$out" | cmp -s - "$expected/$name.cksum" || status=1
    elif [ -f "$expected/$name.json" ]; then
        cmp "$out" "$expected/$name.json" || status=1
    elif [ -f "$twin" ]; then
        sed 's/"codec":"arrow"/"codec":"json"/' "$twin" >"$out.want"
        cmp "$out" "$out.want" || status=1
    else
        echo "$name: nothing to compare with"
        status=1
    fi
    if [ "$status" -eq 0 ]; then
        passed=$((passed + 1))
    else
        echo "$name: not what Timelake decodes"
        failed=$((failed + 1))
    fi
done
if [ "$((passed + failed))" -eq 0 ]; then echo 'skipped: no heads in tests/data'; fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
