#!/bin/sh
# Runs the examples. A program examples/NAME.c says in a comment how: `Run: ARGUMENTS` (from the top of the checkout; no
# such line: without arguments). It must exit 0; when tests/data/examples/NAME.txt is there, it must print that.
# Usage: tests/examples.sh FOLDER, where FOLDER has the programs.
set -u
folder=$1
passed=0 failed=0
for source in examples/*.c; do
    name=$(basename "$source" .c)
    if [ "$name" = tlake ] || [ ! -x "$folder/$name" ]; then continue; fi
    arguments=$(sed -n 's/.*Run: *//p' "$source" | head -n 1 | sed 's/ *\*\/.*//')
    # shellcheck disable=SC2086
    got=$("$folder/$name" $arguments 2>&1)
    code=$?
    want=tests/data/examples/$name.txt
    if [ "$code" -ne 0 ]; then
        echo "examples/$name.c: exit code $code"
        echo "$got" | tail -n 5
        failed=$((failed + 1))
    elif [ -f "$want" ] && [ "$got" != "$(cat "$want")" ]; then
        echo "examples/$name.c: prints something else than $want"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
