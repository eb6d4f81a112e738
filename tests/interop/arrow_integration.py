#!/usr/bin/env python3
"""Arrow's integration streams against their JSON, and what we write against pyarrow.

Usage: arrow_integration.py TOOL [SHARED]   (TOOL: tests/interop/ipc_tool.c, built; needs pyarrow)
Every stream of SHARED/third-party/arrow is dumped and compared with its JSON, value by value. Every stream, and every stream
of the arrow heads in SHARED/fixtures, is then written anew by us, stored and compressed, and pyarrow must read the same table
from both."""
import gzip, glob, json, os, struct, subprocess, sys, tempfile

import pyarrow as pa
import pyarrow.ipc

tool = sys.argv[1]
shared = sys.argv[2] if len(sys.argv) > 2 else '../shared'
failed = passed = 0


def check(ok, what):
    global failed, passed
    if ok:
        passed += 1
    else:
        failed += 1
        print('FAILED', what)


def run(*args):
    out = subprocess.run([tool, *args], capture_output=True)
    if out.returncode != 0:
        return {'error': 'exit %d' % out.returncode, 'text': out.stderr.decode()}
    return json.loads(out.stdout)


UNIT = {'SECOND': 's', 'MILLISECOND': 'm', 'MICROSECOND': 'u', 'NANOSECOND': 'n'}


def fmt(t):
    n = t['name']
    if n == 'int':
        c = {8: 'c', 16: 's', 32: 'i', 64: 'l'}[t['bitWidth']]
        return c if t['isSigned'] else c.upper()
    if n == 'floatingpoint':
        return {'HALF': 'e', 'SINGLE': 'f', 'DOUBLE': 'g'}[t['precision']]
    if n == 'decimal':
        return 'd:%d,%d' % (t['precision'], t['scale'])
    if n == 'date':
        return {'DAY': 'tdD', 'MILLISECOND': 'tdm'}[t['unit']]
    if n == 'time':
        return 'tt' + UNIT[t['unit']]
    if n == 'timestamp':
        return 'ts' + UNIT[t['unit']] + ':' + t.get('timezone', '')
    if n == 'duration':
        return 'tD' + UNIT[t['unit']]
    if n == 'interval':
        return {'YEAR_MONTH': 'tiM', 'DAY_TIME': 'tiD', 'MONTH_DAY_NANO': 'tin'}[t['unit']]
    if n == 'fixedsizebinary':
        return 'w:%d' % t['byteWidth']
    if n == 'fixedsizelist':
        return '+w:%d' % t['listSize']
    return {'null': 'n', 'bool': 'b', 'utf8': 'u', 'largeutf8': 'U', 'binary': 'z', 'largebinary': 'Z', 'list': '+l',
            'largelist': '+L', 'struct': '+s', 'map': '+m'}[n]


def width(f):
    c = f[:3]
    if f in 'cC':
        return 'b'
    if f in 'sS':
        return 'h'
    if f in 'iI' or c in ('tdD', 'tts', 'ttm', 'tiM'):
        return 'i'
    return 'q'


def pack(f, v):
    """The little-endian bytes of one value of the JSON, as hex."""
    if f in 'efg':
        return struct.pack('<' + {'e': 'e', 'f': 'f', 'g': 'd'}[f], v).hex()
    if f.startswith('d:'):
        return int(v).to_bytes(16, 'little', signed=True).hex()
    if f == 'tiD':
        return struct.pack('<ii', v['days'], v['milliseconds']).hex()
    if f == 'tin':
        return struct.pack('<iiq', v['months'], v['days'], v['nanoseconds']).hex()
    if f in 'uU':
        return v.encode().hex()
    if f in 'zZ' or f.startswith('w:'):
        return v.lower()
    if f == 'b':
        return int(v)
    c = width(f)
    n = int(v)
    return (n % (1 << (8 * struct.calcsize(c)))).to_bytes(struct.calcsize(c), 'little').hex()


def values(field, col, dictionaries):
    n = col['count']
    valid = col.get('VALIDITY', [1] * n)
    d = field.get('dictionary')
    if d:
        inner = dict(field)
        inner.pop('dictionary')
        # the values' own children may be dictionary columns
        data = dictionaries[d['id']]['data']['columns'][0]
        items = values(inner, data, dictionaries)
        return [items[i] if ok else None for i, ok in zip(col['DATA'], valid)]
    f = fmt(field['type'])
    if f == 'n':
        return [None] * n
    if f == '+s':
        kids = [values(c, k, dictionaries) for c, k in zip(field['children'], col.get('children', []))]
        return [[k[i] for k in kids] if ok else None for i, ok in enumerate(valid)]
    if f in ('+l', '+L', '+m'):
        kid = values(field['children'][0], col['children'][0], dictionaries)
        o = [int(x) for x in col['OFFSET']]
        return [kid[o[i]:o[i + 1]] if ok else None for i, ok in enumerate(valid)]
    if f.startswith('+w:'):
        kid = values(field['children'][0], col['children'][0], dictionaries)
        s = field['type']['listSize']
        return [kid[i * s:(i + 1) * s] if ok else None for i, ok in enumerate(valid)]
    return [pack(f, v) if ok else None for v, ok in zip(col['DATA'], valid)]


