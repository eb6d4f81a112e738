//! A document as JSON, in the shape of `tlake head --json`, byte for byte. Written over the arrays themselves: arrow-json
//! loses decimals, NaN and more.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use std::collections::HashMap;
use std::fmt::Write;
use timelake_format::head::HeadDoc;

pub fn text(out: &mut String, s: &str) {
    out.push_str(&serde_json::to_string(s).unwrap());
}

fn comma(out: &mut String, first: &mut bool) {
    if !*first {
        out.push(',');
    }
    *first = false;
}

fn object<'a>(out: &mut String, pairs: impl Iterator<Item = (&'a String, &'a String)>) {
    let mut first = true;
    out.push('{');
    for (k, v) in pairs {
        comma(out, &mut first);
        text(out, k);
        out.push(':');
        text(out, v);
    }
    out.push('}');
}

pub fn metadata(out: &mut String, m: &HashMap<String, String>) {
    let mut pairs: Vec<_> = m.iter().collect();
    pairs.sort();
    object(out, pairs.into_iter());
}

fn unit(u: TimeUnit) -> &'static str {
    match u {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

fn child(f: &Field) -> String {
    format!("{}: {}{}", f.name(), type_name(f.data_type()), if f.is_nullable() { "" } else { " not null" })
}

/// A type as pyarrow spells it.
pub fn type_name(t: &DataType) -> String {
    use DataType::*;
    match t {
        Null => "null".into(),
        Boolean => "bool".into(),
        Int8 => "int8".into(),
        Int16 => "int16".into(),
        Int32 => "int32".into(),
        Int64 => "int64".into(),
        UInt8 => "uint8".into(),
        UInt16 => "uint16".into(),
        UInt32 => "uint32".into(),
        UInt64 => "uint64".into(),
        Float16 => "halffloat".into(),
        Float32 => "float".into(),
        Float64 => "double".into(),
        Decimal32(p, s) => format!("decimal32({p}, {s})"),
        Decimal64(p, s) => format!("decimal64({p}, {s})"),
        Decimal128(p, s) => format!("decimal128({p}, {s})"),
        Decimal256(p, s) => format!("decimal256({p}, {s})"),
        Date32 => "date32[day]".into(),
        Date64 => "date64[ms]".into(),
        Time32(u) => format!("time32[{}]", unit(*u)),
        Time64(u) => format!("time64[{}]", unit(*u)),
        Timestamp(u, None) => format!("timestamp[{}]", unit(*u)),
        Timestamp(u, Some(z)) => format!("timestamp[{}, tz={z}]", unit(*u)),
        Duration(u) => format!("duration[{}]", unit(*u)),
        Interval(IntervalUnit::YearMonth) => "month_interval".into(),
        Interval(IntervalUnit::DayTime) => "day_time_interval".into(),
        Interval(IntervalUnit::MonthDayNano) => "month_day_nano_interval".into(),
        Utf8 => "string".into(),
        LargeUtf8 => "large_string".into(),
        Utf8View => "string_view".into(),
        Binary => "binary".into(),
        LargeBinary => "large_binary".into(),
        BinaryView => "binary_view".into(),
        FixedSizeBinary(n) => format!("fixed_size_binary[{n}]"),
        List(f) => format!("list<{}>", child(f)),
        LargeList(f) => format!("large_list<{}>", child(f)),
        FixedSizeList(f, n) => format!("fixed_size_list<{}>[{n}]", child(f)),
        Struct(fs) => format!("struct<{}>", fs.iter().map(|f| child(f)).collect::<Vec<_>>().join(", ")),
        Map(entries, sorted) => map_name(entries, *sorted),
        Dictionary(k, v) => format!("dictionary<values={}, indices={}, ordered=0>", type_name(v), type_name(k)),
        other => format!("{other}"),
    }
}

fn map_name(entries: &Field, sorted: bool) -> String {
    let DataType::Struct(fs) = entries.data_type() else { return "map".into() };
    let sorted = if sorted { ", keys_sorted" } else { "" };
    format!("map<{}, {}{sorted}>", type_name(fs[0].data_type()), type_name(fs[1].data_type()))
}

fn field_type(f: &Field) -> String {
    let name = type_name(f.data_type());
    if f.dict_is_ordered() == Some(true) {
        return name.replace("ordered=0", "ordered=1");
    }
    name
}

pub fn field(out: &mut String, f: &Field) {
    out.push_str("{\"name\":");
    text(out, f.name());
    out.push_str(",\"type\":");
    text(out, &field_type(f));
    write!(out, ",\"nullable\":{},\"metadata\":", f.is_nullable()).unwrap();
    metadata(out, f.metadata());
    out.push('}');
}

fn float(out: &mut String, v: f64, shortest: String) {
    if v.is_nan() {
        out.push_str("\"NaN\"");
    } else if v.is_infinite() {
        out.push_str(if v > 0.0 { "\"inf\"" } else { "\"-inf\"" });
    } else {
        out.push_str(&shortest);
    }
}

fn hex(out: &mut String, b: &[u8]) {
    out.push('"');
    for x in b {
        write!(out, "{x:02x}").unwrap();
    }
    out.push('"');
}

/// Digits of an unscaled decimal with the point put in; a negative scale becomes an exponent.
fn decimal(out: &mut String, unscaled: String, scale: i8) {
    let (sign, mut digits) = match unscaled.strip_prefix('-') {
        Some(d) => ("-", d.to_string()),
        None => ("", unscaled),
    };
    let places = usize::from(scale.unsigned_abs());
    if scale < 0 {
        write!(digits, "E{places}").unwrap();
    } else if scale > 0 {
        if digits.len() <= places {
            digits = "0".repeat(places + 1 - digits.len()) + &digits;
        }
        digits.insert(digits.len() - places, '.');
    }
    write!(out, "\"{sign}{digits}\"").unwrap();
}

fn list(out: &mut String, values: &dyn Array) {
    out.push('[');
    for i in 0..values.len() {
        if i > 0 {
            out.push(',');
        }
        value(out, values, i);
    }
    out.push(']');
}

pub fn value(out: &mut String, a: &dyn Array, i: usize) {
    use DataType::*;
    macro_rules! number {
        ($t:ty) => {
            write!(out, "{}", a.as_primitive::<$t>().value(i)).unwrap()
        };
    }
    macro_rules! by_unit {
        ($u:expr, $s:ty, $ms:ty, $us:ty, $ns:ty) => {
            match $u {
                TimeUnit::Second => number!($s),
                TimeUnit::Millisecond => number!($ms),
                TimeUnit::Microsecond => number!($us),
                TimeUnit::Nanosecond => number!($ns),
            }
        };
    }
    if matches!(a.data_type(), Null) || a.is_null(i) {
        out.push_str("null");
        return;
    }
    match a.data_type() {
        Boolean => write!(out, "{}", a.as_boolean().value(i)).unwrap(),
        Int8 => number!(Int8Type),
        Int16 => number!(Int16Type),
        Int32 => number!(Int32Type),
        Int64 => number!(Int64Type),
        UInt8 => number!(UInt8Type),
        UInt16 => number!(UInt16Type),
        UInt32 => number!(UInt32Type),
        UInt64 => number!(UInt64Type),
        Float16 => {
            let v = a.as_primitive::<Float16Type>().value(i).to_f32();
            float(out, v.into(), serde_json::to_string(&v).unwrap());
        }
        Float32 => {
            let v = a.as_primitive::<Float32Type>().value(i);
            float(out, v.into(), serde_json::to_string(&v).unwrap());
        }
        Float64 => {
            let v = a.as_primitive::<Float64Type>().value(i);
            float(out, v, serde_json::to_string(&v).unwrap());
        }
        Decimal32(_, s) => decimal(out, a.as_primitive::<Decimal32Type>().value(i).to_string(), *s),
        Decimal64(_, s) => decimal(out, a.as_primitive::<Decimal64Type>().value(i).to_string(), *s),
        Decimal128(_, s) => decimal(out, a.as_primitive::<Decimal128Type>().value(i).to_string(), *s),
        Decimal256(_, s) => decimal(out, a.as_primitive::<Decimal256Type>().value(i).to_string(), *s),
        Date32 => number!(Date32Type),
        Date64 => number!(Date64Type),
        Time32(TimeUnit::Second) => number!(Time32SecondType),
        Time32(_) => number!(Time32MillisecondType),
        Time64(TimeUnit::Microsecond) => number!(Time64MicrosecondType),
        Time64(_) => number!(Time64NanosecondType),
        Timestamp(u, _) => by_unit!(
            u,
            TimestampSecondType,
            TimestampMillisecondType,
            TimestampMicrosecondType,
            TimestampNanosecondType
        ),
        Duration(u) => {
            by_unit!(u, DurationSecondType, DurationMillisecondType, DurationMicrosecondType, DurationNanosecondType)
        }
        Interval(IntervalUnit::YearMonth) => number!(IntervalYearMonthType),
        Interval(IntervalUnit::DayTime) => {
            let v = a.as_primitive::<IntervalDayTimeType>().value(i);
            write!(out, "[{},{}]", v.days, v.milliseconds).unwrap();
        }
        Interval(IntervalUnit::MonthDayNano) => {
            let v = a.as_primitive::<IntervalMonthDayNanoType>().value(i);
            write!(out, "[{},{},{}]", v.months, v.days, v.nanoseconds).unwrap();
        }
        Utf8 => text(out, a.as_string::<i32>().value(i)),
        LargeUtf8 => text(out, a.as_string::<i64>().value(i)),
        Utf8View => text(out, a.as_string_view().value(i)),
        Binary => hex(out, a.as_binary::<i32>().value(i)),
        LargeBinary => hex(out, a.as_binary::<i64>().value(i)),
        BinaryView => hex(out, a.as_binary_view().value(i)),
        FixedSizeBinary(_) => hex(out, a.as_fixed_size_binary().value(i)),
        List(_) => list(out, a.as_list::<i32>().value(i).as_ref()),
        LargeList(_) => list(out, a.as_list::<i64>().value(i).as_ref()),
        FixedSizeList(_, _) => list(out, a.as_fixed_size_list().value(i).as_ref()),
        Struct(fields) => {
            let s = a.as_struct();
            let mut first = true;
            out.push('{');
            for (f, c) in fields.iter().zip(s.columns()) {
                comma(out, &mut first);
                text(out, f.name());
                out.push(':');
                value(out, c.as_ref(), i);
            }
            out.push('}');
        }
        Map(_, _) => {
            let entries = a.as_map().value(i);
            out.push('[');
            for j in 0..entries.len() {
                out.push_str(if j > 0 { ",[" } else { "[" });
                value(out, entries.column(0).as_ref(), j);
                out.push(',');
                value(out, entries.column(1).as_ref(), j);
                out.push(']');
            }
            out.push(']');
        }
        Dictionary(_, _) => {
            let d = a.as_any_dictionary();
            value(out, d.values().as_ref(), d.normalized_keys()[i]);
        }
        other => write!(out, "\"? {other}\"").unwrap(),
    }
}

pub fn row(out: &mut String, batch: &RecordBatch, i: usize) {
    let schema = batch.schema();
    let mut first = true;
    out.push('{');
    for (f, c) in schema.fields().iter().zip(batch.columns()) {
        comma(out, &mut first);
        text(out, f.name());
        out.push(':');
        value(out, c.as_ref(), i);
    }
    out.push('}');
}

pub fn document(version: u64, codec: &str, doc: &HeadDoc) -> String {
    let mut out = String::new();
    let mut first = true;
    write!(out, "{{\"version\":{version},\"codec\":").unwrap();
    text(&mut out, codec);
    out.push_str(",\"properties\":");
    object(&mut out, doc.properties.iter());
    out.push_str(",\"sections\":[");
    for (name, batch) in &doc.sections {
        comma(&mut out, &mut first);
        out.push_str("{\"name\":");
        text(&mut out, name);
        out.push_str(",\"fields\":[");
        let schema = batch.schema();
        let mut first = true;
        for f in schema.fields() {
            comma(&mut out, &mut first);
            field(&mut out, f);
        }
        out.push_str("],\"metadata\":");
        metadata(&mut out, schema.metadata());
        out.push_str(",\"rows\":[");
        let mut first = true;
        for i in 0..batch.num_rows() {
            comma(&mut out, &mut first);
            row(&mut out, batch, i);
        }
        out.push_str("]}");
    }
    out.push_str("]}");
    out
}

/// Whether two rows differ only in doubles that are at most two steps apart.
fn close(a: &str, b: &str) -> bool {
    let number = |s: &str, at: usize| {
        let part = |c: u8| matches!(c, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e');
        let bytes = s.as_bytes();
        let start = at - bytes[..at].iter().rev().take_while(|c| part(**c)).count();
        let end = at + bytes[at..].iter().take_while(|c| part(**c)).count();
        let text = s.get(start..end)?;
        text.contains(['.', 'e']).then(|| text.parse::<f64>().ok().map(|v| (v, end))).flatten()
    };
    let (mut a, mut b) = (a, b);
    while a != b {
        let at = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
        let (Some((x, end)), Some((y, other))) = (number(a, at), number(b, at)) else { return false };
        if (x.to_bits() as i64 - y.to_bits() as i64).abs() > 2 {
            return false;
        }
        (a, b) = (&a[end..], &b[other..]);
    }
    true
}

/// The first difference of two documents, or `None`: schemas as they are, values by value. Rows whose doubles are only close
/// are counted, if there is a count.
pub fn difference(a: &HeadDoc, b: &HeadDoc, rounded: &mut Option<usize>) -> Option<String> {
    if a.properties != b.properties {
        return Some(format!("properties {:?} and {:?}", a.properties, b.properties));
    }
    let names = |d: &HeadDoc| d.sections.keys().cloned().collect::<Vec<_>>();
    if names(a) != names(b) {
        return Some(format!("sections {:?} and {:?}", names(a), names(b)));
    }
    for (name, x) in &a.sections {
        let y = &b.sections[name];
        if x.schema() != y.schema() {
            return Some(format!("section {name:?}: schema {:?} and {:?}", x.schema(), y.schema()));
        }
        if x.num_rows() != y.num_rows() {
            return Some(format!("section {name:?}: {} and {} rows", x.num_rows(), y.num_rows()));
        }
        if x == y {
            continue; // bit for bit; what follows finds where, and lets the payload of a NaN differ
        }
        for i in 0..x.num_rows() {
            let (mut s, mut t) = (String::new(), String::new());
            row(&mut s, x, i);
            row(&mut t, y, i);
            if s == t {
                continue;
            }
            if let (Some(n), true) = (rounded.as_mut(), close(&s, &t)) {
                *n += 1;
            } else {
                return Some(format!("section {name:?}, row {i}: {s} and {t}"));
            }
        }
    }
    None
}
