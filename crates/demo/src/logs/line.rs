//! Writes one line of OTLP JSON, in the encodings of real exporters.
//!
//! The line is one buffer that is reused, so writing gigabytes needs no allocation per attribute.

use std::fmt;
use std::fmt::Write as _;

/// The types of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Numbers and booleans have their type, except those that the agent itself sends as text.
    Modern,
    /// Every attribute is a `stringValue`, as in older agents.
    Strings,
}

/// The writer of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogTransport {
    /// The collector's file exporter: 64-bit integers are quoted, logs have empty trace ids.
    Collector,
    /// An SDK that sends OTLP over HTTP: bare integers and counts of dropped attributes.
    HttpJson,
}

/// The OTLP signal of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSignal {
    /// Log records.
    Logs,
    /// Spans.
    Spans,
}

/// The fields of a log record except its attributes. A field that is `None` is omitted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Log<'a> {
    pub(crate) time_ns: u64,
    pub(crate) observed_ns: u64,
    pub(crate) severity: bool,
    pub(crate) event_name: Option<&'a str>,
    pub(crate) body: Option<&'a str>,
}

/// The fields of a span except its attributes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'a> {
    pub(crate) trace: u128,
    pub(crate) id: u64,
    pub(crate) parent: Option<u64>,
    pub(crate) name: &'a str,
    pub(crate) kind: u8,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// A line that is being written. Attributes are added to the latest record.
#[derive(Debug)]
pub struct Line {
    buffer: String,
    shape: Shape,
    transport: LogTransport,
}

impl Line {
    /// Creates an empty line in this encoding.
    pub fn new(shape: Shape, transport: LogTransport) -> Self {
        Self { buffer: String::new(), shape, transport }
    }

    /// Renders attributes that many records share.
    pub(crate) fn prepare(texts: &[(&str, &str)]) -> String {
        let mut line = Self::new(Shape::Modern, LogTransport::Collector);
        for (key, value) in texts {
            line.text(key, value);
        }
        line.buffer
    }

    /// Begins a line: writes everything before its first record.
    pub fn open(&mut self, signal: LineSignal, resource: &str, scope: &str) {
        self.buffer.clear();
        let (resources, scopes, records) = match signal {
            LineSignal::Logs => ("resourceLogs", "scopeLogs", "logRecords"),
            LineSignal::Spans => ("resourceSpans", "scopeSpans", "spans"),
        };
        self.put(format_args!(
            r#"{{"{resources}":[{{"resource":{{"attributes":[{resource}]}},"{scopes}":[{{"scope":{scope},"{records}":["#
        ));
    }

    /// Ends the line with a newline.
    pub fn close(&mut self) {
        self.raw("]}]}]}\n");
    }

    /// Returns the line so far.
    pub fn as_str(&self) -> &str {
        &self.buffer
    }

