//! Documents of every type, usual values and extremes, nested and empty, written by Timelake in both codecs.

use crate::{decode, dump, encode};
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{i256, IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, IntervalUnit, Schema, TimeUnit};
use half::f16;
use std::collections::{BTreeMap, HashMap};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use timelake_format::head::HeadDoc;

/// xorshift64*: the same documents in every run.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// What values to make: `extreme` ones need not have a text form in Timelake's JSON.
#[derive(Clone, Copy)]
struct Kind {
    nulls: bool,
    extreme: bool,
}

type R<'a> = &'a mut Rng;

fn options<T>(n: usize, k: Kind, r: R, mut f: impl FnMut(usize, R) -> T) -> Vec<Option<T>> {
    (0..n)
        .map(|i| {
            let v = f(i, r);
            (!k.nulls || r.below(4) != 0).then_some(v)
        })
        .collect()
}

fn valid(n: usize, k: Kind, r: R) -> Option<NullBuffer> {
    k.nulls.then(|| NullBuffer::from((0..n).map(|_| r.below(4) != 0).collect::<Vec<_>>()))
}

/// Extremes in turn, then anything.
fn whole(i: usize, r: R, k: Kind, bits: u32, signed: bool, usual: (i64, i64)) -> i64 {
    if !k.extreme {
        return usual.0 + (r.next() % (usual.1 - usual.0) as u64) as i64;
    }
    let (min, max) = match (signed, bits) {
        (true, b) => (i64::MIN >> (64 - b), i64::MAX >> (64 - b)),
        (false, 64) => (0, -1),
        (false, b) => (0, (1 << b) - 1),
    };
    match i % 6 {
        0 => min,
        1 => max,
        2 => 0,
        3 if signed => -1,
        4 => 1,
        _ if bits == 64 => r.next() as i64,
        _ => min + (r.next() % (1u64 << bits)) as i64,
    }
}

fn float(i: usize, r: R) -> f64 {
    match i % 12 {
        0 => 0.1,
        1 => -0.0,
        2 => f64::NAN,
        3 => f64::INFINITY,
        4 => f64::NEG_INFINITY,
        5 => 5e-324,
        6 => f64::MAX,
        7 => 1e16,
        8 => 123456.789,
        9 => 1e-7,
        _ => f64::from_bits(r.next()),
    }
}

fn digits(i: usize, r: R, precision: u8) -> String {
    let sign = if r.below(2) == 0 { "" } else { "-" };
    let n = match i % 5 {
        0 => return "0".into(),
        1 => return "9".repeat(precision.into()),
        2 => return format!("-{}", "9".repeat(precision.into())),
        3 => 1,
        _ => 1 + r.below(precision.into()),
    };
    let mut s = format!("{sign}{}", 1 + r.below(9));
    for _ in 1..n {
        s += &r.below(10).to_string();
    }
    s
}

const TEXTS: [&str; 9] = [
    "",
    "a",
    "Zürich",
    "東京",
    "a\"b\\c/d",
    "tab\tnl\n\r\u{8}\u{c}",
    "\u{0}\u{1f}\u{7f}\u{80}\u{2028}\u{feff}😀",
    "twelve bytes",
    "a text that is longer than a view holds inline, and by far so",
];

fn string(i: usize, r: R) -> String {
    match i % 12 {
        i if i < TEXTS.len() => TEXTS[i].into(),
        _ => format!("v{}", r.below(1000)),
    }
}

fn blob(r: R, n: u64) -> Vec<u8> {
    (0..r.below(n)).map(|_| r.next() as u8).collect()
}

fn list_of(n: usize, k: Kind, r: R, most: u64) -> (Vec<usize>, usize, Option<NullBuffer>) {
    let nulls = valid(n, k, r);
    let lengths: Vec<usize> = (0..n)
        .map(|i| if nulls.as_ref().is_some_and(|v| v.is_null(i)) { 0 } else { r.below(most) as usize })
        .collect();
    let total = lengths.iter().sum();
    (lengths, total, nulls)
}

fn child(f: &Field, n: usize, k: Kind, r: R) -> ArrayRef {
    sample(f.data_type(), n, Kind { nulls: f.is_nullable() && k.nulls, ..k }, r)
}

