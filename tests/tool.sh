#!/bin/sh
# What the command line tool promises (exit codes, one line on standard error, documents): tests/tool.sh TLAKE.
# Expected documents: tests/data/expected-heads, what Timelake decodes. Ends with `N passed, N failed`.
set -u
tlake=$1
here=$(dirname "$0")
heads=$here/data/heads
lake=$here/data/lake
expected=$here/data/expected-heads
work=${TMPDIR:-/tmp}/timelake-tool.$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
LC_ALL=C
export LC_ALL

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "tool: $1"; }

# run CODE ARGUMENTS...: standard output in $work/out, standard error in $work/err
run() {
    code=$1
    shift
    what="tlake $*"
    "$tlake" "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    if [ "$got" -eq "$code" ]; then ok; else bad "$what: exit code $got, not $code: $(head -n 1 "$work/err")"; fi
}
# says FILE TEXT: the file of the last run has the text
says() {
    if grep -qF -- "$2" "$work/$1"; then ok; else bad "$what: no '$2' in $1: $(head -c 300 "$work/$1")"; fi
}
# is FILE TEXT: the file of the last run is that line
is() {
    if [ "$(cat "$work/$1")" = "$2" ]; then ok; else bad "$what: $1 is '$(head -c 300 "$work/$1")', not '$2'"; fi
}
same() {
    if cmp -s "$1" "$2"; then ok; else bad "$what: $1 is not $2"; fi
}
empty() {
    if [ -s "$work/$1" ]; then bad "$what: $1 has '$(head -c 300 "$work/$1")'"; else ok; fi
}

# unsaid ARGUMENTS...: what cannot be printed, on a full disk and where standard output is closed, ends with exit code 1
unsaid() {
    if [ -w /dev/full ]; then
        what="tlake $* >/dev/full"
        "$tlake" "$@" >/dev/full 2>"$work/err" </dev/null &
        ends $! 1; says err 'standard output: No space left on device (io)'
    fi
    what="tlake $* >&-"
    "$tlake" "$@" >&- 2>"$work/err" </dev/null &
    ends $! 1; says err 'standard output: Bad file descriptor (io)'
}
# ends PID CODE: with that exit code, and soon
ends() {
    (sleep 20; kill "$1") >"$work/killed" 2>&1 &
    killer=$!
    wait "$1"
    got=$?
    kill $killer 2>/dev/null
    if [ $got -eq "$2" ]; then ok; else bad "$what: exit code $got, not $2"; fi
}

# ---- help, version, wrong usage ----
run 0 --help; says out 'usage: tlake'; empty err
run 0 head --help; says out 'tlake head FILE'; says out 'timestamp[us, tz=UTC]'
run 0 dump --help; says out '--as ipc'
run 0 --version
says out "tlake $(sed -n 's/^#define TL_VERSION_TEXT "\(.*\)"/\1/p' "$here/../src/base.h")"
run 2; says err 'a command is missing'; empty out
run 2 frobnicate; says err 'unknown command frobnicate'
run 2 head; says err 'a file or URL is missing'
run 2 head --bogus "$heads/zoo.arrow.head"; says err 'unknown option --bogus'; empty out
run 2 head -x "$heads/zoo.arrow.head"; says err 'unknown option -x'
run 2 head --jsonx "$heads/zoo.arrow.head"; says err 'unknown option --jsonx'
run 2 head a b; says err 'one file at a time'
run 2 head -o a=b a; says err '-o'
run 2 open --as ipc a; says err '--as'
run 2 head --as ipc a; says err '--as'
run 2 head --recode json a; says err '--recode and --out go together'
run 2 head --out b a; says err '--recode and --out go together'
run 2 head --recode xml --out b a; says err '--recode must be arrow or json'
run 2 head --recode; says err '--recode must be'
run 2 dump a; says err '--as must be'
run 2 dump --as orc a; says err '--as must be'
run 2 dump --as ipc --recode json --out b a; says err '--recode'
run 2 head --json; says out '{"error":{"code":"usage","message":"a file or URL is missing","key":"","position":null}}'

