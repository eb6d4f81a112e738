/* >>thrift: Apache Thrift's compact protocol, as far as Parquet footers need it (private). */