fn dictionary<K: ArrowDictionaryKeyType>(value: &DataType, n: usize, k: Kind, r: R) -> ArrayRef
where
    K::Native: TryFrom<u8>,
{
    let values = sample(value, 11, Kind { nulls: false, ..k }, r);
    let keys: PrimitiveArray<K> =
        options(n, k, r, |_, r| K::Native::try_from(r.below(11) as u8).ok().unwrap()).into_iter().collect();
    Arc::new(DictionaryArray::<K>::new(keys, values))
}

fn sample(t: &DataType, n: usize, k: Kind, r: R) -> ArrayRef {
    use DataType::*;
    macro_rules! ints {
        ($t:ty, $bits:expr, $signed:expr, $usual:expr) => {{
            let v = options(n, k, r, |i, r| {
                whole(i, r, k, $bits, $signed, $usual) as <$t as ArrowPrimitiveType>::Native
            });
            Arc::new(PrimitiveArray::<$t>::from_iter(v).with_data_type(t.clone())) as ArrayRef
        }};
    }
    macro_rules! by_unit {
        ($u:expr, $s:ty, $ms:ty, $us:ty, $ns:ty, $from:expr, $to:expr) => {
            match $u {
                TimeUnit::Second => ints!($s, 64, true, ($from, $to)),
                TimeUnit::Millisecond => ints!($ms, 64, true, ($from * 1000, $to * 1000)),
                TimeUnit::Microsecond => ints!($us, 64, true, ($from * 1000000, $to * 1000000)),
                TimeUnit::Nanosecond => ints!($ns, 64, true, ($from * 1000000000, $to * 1000000000)),
            }
        };
    }
    macro_rules! decimals {
        ($t:ty, $p:expr, $parse:expr) => {{
            let v = options(n, k, r, |i, r| $parse(&digits(i, r, *$p)));
            Arc::new(PrimitiveArray::<$t>::from_iter(v).with_data_type(t.clone())) as ArrayRef
        }};
    }
    macro_rules! floats {
        ($t:ty, $from:expr) => {
            Arc::new(PrimitiveArray::<$t>::from_iter(options(n, k, r, |i, r| {
                let v = if k.extreme { float(i, r) } else { (r.below(2000000) as f64 - 1e6) / 1024.0 };
                $from(v)
            }))) as ArrayRef
        };
    }
    const DAY: i64 = 86400;
    match t {
        Null => Arc::new(NullArray::new(n)),
        Boolean => Arc::new(BooleanArray::from(options(n, k, r, |_, r| r.below(2) == 1))),
        Int8 => ints!(Int8Type, 8, true, (-100, 100)),
        Int16 => ints!(Int16Type, 16, true, (-1000, 1000)),
        Int32 => ints!(Int32Type, 32, true, (-100000, 100000)),
        Int64 => ints!(Int64Type, 64, true, (-(1 << 60), 1 << 60)),
        UInt8 => ints!(UInt8Type, 8, false, (0, 256)),
        UInt16 => ints!(UInt16Type, 16, false, (0, 1000)),
        UInt32 => ints!(UInt32Type, 32, false, (0, 1 << 32)),
        UInt64 => ints!(UInt64Type, 64, false, (0, i64::MAX)),
        Float16 => floats!(Float16Type, f16::from_f64),
        Float32 => floats!(Float32Type, |v: f64| v as f32),
        Float64 => floats!(Float64Type, |v: f64| v),
        Decimal32(p, _) => decimals!(Decimal32Type, p, |s: &str| s.parse::<i32>().unwrap()),
        Decimal64(p, _) => decimals!(Decimal64Type, p, |s: &str| s.parse::<i64>().unwrap()),
        Decimal128(p, _) => decimals!(Decimal128Type, p, |s: &str| s.parse::<i128>().unwrap()),
        Decimal256(p, _) => decimals!(Decimal256Type, p, |s: &str| i256::from_string(s).unwrap()),
        Date32 => ints!(Date32Type, 32, true, (-30000, 30000)),
        Date64 => ints!(Date64Type, 64, true, (-3000000000000, 3000000000000)),
        Time32(TimeUnit::Second) => ints!(Time32SecondType, 32, true, (0, DAY)),
        Time32(_) => ints!(Time32MillisecondType, 32, true, (0, DAY * 1000)),
        Time64(TimeUnit::Microsecond) => ints!(Time64MicrosecondType, 64, true, (0, DAY * 1000000)),
        Time64(_) => ints!(Time64NanosecondType, 64, true, (0, DAY * 1000000000)),
        Timestamp(u, _) => by_unit!(
            u,
            TimestampSecondType,
            TimestampMillisecondType,
            TimestampMicrosecondType,
            TimestampNanosecondType,
            -2000000000,
            3000000000
        ),
        Duration(u) => by_unit!(
            u,
            DurationSecondType,
            DurationMillisecondType,
            DurationMicrosecondType,
            DurationNanosecondType,
            -100000,
            100000
        ),
        Interval(IntervalUnit::YearMonth) => ints!(IntervalYearMonthType, 32, true, (-100, 100)),
        Interval(IntervalUnit::DayTime) => {
            Arc::new(IntervalDayTimeArray::from_iter(options(n, k, r, |i, r| IntervalDayTime {
                days: whole(i, r, k, 32, true, (-100, 100)) as i32,
                milliseconds: whole(i + 1, r, k, 32, true, (-100000, 100000)) as i32,
            })))
        }
        Interval(IntervalUnit::MonthDayNano) => {
            Arc::new(IntervalMonthDayNanoArray::from_iter(options(n, k, r, |i, r| IntervalMonthDayNano {
                months: whole(i, r, k, 32, true, (-100, 100)) as i32,
                days: whole(i + 1, r, k, 32, true, (-100, 100)) as i32,
                nanoseconds: whole(i + 2, r, k, 64, true, (-(1 << 50), 1 << 50)),
            })))
        }
        Utf8 => Arc::new(StringArray::from(options(n, k, r, string))),
        LargeUtf8 => Arc::new(LargeStringArray::from(options(n, k, r, string))),
        Utf8View => Arc::new(StringViewArray::from_iter(options(n, k, r, string))),
        Binary => Arc::new(BinaryArray::from_iter(options(n, k, r, |_, r| blob(r, 20)))),
        LargeBinary => Arc::new(LargeBinaryArray::from_iter(options(n, k, r, |_, r| blob(r, 20)))),
        BinaryView => Arc::new(BinaryViewArray::from_iter(options(n, k, r, |_, r| blob(r, 40)))),
        FixedSizeBinary(size) => {
            let v = options(n, k, r, |_, r| (0..*size).map(|_| r.next() as u8).collect::<Vec<_>>());
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(v.into_iter(), *size).unwrap())
        }
        List(f) => {
            let (lengths, total, nulls) = list_of(n, k, r, 5);
            Arc::new(ListArray::new(f.clone(), OffsetBuffer::from_lengths(lengths), child(f, total, k, r), nulls))
        }
        LargeList(f) => {
            let (lengths, total, nulls) = list_of(n, k, r, 5);
            Arc::new(LargeListArray::new(f.clone(), OffsetBuffer::from_lengths(lengths), child(f, total, k, r), nulls))
        }
        FixedSizeList(f, size) => {
            let values = child(f, n * *size as usize, k, r);
            Arc::new(FixedSizeListArray::new(f.clone(), *size, values, valid(n, k, r)))
        }
        Struct(fields) if fields.is_empty() => Arc::new(StructArray::new_empty_fields(n, valid(n, k, r))),
        Struct(fields) => {
            let columns = fields.iter().map(|f| child(f, n, k, r)).collect();
            Arc::new(StructArray::new(fields.clone(), columns, valid(n, k, r)))
        }
        Map(entries, sorted) => {
            let (lengths, total, nulls) = list_of(n, k, r, 4);
            let Struct(fields) = entries.data_type() else { unreachable!() };
            let keys: ArrayRef = if fields[0].data_type() == &Utf8 {
                Arc::new(StringArray::from_iter_values((0..total).map(|i| format!("k{i:06}"))))
            } else {
                sample(fields[0].data_type(), total, Kind { nulls: false, ..k }, r)
            };
            let entry = StructArray::new(fields.clone(), vec![keys, child(&fields[1], total, k, r)], None);
            Arc::new(MapArray::new(entries.clone(), OffsetBuffer::from_lengths(lengths), entry, nulls, *sorted))
        }
        Dictionary(key, value) => match key.as_ref() {
            Int8 => dictionary::<Int8Type>(value, n, k, r),
            Int16 => dictionary::<Int16Type>(value, n, k, r),
            Int32 => dictionary::<Int32Type>(value, n, k, r),
            Int64 => dictionary::<Int64Type>(value, n, k, r),
            UInt8 => dictionary::<UInt8Type>(value, n, k, r),
            UInt16 => dictionary::<UInt16Type>(value, n, k, r),
            UInt32 => dictionary::<UInt32Type>(value, n, k, r),
            _ => dictionary::<UInt64Type>(value, n, k, r),
        },
        other => panic!("no samples of {other}"),
    }
}