# ---- head ----
run 0 head --json "$heads/zoo.arrow.head"; same "$work/out" "$expected/zoo.arrow.json"; empty err
run 0 head "$heads/zoo.arrow.head" --json; same "$work/out" "$expected/zoo.arrow.json"
run 0 head --json "$heads/zoo.json.head"; same "$work/out" "$expected/zoo.json.json"
run 0 head --json -- "$heads/type-map.arrow.head"; same "$work/out" "$expected/type-map.arrow.json"
run 0 head --json "$lake/iot.trucks.head"; same "$work/out" "$expected/iot.trucks.json"
what='tlake head --json -'
"$tlake" head --json - <"$heads/sliced.arrow.head" >"$work/out"; same "$work/out" "$expected/sliced.arrow.json"

run 0 head "$lake/iot.trucks.head"
says out 'version 7, codec arrow, 11,059 bytes'
says out 's3://demo-lake/wh/iot/trucks'
says out '6 with 1,200 rows, 15,780 bytes'
says out '2026-01-03      2   400  5,258'
says out '2026-01-03T12:19:00Z       2  site-2  2024.0'
run 0 head "$lake/iot.hourly.head"; says out 'files by partition'; says out 'T0'
run 0 head "$lake/iot.created.head"; says out 'snapshot  none'; says out '0 with 0 rows'
run 0 head "$lake/dim.devices.head"; says out 'none  '
run 0 head "$heads/zoo.arrow.head"; says out 'section zoo  12 rows'; says out 'tab\tnl\n'; says out '2 more'
run 0 head "$heads/properties-only.json.head"; says out 'version 18446744073709551615'; says out 'quote = a"b\\x01'

# nothing of another program's reaches a terminal as a control character
if [ "$(tr -d '\n\040-\176\200-\377' <"$work/out" | wc -c)" -eq 0 ]; then ok; else bad 'control characters in text'; fi

# ---- writing anew ----
for codec in arrow json; do
    run 0 head "$lake/iot.trucks.head" --recode $codec --out "$work/again.head"
    says out "version 7, codec $codec"
    run 0 head --json "$work/again.head"
    what="recode $codec"
    sed "s/\"codec\":\"arrow\"/\"codec\":\"$codec\"/" "$expected/iot.trucks.json" >"$work/want"
    same "$work/out" "$work/want"
    run 0 head "$work/again.head" --recode=arrow --out="$work/back.head" --json
    same "$work/out" "$work/want"
    run 0 head --json "$work/back.head"; same "$work/out" "$expected/iot.trucks.json"
done
run 0 head "$heads/zoo.arrow.head" --recode json --out -
what='recode to standard output'
"$tlake" head --json - <"$work/out" >"$work/got"
sed 's/"codec":"arrow"/"codec":"json"/' "$expected/zoo.arrow.json" >"$work/want"
same "$work/got" "$work/want"

# ---- failures ----
run 5 head "$work/nothing"; is err "tlake: $work/nothing: No such file or directory (absent)"; empty out
run 5 head --json "$work/nothing"
is out '{"error":{"code":"absent","message":"No such file or directory","key":"'"$work/nothing"'","position":null}}'
run 1 head "$here"; says err '(io)'
printf 'TLHX' >"$work/bad"
run 1 head "$work/bad"; says err "tlake: $work/bad: "; says err '(not a head, byte '; empty out
if [ "$(wc -l <"$work/err")" -eq 1 ]; then ok; else bad 'an error is not one line'; fi
run 1 head --json "$work/bad"; says out '{"error":{"code":"not a head","message":"'; says out '"position":'
: >"$work/bad"
run 1 head "$work/bad"; says err '(not a head'
run 1 head "$lake/iot.unknown_codec.head"; says err '(no codec, byte 14)'
head -c 3000 "$lake/iot.trucks.head" >"$work/cut"
run 1 head "$work/cut"; says err '(truncated'
run 5 head "$heads/zoo.arrow.head" --recode json --out "$work/no/such/folder"; says err "$work/no/such/folder: "
if [ -w /dev/full ]; then
    what='a full disk'
    "$tlake" head "$heads/zoo.arrow.head" >/dev/full 2>"$work/err"
    if [ $? -eq 1 ]; then ok; else bad 'a full disk is not noticed'; fi
    says err 'standard output: No space left on device (io)'