    /// Begins a log record: writes everything before its first attribute.
    pub(crate) fn log(&mut self, log: &Log<'_>) {
        self.separate();
        self.put(format_args!(
            r#"{{"timeUnixNano":"{}","observedTimeUnixNano":"{}","#,
            log.time_ns, log.observed_ns
        ));
        if log.severity {
            self.raw(r#""severityNumber":9,"severityText":"INFO","#);
        }
        if let Some(name) = log.event_name {
            self.put(format_args!(r#""eventName":"{name}","#));
        }
        if let Some(body) = log.body {
            self.raw(r#""body":{"stringValue":"#);
            quote(&mut self.buffer, body);
            self.raw("},");
        }
        self.raw(r#""attributes":["#);
    }

    /// Ends a log record. `of` is the trace id and span id that it belongs to.
    pub(crate) fn end_log(&mut self, of: Option<(u128, u64)>) {
        self.raw("]");
        if self.transport == LogTransport::HttpJson {
            self.raw(r#","droppedAttributesCount":0"#);
        }
        match (of, self.transport) {
            (Some((trace, span)), _) => {
                self.put(format_args!(r#","flags":1,"traceId":"{trace:032x}","spanId":"{span:016x}"}}"#));
            }
            (None, LogTransport::Collector) => self.raw(r#","traceId":"","spanId":""}"#),
            (None, LogTransport::HttpJson) => self.raw("}"),
        }
    }

    /// Begins a span: writes everything before its first attribute.
    pub(crate) fn span(&mut self, span: &Span<'_>) {
        self.separate();
        self.put(format_args!(r#"{{"traceId":"{:032x}","spanId":"{:016x}","#, span.trace, span.id));
        match (span.parent, self.transport) {
            (Some(parent), _) => self.put(format_args!(r#""parentSpanId":"{parent:016x}","#)),
            (None, LogTransport::Collector) => self.raw(r#""parentSpanId":"","#),
            (None, LogTransport::HttpJson) => {}
        }
        self.raw(r#""flags":257,"name":"#);
        quote(&mut self.buffer, span.name);
        self.put(format_args!(
            r#","kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":["#,
            span.kind, span.start_ns, span.end_ns
        ));
    }

    /// Ends a span. `error` is the message of a failed span.
    pub(crate) fn end_span(&mut self, error: Option<&str>) {
        self.raw("]");
        if self.transport == LogTransport::HttpJson {
            self.raw(r#","droppedAttributesCount":0,"droppedEventsCount":0,"droppedLinksCount":0"#);
        }
        match (error, self.transport) {
            (Some(message), _) => {
                self.raw(r#","status":{"code":2,"message":"#);
                quote(&mut self.buffer, message);
                self.raw("}}");
            }
            (None, LogTransport::Collector) => self.raw(r#","status":{}}"#),
            (None, LogTransport::HttpJson) => self.raw(r#","status":{"code":0}}"#),
        }
    }

    /// Adds attributes that `prepare` has rendered.
    pub(crate) fn prepared(&mut self, attributes: &str) {
        self.separate();
        self.raw(attributes);
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        self.raw(r#""stringValue":"#);
        quote(&mut self.buffer, value);
        self.raw("}}");
    }

    /// Adds a formatted text that needs no escapes.
    pub(crate) fn plain(&mut self, key: &str, value: fmt::Arguments<'_>) {
        self.key(key);
        self.raw(r#""stringValue":""#);
        self.put(value);
        self.raw("\"}}");
    }

    /// Adds a number that the agent always sends as text.
    pub(crate) fn counted(&mut self, key: &str, value: u64) {
        self.plain(key, format_args!("{value}"));
    }

    pub(crate) fn int(&mut self, key: &str, value: u64) {
        match (self.shape, self.transport) {
            (Shape::Strings, _) => self.counted(key, value),
            (Shape::Modern, LogTransport::Collector) => {
                self.key(key);
                self.put(format_args!("\"intValue\":\"{value}\"}}}}"));
            }
            (Shape::Modern, LogTransport::HttpJson) => {
                self.key(key);
                self.put(format_args!("\"intValue\":{value}}}}}"));
            }
        }
    }

    pub(crate) fn double(&mut self, key: &str, value: TenMillionths) {
        if self.shape == Shape::Strings {
            return self.plain(key, format_args!("{value}"));
        }
        self.key(key);
        self.put(format_args!("\"doubleValue\":{value}}}}}"));
    }

    pub(crate) fn flag(&mut self, key: &str, value: bool) {
        if self.shape == Shape::Strings {
            return self.plain(key, format_args!("{value}"));
        }
        self.key(key);
        self.put(format_args!("\"boolValue\":{value}}}}}"));
    }

    /// Adds a list of one text. With [`Shape::Strings`], it is a JSON array in a string.
    pub(crate) fn list(&mut self, key: &str, value: &str) {
        if self.shape == Shape::Strings {
            return self.text(key, &format!("[\"{value}\"]"));
        }
        self.key(key);
        self.put(format_args!(r#""arrayValue":{{"values":[{{"stringValue":"{value}"}}]}}}}}}"#));
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.raw(r#"{"key":""#);
        self.raw(key);
        self.raw(r#"","value":{"#);
    }

    /// Writes the comma between two entries.
    fn separate(&mut self) {
        if !self.buffer.is_empty() && !self.buffer.ends_with('[') {
            self.buffer.push(',');
        }
    }

    fn raw(&mut self, text: &str) {
        self.buffer.push_str(text);
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        let _ = self.buffer.write_fmt(text);
    }
}

/// A number of ten-millionths. It is formatted as in JavaScript: without trailing zeros, and with an exponent below one
/// millionth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TenMillionths(pub(crate) u64);

impl fmt::Display for TenMillionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut decimals, mut places) = (self.0 / 10_000_000, self.0 % 10_000_000, 7);
        if decimals == 0 {
            return write!(f, "{whole}");
        }
        if self.0 < 10 {
            return write!(f, "{}e-7", self.0);
        }
        while decimals % 10 == 0 {
            decimals /= 10;
            places -= 1;
        }
        write!(f, "{whole}.{decimals:0places$}")
    }
}

/// Appends a text as a JSON string.
pub(crate) fn quote(to: &mut String, text: &str) {
    to.push('"');
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        to.push_str(text);
    } else {
        for character in text.chars() {
            match character {
                '"' => to.push_str("\\\""),
                '\\' => to.push_str("\\\\"),
                '\n' => to.push_str("\\n"),
                '\t' => to.push_str("\\t"),
                control if control < ' ' => {
                    let _ = write!(to, "\\u{:04x}", u32::from(control));
                }
                other => to.push(other),
            }
        }
    }
    to.push('"');
}

/// A time, formatted as RFC 3339 in UTC with milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Iso(pub(crate) u64);

impl fmt::Display for Iso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ms, seconds) = (self.0 / 1_000_000, self.0 / 1_000_000_000);
        // Days are counted from 1 March of the year 0, so that a leap day is the last day of its year.
        let day = seconds / 86_400 + 719_468;
        let (era, of_era) = (day / 146_097, day % 146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * of_year + 2) / 153;
        let day_of_month = of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day_of_month:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
            ms % 1000
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339() {
        for (ns, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
            (1_780_000_000_123_456_789, "2026-05-28T20:26:40.123Z"),
            (1_798_761_599_999_000_000, "2026-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(Iso(ns).to_string(), expected);
        }
    }

    #[test]
    fn decimals_have_no_trailing_zeros() {
        let written = |value| TenMillionths(value).to_string();
        assert_eq!(written(0), "0");
        assert_eq!(written(7), "7e-7");
        assert_eq!(written(10), "0.000001");
        assert_eq!(written(420_000), "0.042");
        assert_eq!(written(12_345_678), "1.2345678");
        assert_eq!(written(30_000_000), "3");
    }

    #[test]
    fn quoted_texts_are_valid_json() {
        let text = "a \"b\" \\ c\n\t\u{1}é→";
        let mut quoted = String::new();
        quote(&mut quoted, text);
        assert_eq!(serde_json::from_str::<String>(&quoted).expect("JSON"), text);
    }
}