fn map_of(key: DataType, value: DataType) -> DataType {
    let fields = Fields::from(vec![Field::new("key", key, false), Field::new("value", value, true)]);
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(fields), false)), false)
}

fn list_type(t: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", t, true)))
}

fn dictionary_type(key: DataType, value: DataType) -> DataType {
    DataType::Dictionary(Box::new(key), Box::new(value))
}

fn table(fields: Vec<Field>, n: usize, k: Kind, seed: u64) -> RecordBatch {
    let mut r = Rng(seed * 7919 + 1);
    let columns = fields.iter().map(|f| child(f, n, k, &mut r)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(n));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).unwrap()
}

/// Sections of columns of one type: optional and required, without rows, without a value.
fn columns_of(t: &DataType, extreme: bool, seed: u64) -> BTreeMap<String, RecordBatch> {
    let usual = Kind { nulls: true, extreme };
    let both = vec![Field::new("x", t.clone(), true), Field::new("r", t.clone(), t == &DataType::Null)];
    let one = vec![Field::new("x", t.clone(), true)];
    let none = RecordBatch::try_new(
        Arc::new(Schema::new(one.clone())),
        vec![arrow_array::new_null_array(t, 5)],
    );
    let mut sections = BTreeMap::from([
        ("usual".to_string(), table(both.clone(), 19, usual, seed)),
        ("full".into(), table(one, 13, Kind { nulls: false, ..usual }, seed + 1)),
        ("empty".into(), table(both, 0, usual, seed)),
    ]);
    if let Ok(none) = none {
        sections.insert("nulls".into(), none);
    }
    sections
}