fi
printf old >"$work/kept"
run 1 head "$work/bad" --recode json --out "$work/kept"
if [ "$(cat "$work/kept")" = old ]; then ok; else bad 'a failed recode touched its output'; fi
mkdir -p "$work/out.d" "$work/linked.d"
run 1 head "$heads/zoo.arrow.head" --recode json --out "$work/out.d"; says err "$work/out.d: "
run 0 head "$heads/zoo.arrow.head" --recode json --out "$work/want"
if mkfifo "$work/fifo" 2>"$work/err"; then # what is no file stays what it is
    cat "$work/fifo" >"$work/got" &
    run 0 head "$heads/zoo.arrow.head" --recode json --out "$work/fifo"
    if [ -p "$work/fifo" ]; then wait; same "$work/got" "$work/want"; else bad "$what: replaced a FIFO"; kill $!; fi
else
    echo 'skipped: tool: a FIFO: none can be made here'
fi
if ln -s ../linked.d/file "$work/out.d/link" 2>"$work/err"; then # a link stays, its file is another
    run 5 head "$heads/zoo.arrow.head" --recode json --out "$work/out.d/link"
    if [ -e "$work/linked.d/file" ]; then bad "$what: wrote through a link to nothing"; else ok; fi
    printf old >"$work/linked.d/file"
    run 0 head "$heads/zoo.arrow.head" --recode json --out "$work/out.d/link"
    if [ -L "$work/out.d/link" ]; then ok; else bad "$what: replaced a link"; fi
    same "$work/linked.d/file" "$work/want"
    printf old >"$work/victim"; ln -s victim "$work/planted.tlake-tmp" # a name that can be foreseen is a trap
    run 0 head "$heads/zoo.arrow.head" --recode json --out "$work/planted"
    if [ "$(cat "$work/victim")" = old ]; then ok; else bad "$what: wrote where a planted link led"; fi
    same "$work/planted" "$work/want"
    rm "$work/planted.tlake-tmp"
    (umask 027; "$tlake" head "$heads/zoo.arrow.head" --recode json --out "$work/mode" >"$work/out")
    printf %s "$(ls -l "$work/mode" | cut -c 1-10)" >"$work/out"; what='the mode of a new file'; is out '-rw-r-----'
    chmod 604 "$work/mode"
    run 0 head "$heads/zoo.arrow.head" --recode json --out "$work/mode"
    printf %s "$(ls -l "$work/mode" | cut -c 1-10)" >"$work/out"; what='the mode of a file before'; is out '-rw----r--'
else
    echo 'skipped: tool: links: none can be made here'
fi
what='a file that cannot be written'
(trap '' XFSZ; ulimit -f 0; "$tlake" head "$heads/zoo.arrow.head" --recode json --out "$work/kept" 2>&1) | cat >"$work/out"
says out "$work/kept: File too large (io)"
if [ "$(cat "$work/kept")" = old ]; then ok; else bad 'a failed write touched its output'; fi
if [ -z "$(find "$work" -name '*tlake-tmp*')" ]; then ok; else bad 'a temporary file is left'; fi

# ---- dump ----
printf ' {"a" : [1, 2.50, 1e400, 18446744073709551616, "\\u00e9\\u0001"],\n"a": null}\n' >"$work/in"
run 0 dump --as json "$work/in"; is out '{"a":[1,2.50,1e400,18446744073709551616,"é\u0001"],"a":null}'
run 0 dump --json --as=json "$work/in"; says out '1e400'
printf '[1,]' >"$work/in"
run 1 dump --as json "$work/in"; says err '(corrupt, byte 3)'; empty out
printf '[1' >"$work/in"
run 1 dump --as json --json "$work/in"; says out '"position":2}}'
printf '\050\265\057\375\040\005\051\000\000hello' >"$work/in" # a raw block of five bytes
run 0 dump --as zstd "$work/in"; is out hello
printf '\050\265\057\375\040\005\051\000\000hel' >"$work/in"
run 1 dump --as zstd "$work/in"; says err '(truncated'; empty out
printf '\050\265\057\375\340\377\377\377\377\377\377\377\077\001\000\000' >"$work/in" # promises 2^62 bytes
run 1 dump --as zstd "$work/in"; empty out

