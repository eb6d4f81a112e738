#!/usr/bin/env python3
"""A section of a head as a pyarrow table: see examples/arrow_handover.c. Needs pyarrow.

usage: arrow_handover.py LIBRARY HEAD SECTION"""
import ctypes
import sys

import pyarrow

SCHEMA_BYTES, ARRAY_BYTES = 72, 80  # of struct ArrowSchema and ArrowArray with 64-bit pointers

library = ctypes.CDLL(sys.argv[1])
schema = ctypes.create_string_buffer(SCHEMA_BYTES)
array = ctypes.create_string_buffer(ARRAY_BYTES)
if library.handover(sys.argv[2].encode(), sys.argv[3].encode(), schema, array) != 0:
    sys.exit(1)
batch = pyarrow.RecordBatch._import_from_c(ctypes.addressof(array), ctypes.addressof(schema))
batch.validate(full=True)
print(batch.schema)
for row in batch.to_pylist():
    print(row)