def pairs(m):
    return sorted([x['key'].encode().hex(), x['value'].encode().hex()] for x in m or [])


def same_field(field, got, names=True):
    d = field.get('dictionary')
    f = fmt(field['type'])
    node = got['dictionary'] if d else got
    if not node or (names and got['name'] != field['name']) or bool(got['flags'] & 2) != field['nullable'] or node['format'] != f:
        return False
    if d and (got['format'] != fmt(d['indexType']) or bool(got['flags'] & 1) != d['isOrdered']):
        return False
    if f == '+m' and bool(node['flags'] & 4) != field['type'].get('keysSorted', False):
        return False
    if pairs(field.get('metadata')) != sorted(got['metadata']):
        return False
    kids = field.get('children') or []
    names = names and f != '+m'  # Arrow C++ gave the parts of maps the usual names, whatever they were
    return len(kids) == len(node['children']) and all(same_field(a, b, names) for a, b in zip(kids, node['children']))


def compare(path):
    got = run('dump', path)
    want = json.load(gzip.open(path[:-len('.stream')] + '.json.gz'))
    if 'error' in got:
        return check('union' in path and got['error'] == 'unsupported' and 'union' in got['text'], (path, got))
    schema = want['schema']
    check(pairs(schema.get('metadata')) == sorted(got['schema']['metadata']), path + ': schema metadata')
    check(len(schema['fields']) == len(got['schema']['children'])
          and all(same_field(a, b) for a, b in zip(schema['fields'], got['schema']['children'])), path + ': schema')
    check(len(want['batches']) == len(got['batches']), path + ': batches')
    dictionaries = {d['id']: d for d in want.get('dictionaries', [])}
    for i, (a, b) in enumerate(zip(want['batches'], got['batches'])):
        check(a['count'] == b['rows'], '%s: rows of batch %d' % (path, i))
        for field, col, mine in zip(schema['fields'], a['columns'], b['columns']):
            check(values(field, col, dictionaries) == mine, '%s: batch %d, %s' % (path, i, field['name']))


def valid(table):
    """Some of the integration data has dates with hours, and decimals beyond their precision."""
    try:
        table.validate(full=True)
        return True
    except pa.ArrowInvalid:
        return False


def recode(path, name):
    try:
        want = pa.ipc.open_stream(path).read_all()
    except pa.ArrowInvalid:
        want = None
    except NotImplementedError:
        want = None
    for how in ([], ['zstd']):
        out = path + '.out'
        got = run('recode', path, out, *how)
        if 'error' in got:
            check('union' in name or 'bigendian' in name, '%s: %s' % (name, got))
            continue
        t = pa.ipc.open_stream(out).read_all()
        check(valid(t) or (want is not None and not valid(want)), name + ': valid')
        if want is not None:
            check(t.schema.equals(want.schema, check_metadata=True) and
                  (t.equals(want) or str(t.to_pydict()) == str(want.to_pydict())),  # NaN equals nothing
                  '%s: written anew %s' % (name, how))


def streams(head):
    at = 14 + head[13]
    while at < len(head):
        n = int.from_bytes(head[at:at + 8], 'little')
        yield head[at + 8:at + 8 + n]
        at += 8 + n


arrow = os.path.join(shared, 'third-party/arrow')
for path in sorted(glob.glob(arrow + '/*/*.stream')):
    if 'bigendian' in path:
        got = run('dump', path)
        check(got.get('error') == 'unsupported' and 'big-endian' in got['text'], (path, got))
    else:
        compare(path)
with tempfile.TemporaryDirectory() as tmp:
    work = os.path.join(tmp, 'stream')
    for path in sorted(glob.glob(arrow + '/*/*.stream')):
        open(work, 'wb').write(open(path, 'rb').read())
        recode(work, path)
    for path in sorted(glob.glob(os.path.join(shared, 'fixtures/timelake/heads/*.arrow.head'))):
        for i, s in enumerate(streams(open(path, 'rb').read())):
            open(work, 'wb').write(s)
            recode(work, '%s[%d]' % (path, i))
print('%d passed, %d failed' % (passed, failed))
sys.exit(failed != 0)