fn types() -> Vec<(&'static str, DataType)> {
    use DataType::*;
    let zone = |z: &str| Some(Arc::from(z));
    let (s, ms, us, ns) = (TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond);
    vec![
        ("null", Null),
        ("bool", Boolean),
        ("int8", Int8),
        ("int16", Int16),
        ("int32", Int32),
        ("int64", Int64),
        ("uint8", UInt8),
        ("uint16", UInt16),
        ("uint32", UInt32),
        ("uint64", UInt64),
        ("float16", Float16),
        ("float32", Float32),
        ("float64", Float64),
        ("decimal32", Decimal32(9, 2)),
        ("decimal64", Decimal64(18, 18)),
        ("decimal128", Decimal128(38, 10)),
        ("decimal128-whole", Decimal128(20, 0)),
        ("decimal128-negative-scale", Decimal128(10, -3)),
        ("decimal256", Decimal256(76, 38)),
        ("date32", Date32),
        ("date64", Date64),
        ("time32s", Time32(s)),
        ("time32ms", Time32(ms)),
        ("time64us", Time64(us)),
        ("time64ns", Time64(ns)),
        ("ts-s", Timestamp(s, None)),
        ("ts-ms", Timestamp(ms, None)),
        ("ts-us", Timestamp(us, None)),
        ("ts-ns", Timestamp(ns, None)),
        ("ts-s-zone", Timestamp(s, zone("+02:00"))),
        ("ts-ms-zone", Timestamp(ms, zone("+05:30"))),
        ("ts-us-zone", Timestamp(us, zone("+00:00"))),
        ("ts-ns-zone", Timestamp(ns, zone("-08:00"))),
        ("duration-s", Duration(s)),
        ("duration-ms", Duration(ms)),
        ("duration-us", Duration(us)),
        ("duration-ns", Duration(ns)),
        ("interval-ym", Interval(IntervalUnit::YearMonth)),
        ("interval-dt", Interval(IntervalUnit::DayTime)),
        ("interval-mdn", Interval(IntervalUnit::MonthDayNano)),
        ("utf8", Utf8),
        ("large-utf8", LargeUtf8),
        ("utf8-view", Utf8View),
        ("binary", Binary),
        ("large-binary", LargeBinary),
        ("binary-view", BinaryView),
        ("fixed-binary", FixedSizeBinary(16)),
    ]
}