# A head of the arrow codec is streams, each behind its length: 14 bytes and the codec's name before the first.
number() { # FILE OFFSET: eight bytes, little-endian
    # shellcheck disable=SC2046
    set -- $(od -An -tu1 -j "$2" -N 8 "$1")
    echo $(($1 + 256 * $2 + 65536 * $3 + 16777216 * $4))
}
for f in "$heads"/type-*.arrow.head; do
    name=$(basename "$f" .head)
    [ -f "$expected/$name.json" ] || continue
    first=$(number "$f" 19)
    tail -c +$((27 + first + 8 + 1)) "$f" >"$work/in"
    run 0 dump --as ipc --json "$work/in"
    sed -e 's/^.*"sections":\[{"name":"t","fields":/{"schema":/' -e 's/}\]}$/}/' \
        -e 's/"metadata":{},"rows"/"metadata":{"timelake.section":"t"},"rows"/' "$expected/$name.json" >"$work/want"
    what="tlake dump --as ipc --json ($name)"
    same "$work/out" "$work/want"
done
run 0 dump --as ipc "$work/in"; says out 'Arrow stream, 3 rows in 1 batch'; says out 'x string_view?'
head -c 100 "$work/in" >"$work/cut"
run 1 dump --as ipc "$work/cut"; says err '(truncated'; empty out
run 1 dump --as ipc --json "$work/cut"; says out '{"error":{"code":"truncated","message":"'

