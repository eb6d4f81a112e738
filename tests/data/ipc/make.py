#!/usr/bin/env python3
"""Makes the streams of this folder with pyarrow (24 or later): python make.py, in this folder. NAME.stream and NAME.same.stream
say the same in two ways; NAME.bad.stream must be refused."""
import datetime, decimal, sys
import pyarrow as pa
import pyarrow.ipc as ipc


def write(name, schema, batches, **options):
    with pa.OSFile(name + '.stream', 'wb') as f:
        with ipc.new_stream(f, schema, options=ipc.IpcWriteOptions(**options)) as w:
            for b in batches:
                w.write_batch(b)


def dictionary(indices, values, type=pa.int8()):
    return pa.DictionaryArray.from_arrays(pa.array(indices, type), values)


# dictionaries that grow: as deltas, and replaced each time
parts = [dictionary([0, 1, None], pa.array(['ab', None])), dictionary([2, 0, 3, 1], pa.array(['ab', None, 'c' * 20, ''])),
         dictionary([4, 3], pa.array(['ab', None, 'c' * 20, '', 'é']))]
schema = pa.schema([('d', parts[0].type)])
batches = [pa.record_batch([p], schema) for p in parts]
write('delta', schema, batches, emit_dictionary_deltas=True)
write('delta.same', schema, batches, emit_dictionary_deltas=False)

# the same of lists, of structs in lists, and of views
for name, type, rows in [
    ('delta-list', pa.list_(pa.int32()), [[1, 2], None, [], [3, None, 4], [5]]),
    ('delta-struct', pa.large_list(pa.struct([('b', pa.bool_()), ('s', pa.large_utf8())])),
     [[{'b': True, 's': 'x'}], [{'b': None, 's': None}, None], [], None, [{'b': False, 's': 'yy'}] * 3]),
    ('delta-view', pa.string_view(), ['a view that is longer than twelve', 'short', None, 'another view of many letters', 'ü' * 9]),
    ('delta-fixed', pa.list_(pa.binary(2), 2), [[b'ab', b'cd'], None, [b'ef', None], [None, None], [b'gh', b'ij']]),
    ('delta-bool', pa.bool_(), [True, None, False, True, None]),
    ('delta-null', pa.null(), [None] * 5),
]:
    values = pa.array(rows, type)
    parts = [dictionary([0, 1, None], values[:2]), dictionary([2, 1, 0], values[:3]), dictionary([4, 3, 2], values)]
    schema = pa.schema([('d', parts[0].type)])
    batches = [pa.record_batch([p], schema) for p in parts]
    try:
        write(name, schema, batches, emit_dictionary_deltas=True)
        write(name + '.same', schema, batches, emit_dictionary_deltas=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as e:
        print(name, e, file=sys.stderr)

# replaced dictionaries
parts = [dictionary([0, 1], pa.array([1, 2])), dictionary([1, 1, 0], pa.array([7, 8])), dictionary([0], pa.array([9]))]
schema = pa.schema([('d', parts[0].type)])
write('replaced', schema, [pa.record_batch([p], schema) for p in parts])

# a dictionary in a dictionary, in two columns
inner = dictionary([0, 1, 0, 2], pa.array(['x', 'y', 'z']))
outer = dictionary([1, 0, None, 1], pa.ListArray.from_arrays([0, 1, 4], inner))
schema = pa.schema([('o', outer.type), ('p', pa.int16())])
write('nested', schema, [pa.record_batch([outer, pa.array([1, 2, 3, 4], pa.int16())], schema)] * 2)

# views
views = ['', 'twelve bytes', 'thirteen bytes', None, 'a much longer text than fits, é', 'thirteen bytes!'] * 3
schema = pa.schema([('t', pa.string_view()), ('b', pa.binary_view())])
batch = pa.record_batch([pa.array(views, pa.string_view()),
                         pa.array([None if v is None else v.encode() for v in views], pa.binary_view())], schema)
write('views', schema, [batch, batch[2:9], batch[:0]])
write('views.same', schema, [batch, batch[2:9], batch[:0]], compression='zstd')

# every type, with nulls and without, stored and compressed
D = decimal.Decimal
columns = {
    'decimal32': pa.array([D('1.23'), None, D('-9999999.99')], pa.decimal32(9, 2)),
    'decimal64': pa.array([D('1.23'), None, D('-9999999999999999.99')], pa.decimal64(18, 2)),
    'decimal128': pa.array([D('1.23'), None, D('-123456789012345678901234567890.99')], pa.decimal128(38, 2)),
    'decimal256': pa.array([D('1E3'), None, D('-5E2')], pa.decimal256(76, -2)),
    'nano': pa.array([(1, -2, 3), None, (-4, 5, -6)], pa.month_day_nano_interval()),
    'duration': pa.array([1, None, -3], pa.duration('us')),
    'time32': pa.array([1, None, 3], pa.time32('s')),
    'time64': pa.array([1, None, 3], pa.time64('ns')),
    'stamp': pa.array([1, None, 3], pa.timestamp('ns', 'Europe/Berlin')),
    'local': pa.array([1, None, 3], pa.timestamp('s')),
    'date32': pa.array([1, None, 3], pa.date32()),
    'date64': pa.array([datetime.date(2026, 1, 1), None, datetime.date(1969, 12, 31)], pa.date64()),
    'half': pa.array([1.5, None, -2.0], pa.float16()),
    'bool': pa.array([True, None, False]),
    'map': pa.array([[('k', 1)], None, [('l', None), ('m', 3)]], pa.map_(pa.utf8(), pa.int64(), keys_sorted=True)),
    'fixed': pa.array([b'abc', None, b'def'], pa.binary(3)),
    'pairs': pa.array([[1, 2], None, [3, None]], pa.list_(pa.int8(), 2)),
    'empty': pa.array([None] * 3, pa.null()),
    'struct': pa.array([{'a': 1, 'b': [None]}, None, {'a': None, 'b': []}], pa.struct([('a', pa.uint64()), ('b', pa.list_(pa.null()))])),
    'text': pa.array(['a', None, 'é'], pa.large_utf8()),
    'ordered': pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.uint32()), pa.array(['p', 'q']), ordered=True),
}
schema = pa.schema([pa.field(k, v.type, metadata={'k': 'v ' + k}) for k, v in columns.items()], metadata={'m': 'é'})
batch = pa.record_batch(list(columns.values()), schema)
write('types', schema, [batch, batch[1:], batch[:0]])
write('types.same', schema, [batch, batch[1:], batch[:0]], compression='lz4')

