"""Sections handed out through the Arrow C Data Interface to pyarrow and nanoarrow: handover.py LIBRARY HEAD...

Each section must be the table that pyarrow itself reads from the stream; arrays are released in another order than they were
made in, on other threads, after the head is gone; at the end nothing may be left."""
import ctypes
import gc
import sys
import threading

import heads
import pyarrow as pa

try:
    import nanoarrow
except ImportError:
    nanoarrow = None

SCHEMA_BYTES, ARRAY_BYTES, SCHEMA_RELEASE, ARRAY_RELEASE = 72, 80, 56, 64  # of the structs on 64-bit machines


def library(path):
    lib = ctypes.CDLL(path)
    lib.handover_live.restype = ctypes.c_int64
    lib.handover_open.restype = ctypes.c_void_p
    lib.handover_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t,
                                  ctypes.POINTER(ctypes.c_char_p)]
    lib.handover_sections.argtypes = [ctypes.c_void_p]
    lib.handover_sections.restype = ctypes.c_int32
    lib.handover_name.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_size_t)]
    lib.handover_name.restype = ctypes.c_void_p
    lib.handover_batches.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    lib.handover_batches.restype = ctypes.c_int32
    lib.handover_export.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]
    lib.handover_export.restype = ctypes.c_char_p
    lib.handover_free.argtypes = [ctypes.c_void_p]
    return lib


class Exported:
    """One exported batch: the two C structs, until a consumer moves them out."""

    def __init__(self, lib, handle, section, batch):
        self.schema = ctypes.create_string_buffer(SCHEMA_BYTES)
        self.array = ctypes.create_string_buffer(ARRAY_BYTES)
        why = lib.handover_export(handle, section, batch, self.schema, self.array)
        if why is not None:
            raise ValueError(why.decode())

    def to_pyarrow(self):
        batch = pa.RecordBatch._import_from_c(ctypes.addressof(self.array), ctypes.addressof(self.schema))
        heads.validate(batch)
        return batch

    def __arrow_c_array__(self, requested_schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return (new(ctypes.addressof(self.schema), b"arrow_schema", None),
                new(ctypes.addressof(self.array), b"arrow_array", None))

    def release(self):
        """What a consumer of capsules left to their owner; keep this object as long as they are used."""
        for struct, at in ((self.schema, SCHEMA_RELEASE), (self.array, ARRAY_RELEASE)):
            function = ctypes.c_void_p.from_buffer(struct, at).value
            if function:
                ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)(ctypes.addressof(struct))


def open_head(lib, data, give, lead):
    why = ctypes.c_char_p()
    handle = lib.handover_open(data, len(data), give, lead, ctypes.byref(why))
    if not handle:
        raise ValueError(why.value.decode())
    return handle


def section_names(lib, handle):
    size = ctypes.c_size_t()
    out = []
    for i in range(lib.handover_sections(handle)):
        address = lib.handover_name(handle, i, ctypes.byref(size))
        out.append(ctypes.string_at(address, size.value).decode())
    return out


def export_all(lib, data, give, lead):
    """Every batch of every section, the head freed before anything is looked at."""
    handle = open_head(lib, data, give, lead)
    out = []
    try:
        for i, name in enumerate(section_names(lib, handle)):
            out.append((name, [Exported(lib, handle, i, b) for b in range(lib.handover_batches(handle, i))]))
    finally:
        lib.handover_free(handle)
    return out


def compare(name, batches, want):
    schema = batches[0].schema if batches else want.schema
    got = pa.Table.from_batches(batches, schema)
    metadata = {k: v for k, v in (got.schema.metadata or {}).items() if k != b"timelake.section"}
    why = heads.table_difference(got.replace_schema_metadata(metadata or None), want)
    if why is not None:
        raise ValueError("section %r: %s" % (name, why))


def release_elsewhere(kept):
    """Lets go of the batches on two threads, last first."""
    def run(part):
        while part:
            part.pop()
    parts = [kept[::2], kept[1::2]]
    kept.clear()
    threads = [threading.Thread(target=run, args=(p,)) for p in parts]
    parts.clear()
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def check_nanoarrow(exported, want):
    """nanoarrow borrows what the capsules hold, checks it, and hands it on to pyarrow (not views: nanoarrow 0.9 dies on that,
    whoever made them)."""
    for name, batches in exported:
        arrays = [nanoarrow.c_array(b) for b in batches]
        if "_view" not in str(want[name].schema):
            compare(name, [pa.record_batch(a) for a in arrays], want[name])
        del arrays
        gc.collect()
        for b in batches:
            b.release()


def check(lib, data):
    _, want = heads.tables(data)
    for give, lead in ((0, 0), (1, 0), (1, 5)):
        exported = export_all(lib, data, give, lead)
        if sorted(want) != [name for name, _ in exported]:
            raise ValueError("sections %r" % [name for name, _ in exported])
        kept, batches = [], None
        for name, batches in exported:
            batches = [b.to_pyarrow() for b in batches]
            compare(name, batches, want[name])
            kept.extend(batches)
        del exported, batches
        release_elsewhere(kept)
    if nanoarrow is not None:
        check_nanoarrow(export_all(lib, data, 1, 5), want)
    gc.collect()
    if lib.handover_live() != 0:
        raise ValueError("%d blocks left" % lib.handover_live())


def main():
    lib = library(sys.argv[1])
    passed = failed = skipped = 0
    for path in sys.argv[2:]:
        with open(path, "rb") as f:
            data = f.read()
        try:
            heads.tables(data)
        except (KeyError, NotImplementedError, pa.ArrowNotImplementedError):
            skipped += 1  # a type without a Python class (month intervals)
            continue
        try:
            check(lib, data)
            passed += 1
        except Exception as e:  # whatever it is, it is this head's failure
            failed += 1
            print("%s: %s: %s" % (path, type(e).__name__, e))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