fn nested(t: &DataType) -> Vec<Field> {
    use DataType::*;
    let item = Arc::new(Field::new("item", t.clone(), true));
    vec![
        Field::new("list", List(item.clone()), true),
        Field::new("large_list", LargeList(item.clone()), true),
        Field::new("fixed_list", FixedSizeList(item, 3), true),
        Field::new(
            "record",
            Struct(Fields::from(vec![Field::new("x", t.clone(), true), Field::new("n", Int32, true)])),
            true,
        ),
        Field::new("map", map_of(Utf8, t.clone()), true),
    ]
}

/// What a table's row looks like, with everything inside everything.
fn mixed() -> Vec<Field> {
    use DataType::*;
    let point = Struct(Fields::from(vec![
        Field::new("x", Float64, false),
        Field::new("tags", list_type(Utf8), true),
        Field::new("at", Timestamp(TimeUnit::Microsecond, Some("+00:00".into())), true),
    ]));
    vec![
        Field::new("time", Timestamp(TimeUnit::Microsecond, Some("+00:00".into())), false),
        Field::new("device", Int64, false),
        Field::new("site", Utf8, true),
        Field::new("on", Boolean, true),
        Field::new("raw", Binary, true),
        Field::new("price", Decimal128(12, 4), true),
        Field::new("points", list_type(point.clone()), true),
        Field::new("by_name", map_of(Utf8, list_type(map_of(Utf8, point))), true),
        Field::new("grid", list_type(list_type(list_type(Int16))), true),
    ]
}

fn deep(levels: usize) -> DataType {
    (0..levels).fold(DataType::Int32, |t, i| match i % 3 {
        0 => list_type(t),
        1 => DataType::Struct(Fields::from(vec![Field::new(format!("level{i}"), t, true)])),
        _ => DataType::FixedSizeList(Arc::new(Field::new("item", t, true)), 1),
    })
}

fn odd_names() -> Vec<Field> {
    let names = ["", " ", "a\"b", "back\\slash", "Ключ", "\u{1}\n", "😀", "json", "a.b", "null"];
    names
        .iter()
        .map(|n| {
            Field::new(*n, DataType::Int32, true).with_metadata(HashMap::from([
                ("PARQUET:field_id".to_string(), "7".to_string()),
                (n.to_string(), format!("value of {n}")),
                ("empty".into(), String::new()),
            ]))
        })
        .collect()
}

fn dictionaries() -> Vec<Field> {
    use DataType::*;
    let mut fields: Vec<Field> = [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64]
        .into_iter()
        .map(|k| Field::new(format!("by_{k}"), dictionary_type(k, Utf8), true))
        .collect();
    fields.push(Field::new("in_list", list_type(dictionary_type(Int32, Utf8)), true));
    fields.push(Field::new(
        "in_record",
        Struct(Fields::from(vec![Field::new("d", dictionary_type(Int16, LargeUtf8), true)])),
        true,
    ));
    fields.push(Field::new("required", dictionary_type(Int32, Utf8), false));
    fields.push(Field::new("records", dictionary_type(Int32, list_type(Int64)), true));
    fields
}

/// Types no head has to hold: readers say so instead of guessing.
fn refused() -> Vec<(&'static str, ArrayRef)> {
    let ends = Int32Array::from(vec![2, 5]);
    let runs: ArrayRef = Arc::new(RunArray::try_new(&ends, &StringArray::from(vec!["a", "b"])).unwrap());
    let number = Arc::new(Field::new("n", DataType::Int32, true));
    let union = UnionArray::try_new(
        arrow_schema::UnionFields::from_iter([(0, number.clone())]),
        ScalarBuffer::from(vec![0i8; 5]),
        None,
        vec![Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5]))],
    )
    .unwrap();
    let view = ListViewArray::new(
        number,
        ScalarBuffer::from(vec![0, 1]),
        ScalarBuffer::from(vec![1, 2]),
        Arc::new(Int32Array::from(vec![1, 2, 3])),
        None,
    );
    vec![("runs", runs), ("union", Arc::new(union)), ("list-view", Arc::new(view))]
}

struct Zoo<'a> {
    dir: &'a str,
    list: Vec<serde_json::Value>,
}