# nulls under a null of the parent, in a field that has none; and not under one
struct = pa.struct([pa.field('a', pa.int32(), nullable=False)])
masked = pa.StructArray.from_buffers(struct, 3, [pa.py_buffer(b'\x05')],
                                     children=[pa.Array.from_buffers(pa.int32(), 3, [pa.py_buffer(b'\x05'), pa.py_buffer(bytes(12))])])
bare = pa.StructArray.from_buffers(struct, 3, [None],
                                   children=[pa.Array.from_buffers(pa.int32(), 3, [pa.py_buffer(b'\x05'), pa.py_buffer(bytes(12))])])
schema = pa.schema([('s', struct)])
write('masked', schema, [pa.record_batch([masked], schema)])
write('unmasked.bad', schema, [pa.record_batch([bare], schema)])

# what is under a null need not be text, what is not must be
schema = pa.schema([('t', pa.utf8())])
offsets, data = pa.py_buffer(b'\0\0\0\0\1\0\0\0\3\0\0\0\5\0\0\0'), pa.py_buffer(b'a\xff\xfe\xc3\xa9')
write('null-garbage', schema, [pa.record_batch([pa.Array.from_buffers(pa.utf8(), 3, [pa.py_buffer(b'\x05'), offsets, data])], schema)])
write('garbage.bad', schema, [pa.record_batch([pa.Array.from_buffers(pa.utf8(), 3, [None, offsets, data])], schema)])
cut = pa.py_buffer(b'\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0')
write('cut-letter.bad', schema, [pa.record_batch([pa.Array.from_buffers(pa.utf8(), 3, [None, cut, pa.py_buffer(b'a\xc3\xa9')])], schema)])