# ---- tables ----
if "$tlake" open --help >/dev/null 2>&1; then
    root="timelake_local_root=$here/data/warehouse"
    trucks=s3://demo-lake/wh/iot/trucks
    run 0 open $trucks -o "$root"; says out 'version 7, from its head'; says out '1 round trip'
    run 0 open $trucks -o "$root" --no-head; says out 'from the metadata chain'; says out '4 round trips'
    run 0 open s3://demo-lake/wh/iot/unknown_codec -o "$root"; says out 'from the metadata chain: '
    run 0 open $trucks -o "$root" --version 3 --json; says out '"version":3,"source":"chain"'
    run 0 open $trucks -o "$root" --trace; says err '1 GET    s3://demo-lake/wh/iot/trucks/metadata/timelake-head ok'
    run 5 open s3://demo-lake/wh/iot/none -o "$root"; says err 'no such table (absent)'
    run 5 open $trucks -o "$root" --version 99; says err 'no such version (absent)'
    for number in -1 0 '' ' 3' +3 3x 0x3 18446744073709551616 99999999999999999999; do
        run 2 open $trucks -o "$root" --version "$number"; says err '--version takes a table version'
        run 2 watch $trucks -o "$root" --count "$number"; says err '--count takes a number'
        run 2 watch $trucks -o "$root" --every "${number}s"; says err 'not a duration'
    done
    for number in -1 '' ' 3' +3 3x 21 4294967297; do
        run 2 probe "$work" --digits "$number"; says err '--digits takes a number'
    done
    run 5 open $trucks -o "$root" --version 18446744073709551615
    run 2 open $trucks -o "$root" -o timelake_warm_connections=4294967296; says err 'timelake_warm_connections'
    run 2 open $trucks -o "$root" -o timelake_warm_connections=many; says err 'timelake_warm_connections'
    mkdir -p "$work/old/wh/iot"; cp -R "$here/data/warehouse/wh/iot/trucks" "$work/old/wh/iot/"
    rm -f "$work"/old/wh/iot/trucks/metadata/snap-*
    run 5 open $trucks -o "timelake_local_root=$work/old" --version 3; says err 'this version has expired'
    if "$tlake" --version | grep -q 'built without libcurl'; then
        echo 'skipped: tool: object stores: built without libcurl'
        run 2 open $trucks; says err 'timelake_local_root'
        run 2 doctor $trucks; says err 'built without libcurl'
    else
        nobody='aws_endpoint=http://127.0.0.1:1'
        run 1 open $trucks -o $nobody; says err 'the request failed: Failed to connect'; says err '(store)'
        run 1 latest az://c/t -o endpoint=http://127.0.0.1:1/a -o account_name=a -o azure_storage_account_key='!'
        says err 'not base64'
        run 1 probe gs://b/db/manifest -o google_base_url=http://127.0.0.1:1 -o timeout=5s -o google_skip_signature=true \
            -o http1_only=true --verbose
        says err '(store)'; says err '* '
        run 2 open $trucks -o $nobody -o aws_role_arn=arn:secret; says err 'not a value of it: aws_role_arn (usage)'
        run 2 open $trucks -o $nobody -o timeout=never; says err 'not a value of it: timeout'
        run 2 open $trucks -o $nobody -o allow_http=perhaps; says err 'not a value of it: allow_http'
        run 2 doctor "$work"; says err 'not at folders'
        run 2 doctor s3://b/t --trace; says err 'an option of another command'
        run 2 open $trucks --one-writer; says err 'an option of another command'
        run 0 doctor --help; says out 'let twenty'
        run 2 open s3://; says err 'no bucket, container or host behind s3://'
        run 2 open az:///t; says err 'no bucket, container or host behind az://'
        run 2 open 'https://h/t?sig=secret'; says err 'no user, query'
        if grep -q secret "$work/err"; then bad 'a secret in an error'; else ok; fi
    fi
    run 2 open ftp://h/t; says err 'a scheme that this tool does not know: ftp://'
    run 2 open $trucks -o "$root" -o secretword; says err 'a storage option is key=value'
    if grep -q secretword "$work/err"; then bad 'a secret in an error'; else ok; fi
    run 2 open $trucks -o "$root" -o nonsense=secret; says err 'no such storage option: nonsense (usage)'
    run 5 open "$work/none"; says err 'No such file'
    run 0 latest $trucks -o "$root" --json; says out '"version":7,"rows":[{"time":1767442740000000,"device":0,'
    run 5 latest s3://demo-lake/wh/dim/devices -o "$root"; says err 'no last-value index'
    run 0 plan $trucks -o "$root" --json --where "time >= '2026-01-03' and device in (3, 4) and site is not null"
    says out '"skipped":4'; says out '"round_trips":1'
    run 0 plan $trucks -o "$root" --json; says out '"skipped":0'
    run 0 plan $trucks -o "$root" --json --where "time >= '2026-01-03'" --where 'device = 3'
    cp "$work/out" "$work/want"
    run 0 plan $trucks -o "$root" --json --where 'device = 3' --where "time >= '2026-01-03'"; same "$work/out" "$work/want"
    says out '"skipped":4'
    run 2 plan $trucks -o "$root" --where 'device =' --where 'device = 3'; says err 'a value is missing'
    # shellcheck disable=SC2046
    run 2 plan $trucks -o "$root" $(yes -- --where=device=3 | head -n 25); says err 'too many conditions'
    run 2 plan $trucks -o "$root" --where 'nope = 1'; says err 'a column that is not there'
    run 2 plan $trucks -o "$root" --where 'device ='; says err 'a value is missing'
    run 2 plan $trucks -o "$root" --where "device = 'x'"; says err 'another type'
    run 2 plan $trucks -o "$root" --where 'device = 1 or 2'; says err 'no `and`, at: or 2'
    run 1 open "$here/data/warehouse/wh/iot/trucks"; says err 'open the table by that URL, with -o timelake_local_root='
    run 0 watch $trucks -o "$root" --count 1 --json; says out '{"version":7,'
    cp -R "$here/data/warehouse" "$work/lake" && chmod -R u+w "$work/lake" # commits: to a copy
    copy=timelake_local_root=$work/lake
    file=$(ls "$here"/data/warehouse/wh/iot/trucks/data/time_day=2026-01-03/*.parquet | head -n 1)
    newest=$here/data/parquet/trucks-newest # rows of that file, by pyarrow: an Arrow stream (arrows), an Arrow file
    run 0 append $trucks -o "$copy" "$file" --sorted --batch-id one --newest "$newest.arrows" --json
    says out '{"version":8,"snapshot_id":'; says out '"attempts":1,"duplicate":false,"head":true,"hint":true,"index":true}'
    run 0 latest $trucks -o "$copy" --json; says out '"version":8,"rows":[{"time":1767442740000000,"device":0,'
    run 0 append $trucks -o "$copy" "$file" --batch-id one; says out 'version 8: the batch was in already'
    run 0 open $trucks -o "$copy"; says out '7 files, 1,400 rows'; says out '1 round trip'
    run 0 open $trucks -o "$copy" --no-head; says out '7 files, 1,400 rows'
    run 1 append $trucks -o "$copy" "$here"/data/warehouse/wh/dim/devices/data/*.parquet; says err 'a column of another'
    run 1 append $trucks -o "$copy" "$here/tool.sh"; says err 'tool.sh: not a Parquet file (corrupt'
    bare=$here/data/parquet/trucks-without-ids.parquet # of pyarrow
    run 1 append $trucks -o "$copy" "$bare"; says err 'time: a column without a Parquet field id'
    run 0 append $trucks -o "$copy" --copy "$bare" "$file" --batch-id two; says out 'version 9, with its head'
    says err 'no last-value index any more: the newest rows of the files added are not known'
    run 1 append $trucks -o "$copy" "$file" --newest "$here/tool.sh"; says err 'tool.sh: '
    run 0 append s3://demo-lake/wh/iot/budget_0 -o "$copy" "$file" --newest "$newest.arrow"
    says err 'the index file of the version before is not there'
    run 0 open $trucks -o "$copy" --no-head; says out '9 files, 1,620 rows'
    run 1 append $trucks -o "$copy" --copy "$here"/data/warehouse/wh/dim/devices/data/*.parquet; says err 'does not have'
    run 2 append $trucks -o "$copy"; says err 'which files?'
    run 2 open $trucks -o "$copy" --sorted; says err 'an option of another command: --sorted'
    run 0 set $trucks -o "$copy" 'owner=a "b"' write.format.default; says out 'version 10, with its head'
    run 0 open $trucks -o "$copy" --json; says out '"owner":"a \"b\""'
    run 1 set $trucks -o "$copy" timelake.retention=soon; says err 'timelake.retention (misuse)'
    run 1 set $trucks -o "$copy" timelake.head-format=zork; says err 'no codec'
    run 0 create "$work/deep/er/t" a:int; says out 'version 1'
    run 2 set $trucks -o "$copy"; says err 'which properties?'
    run 2 set $trucks -o "$copy" a=1 =b; says err 'a property is key=value, or key: =b'
    run 2 set $trucks -o "$copy" ''; says err 'a property is key=value'
    run 2 set $trucks -o "$copy" a=1 --time x; says err 'an option of another command: --time'
    run 2 append $trucks -o "$copy" "$file" --batch-id ''; says err 'a value is missing: --batch-id'
    run 2 append $trucks -o "$copy" "$file" --batch-id; says err 'a value is missing: --batch-id'
    run 2 append $trucks -o "$copy" "$file" --newest "$newest.arrow" --newest "$newest.arrow"
    says err 'given twice: --newest'
    run 0 open $trucks -o "$copy"; says out 'version 10, '
    run 0 create "$work/new" time:timestamptz device:int 'note:string!' --time time --series device --chunk hour --json
    says out '{"version":1,"snapshot_id":null,"attempts":1,"duplicate":false,"head":true,"hint":true,"index":false}'
    run 0 open "$work/new" --json; says out '{"id":3,"name":"note","required":true,"type":"string"}'
    says out '"timelake.chunk-interval":"hour"'
    run 3 create "$work/new" a:int; says err 'there is such a table (exists)'
    run 2 create "$work/other" a; says err 'a column is name:type'
    for mistake in 'a:long a:long' a:nonsense 'a:int a' 'a:int!!' 'a:timestamp --time b' 'a:long --time a' \
        'a:timestamp --time a --series b' 'a:timestamp --time a --series=' 'a:timestamp --time' 'a:int --sorted' \
        'a:timestamp --time a --time a' 'a:int --batch-id=1' ':int'; do
        # shellcheck disable=SC2086
        run 2 create "$work/mistake/t" $mistake; empty out
    done
    run 2 create "$work/mistake/t" a:int b:long a:long; says err 'two columns of one name: a:long'
    if [ -e "$work/mistake" ]; then bad 'a table that cannot be has a folder'; else ok; fi
    run 2 create "$work/other" a:timestamptz --chunk day; says err 'tables with --time'
    run 2 create "$work/other" a:timestamptz --time a --chunk week; says err 'hour, day or month: week'
    run 0 append --help; says out 'tlake append URL FILE'
    run 2 watch $trucks -o "$root" --every soon; says err 'not a duration'
    probed=$here/data/sequenced/db/gc_boundary/db
    unsaid watch $trucks -o "$root" --count 1
    unsaid watch $trucks -o "$root" --count 2 --every 1ms # there is no second one: it goes on unless it notices
    unsaid probe "$probed/manifest"
    unsaid probe "$probed/manifest" --every 1ms
    run 0 probe "$probed/manifest"; says out '24, '; says out 'by 3 requests'
    run 0 probe "$probed/manifest" --json; says out '{"latest":24,"bytes":'; says out '"probe.hit":0'
    run 0 probe "$probed/manifest" --every 1ms --count 1 --suffix .manifest; says out '24, '
    run 0 probe "$probed/manifest" --no-boundary; says out 'by 2 requests'
    run 5 probe "$probed/manifest" --suffix other --json; says out '{"latest":null,"bytes":0,'; says err '(absent)'
    for nothing in "$work/empty" "$work/none" "$work/none/none/" "$work/plain" "$work/plain/x" "file://$work/none"; do
        mkdir -p "$work/empty"; : >"$work/plain"
        run 5 probe "$nothing"; is err "tlake: $nothing: nothing there yet (absent)"; empty out
        run 0 probe "$nothing" --every 1ms --count 1; is out 'nothing there yet'; empty err
    done
    : >"$work/out"
    whole=$(cd "$(dirname "$tlake")" && pwd)/$(basename "$tlake")
    (cd "$work/empty" && exec "$whole" probe ../none/new/manifest --every 1ms --count 2 >"$work/out") &
    for try in 1 2 3 4 5 6 7 8 9 10; do
        grep -q nothing "$work/out" && break
        sleep 0.2
    done
    mkdir -p "$work/none/new/manifest"
    cp "$probed"/manifest/*24.manifest "$work/none/new/manifest/00000000000000000001.manifest.new"
    mv "$work/none/new/manifest/00000000000000000001.manifest.new" "$work/none/new/manifest/00000000000000000001.manifest"
    what="tlake probe of a folder that comes (try $try)"; ends $! 0; says out '1, '
    run 5 probe ''; says err 'No such file'
    run 2 probe "$probed/manifest" --digits 21
    run 2 probe "$probed/manifest" --life 1h; says err 'an option of another command: --life'
    run 2 open $trucks -o "$root" --digits 3; says err 'an option of another command'
    run 0 open $trucks -o "$root" -o timelake_version_lookup=hint -o timelake_cache=off; says out '2 round trips'
    log=$work/series/_timeseries_log
    mkdir -p "$log"
    cp "$here/data/cases/19-protocol-header/commits/unknown-writer.json" "$log/0000000001.json"
    run 5 protocol "$work/series"; says err 'no such table (absent)'
    echo 1 >"$log/CURRENT"
    run 0 protocol "$work/series" --json; says out '"version":1,"read":"ok","read_error":null,"write":"error"'
    says out '"about":"row_tombstones"'
    run 0 protocol "$work/series"; says out 'but not write it: row_tombstones'
    run 1 add-columns "$work/series" x:double; says err 'Protocol.UnsupportedWriterFeatures'
    cp "$here/data/cases/19-protocol-header/commits/unknown-reader.json" "$log/0000000001.json"
    run 1 protocol "$work/series" --json; says out '"read_error":{"kind":"Protocol.UnsupportedReaderFeatures"'
    sed 's/"logical_schema": null/"logical_schema": {"columns":[{"name":"ts","data_type":{"Timestamp":{"unit":"Micros","timezone":"UTC"}},"nullable":false},{"name":"symbol","data_type":"Utf8","nullable":false}]}/' \
        "$here/data/cases/19-protocol-header/commits/base.json" >"$log/0000000001.json"
    run 0 add-columns "$work/series" 'a b:timestamp[ns, tz=UTC]' 'd:decimal128(10,2)' \
        'l:{"List":{"elements":{"name":"item","nullable":true,"data_type":"Utf8"}}}' --json
    says out '{"version":2}'
    run 0 protocol "$work/series"; says out 'l list<item: string>?'; says out 'readers need: schema_add_columns'
    run 0 protocol "$work/series" --json; says out '{"name":"a b","type":"timestamp[ns, tz=UTC]","nullable":true}'
    run 1 add-columns "$work/series" d:int64; says err 'Schema.InvalidSchema.DuplicateColumn: two columns of one name: d'
    run 2 add-columns "$work/series" d; says err 'name:type'
    run 2 add-columns "$work/series" 'e:fixed_size_binary[4294967312]'; says err 'name:type'
    run 2 add-columns "$work/series" 'e:decimal128(4294967306,2)'; says err 'name:type'
    run 2 add-columns "$work/series"; says err 'which columns'
    echo '{}' >"$log/0000000003.json"
    run 3 add-columns "$work/series" z:int64; says err 'Storage.AlreadyExists'
    list=$(ls "$here"/data/warehouse/wh/iot/trucks/metadata/snap-4100866148750645656-*.avro)
    run 0 dump --as avro "$list"; says out '"manifest_length":3978'; says out '"parent-snapshot-id":"9169565411145962228"'
    run 1 dump --as avro "$heads/zoo.arrow.head"; says err 'not an Avro file (corrupt, byte 0)'
    file=$(ls "$here"/data/warehouse/wh/iot/types/data/time_day=2026-01-01/*.parquet | head -n 1)
    run 0 dump --as parquet "$file"; says out 'Parquet, 12 rows in 1 row group'; says out 'dec38 decimal(38, 10)?, 3 nulls'
    run 0 dump --as parquet --json "$file"; says out '{"rows":12,"row_groups":1,"columns":[{"name":"time","field_id":1,'
    says out '"null_counts":{"1":0,"2":0,"3":0,"4":3,'; says out '"type":"fixed[16]","required":false}'
    run 1 dump --as parquet "$heads/zoo.arrow.head"; says err 'not a Parquet file (corrupt'; empty out
else
    echo "skipped: tool: opening tables: folders are read on POSIX systems only"
fi

run 0 cost; says out '= $15.03 a month'; says out '= $2.07 a month'
run 0 cost --every 10s --json; says out '"list_usd":1.5034,'; says out '"probe_usd":0.2074,'
run 0 cost --processes 4 --write-every 500ms --life 1h --list-usd 5 --get-usd 0.4 --put-usd 5; says out ' 2 new versions a read'
run 2 cost --every soon; says err 'not a duration'
run 2 cost --get-usd x; says err 'not a number'
for number in -1 nan inf 0x1 '' 1e99; do
    run 2 cost --get-usd "$number"; says err 'not a number'
done
for number in 0 -1 0.5 nan 99999999999999999999; do
    run 2 cost --processes "$number"; says err 'not a number'
done
for duration in 0s -1s nans infs 0x1s 1e-300s 1e30d 5 ms s ''; do
    run 2 cost --every "$duration"; says err 'not a duration'
done
run 0 cost --every 1ms --processes 1000000000 --write-every 1ms --list-usd 999999999 --get-usd 999999999 --json
says out '"versions_per_read":1}'
run 0 cost --life .5d; says out '60 of them cold'
run 2 cost extra; says err 'cost takes no file or URL: extra'
run 2 cost --digits 3; says err 'an option of another command: --digits'
run 2 cost --trace; says err 'an option of another command: --trace'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