impl Zoo<'_> {
    /// What becomes of a document in a codec: `same`, or what Timelake says or loses.
    fn write(&self, name: &str, codec: &str, doc: &HeadDoc) -> String {
        let bytes = match catch_unwind(AssertUnwindSafe(|| encode(self.list.len() as u64, codec, doc))) {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(e)) => return format!("does not encode: {e}"),
            Err(_) => return "does not encode: panics".into(),
        };
        std::fs::write(format!("{}/{name}.{codec}.head", self.dir), &bytes).unwrap();
        match catch_unwind(AssertUnwindSafe(|| decode(&bytes))) {
            Ok(Ok((_, _, back))) => dump::difference(doc, &back, &mut None).map_or("same".into(), |d| format!("differs: {d}")),
            Ok(Err(e)) => format!("does not decode: {e}"),
            Err(_) => "does not decode: panics".into(),
        }
    }

    fn put(&mut self, name: &str, sections: BTreeMap<String, RecordBatch>) {
        let properties = BTreeMap::from([("layout".to_string(), "1".to_string()), ("made".into(), name.into())]);
        let doc = HeadDoc { properties, sections };
        let (arrow, json) = (self.write(name, "arrow", &doc), self.write(name, "json", &doc));
        let version = self.list.len();
        self.list.push(serde_json::json!({"name": name, "version": version, "arrow": arrow, "json": json}));
    }

    fn one(&mut self, name: &str, batch: RecordBatch) {
        self.put(name, BTreeMap::from([("t".to_string(), batch)]));
    }
}

pub fn make(dir: &str) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|e| format!("{dir}: {e}"))?;
    std::panic::set_hook(Box::new(|_| ()));
    let mut zoo = Zoo { dir, list: vec![] };
    let usual = Kind { nulls: true, extreme: false };
    let extreme = Kind { nulls: true, extreme: true };
    for (seed, (name, t)) in (1..).zip(types()) {
        zoo.put(&format!("type-{name}"), columns_of(&t, false, seed));
        zoo.put(&format!("extreme-{name}"), columns_of(&t, true, seed));
        zoo.one(&format!("nested-{name}"), table(nested(&t), 23, usual, seed));
        zoo.one(&format!("nested-extreme-{name}"), table(nested(&t), 23, extreme, seed));
        if t != DataType::Null && t != DataType::Boolean {
            let d = vec![Field::new("d", dictionary_type(DataType::Int32, t), true)];
            zoo.one(&format!("dictionary-{name}"), table(d, 29, extreme, seed));
        }
    }
    zoo.one("map-of-ints", table(vec![Field::new("m", map_of(DataType::Int32, DataType::Utf8), true)], 11, usual, 1));
    let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    zoo.put("type-ts-utc", columns_of(&utc, true, 60));
    zoo.one("nested-ts-utc", table(nested(&utc), 23, usual, 61));
    zoo.one("dictionaries", table(dictionaries(), 31, usual, 2));
    zoo.one("mixed", table(mixed(), 50, usual, 3));
    zoo.one("mixed-empty", table(mixed(), 0, usual, 3));
    zoo.one("mixed-one-row", table(mixed(), 1, usual, 4));
    zoo.one("mixed-long", table(mixed(), 3000, usual, 5));
    zoo.one("deep", table(vec![Field::new("x", deep(20), true)], 5, usual, 6));
    zoo.one("names", table(odd_names(), 4, usual, 7));
    let wide = (0..300).map(|i| Field::new(format!("c{i}"), DataType::Int32, i % 2 == 0)).collect();
    zoo.one("wide", table(wide, 3, usual, 8));
    let hollow = vec![Field::new("hollow", DataType::Struct(Fields::empty()), true)];
    zoo.one("hollow", table(hollow, 6, usual, 9));
    zoo.one("no-columns", table(vec![], 0, usual, 10));
    zoo.one("rows-without-columns", table(vec![], 5, usual, 11));
    let big = "0123456789abcdef".repeat(20000);
    let texts: ArrayRef = Arc::new(StringArray::from(vec![big.as_str(), "", &big[..70000]]));
    zoo.one("big-texts", RecordBatch::try_from_iter([("s", texts)]).unwrap());
    let whole = table(mixed(), 100, usual, 12);
    zoo.one("sliced", whole.slice(37, 29));
    zoo.put("many", (0..60).map(|i| (format!("section {i}"), table(nested(&DataType::Int64), i, usual, 13))).collect());
    for (name, array) in refused() {
        zoo.one(&format!("refused-{name}"), RecordBatch::try_from_iter([("x", array)]).unwrap());
    }
    let text = serde_json::to_string_pretty(&zoo.list).unwrap();
    std::fs::write(format!("{dir}/zoo.json"), text + "\n").map_err(|e| format!("{dir}: {e}"))
}
