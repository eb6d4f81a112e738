#!/bin/sh
# make demo: what timelake.h makes of a table that Timelake wrote. Usage: examples/demo.sh TLAKE
set -eu
tlake=$1
head=tests/data/lake/iot.trucks.head
work=build/demo
mkdir -p "$work"

bold='' dim='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
fi
say() { printf '%s\n' "$dim$1$plain"; }
bytes() { wc -c <"$1" | tr -d ' '; }

say "A table on object storage is metadata, manifests, indexes: many requests before the first row. Timelake keeps one
small object beside them that holds it all, the head. This one was written by Timelake 0.7 (Rust) into a test lake:
$(bytes "$head") bytes, with files, statistics, Parquet footers and the newest row of each series."
tool=$(basename "$tlake")
printf '\n%s$ %s head %s%s\n' "$bold" "$tool" "$head" "$plain"
"$tlake" head "$head"

printf '\n'
say "Written anew, in both codecs, without any dependency:"
for step in "$head json $work/json.head" "$work/json.head arrow $work/arrow.head"; do
    # shellcheck disable=SC2086
    set -- $step
    printf '\n%s$ %s head %s --recode %s --out %s%s\n' "$bold" "$tool" "$1" "$2" "$3" "$plain"
    "$tlake" head "$1" --recode "$2" --out "$3"
done

for f in "$head" "$work/json.head" "$work/arrow.head"; do
    "$tlake" head --json "$f" | sed 's/"codec":"[a-z]*"//' | cksum
done >"$work/sums"
printf '\n%s%-34s %10s%s\n' "$dim" "" "bytes" "$plain"
printf '%-34s %10s\n' "arrow, as Timelake wrote it (zstd)" "$(bytes "$head")" "json, by timelake.h" \
    "$(bytes "$work/json.head")" "arrow, by timelake.h" "$(bytes "$work/arrow.head")"
if [ "$(sort -u "$work/sums" | wc -l)" -eq 1 ]; then
    printf '\nThe three hold the same document, value for value. Timelake reads all of them.\n'
else
    printf '\nThe three differ: this is a bug.\n'
    exit 1
fi

printf '\n'
say "The table itself, opened cold: with its head it takes one round trip, through the metadata chain it takes four."
show() { # ARGUMENTS...: the command as one would type it, and what it prints
    printf '\n%s$ %s' "$bold" "$tool"
    for a in "$@"; do
        case $a in *" "*) printf ' "%s"' "$a" ;; *) printf ' %s' "$a" ;; esac
    done
    printf '%s\n' "$plain"
    "$tlake" "$@"
}
table=s3://demo-lake/wh/iot/trucks
root="-o timelake_local_root=tests/data/warehouse"
# shellcheck disable=SC2086
if "$tlake" open --help >/dev/null 2>&1 && "$tlake" open $table $root >/dev/null 2>&1; then
    show open $table $root
    show open $table $root --no-head
    printf '\n'
    say "Which files does a question need? And what did each truck say last?"
    show plan $table $root --where "time >= '2026-01-03' and device = 3"
    show latest $table $root

    printf '\n'
    say "A commit to a copy of it: a Parquet file is checked against the table, uploaded, and in with version 8; the head
goes behind it, so that the next reader, from nothing, still takes one round trip."
    rm -rf "$work/lake" && cp -R tests/data/warehouse "$work/lake" && chmod -R u+w "$work/lake"
    root="-o timelake_local_root=$work/lake"
    file=$(ls tests/data/warehouse/wh/iot/trucks/data/time_day=2026-01-03/*.parquet | head -n 1)
    show append $table "$file" $root
    show open $table $root
fi
say "Next: examples/files.c is the smallest program; \`$tlake --help\`; the manual is the first page of timelake.h."
