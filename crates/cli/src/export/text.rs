//! Writes JSON Lines and CSV.

use std::io::{self, Write};

use serde_json::Value;
use serde_json::value::RawValue;

use super::Sink;
use super::columns::{Cell, Column, Row};

/// One object per line. Empty cells are null.
pub(super) struct JsonLines<W> {
    out: W,
    columns: &'static [Column],
}

impl<W: Write> JsonLines<W> {
    pub(super) fn new(out: W, columns: &'static [Column]) -> Self {
        Self { out, columns }
    }
}

impl<W: Write> Sink for JsonLines<W> {
    fn row(&mut self, row: Row) -> io::Result<()> {
        let mut separator = '{';
        for ((name, _), cell) in self.columns.iter().zip(row) {
            write!(self.out, "{separator}\"{name}\":")?;
            separator = ',';
            match cell {
                Cell::Empty => self.out.write_all(b"null")?,
                Cell::Text(text) => serde_json::to_writer(&mut self.out, &text)?,
                // Stored JSON is valid, but a line break in it would end the row.
                Cell::Json(text) => match serde_json::from_str::<&RawValue>(&text) {
                    Ok(json) if !json.get().contains('\n') => self.out.write_all(json.get().as_bytes())?,
                    _ => serde_json::to_writer(
                        &mut self.out,
                        &serde_json::from_str::<Value>(&text).unwrap_or_default(),
                    )?,
                },
                Cell::Integer(number) => write!(self.out, "{number}")?,
                Cell::Float(number) => serde_json::to_writer(&mut self.out, &number)?,
                Cell::Flag(flag) => write!(self.out, "{flag}")?,
                Cell::Time(time) => write!(self.out, "\"{time}\"")?,
            }
        }
        self.out.write_all(b"}\n")
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

/// RFC 4180: a header, CRLF, quotes if needed. Empty cells are empty fields.
///
/// Names and reasons come from agents, and a spreadsheet runs text that begins like a formula. Such text gets an apostrophe in
/// front, which marks it as text for spreadsheets. With `--raw`, text stays unchanged.
pub(super) struct Csv<W> {
    out: W,
    is_raw: bool,
}

impl<W: Write> Csv<W> {
    pub(super) fn new(mut out: W, columns: &'static [Column], is_raw: bool) -> io::Result<Self> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        write!(out, "{}\r\n", names.join(","))?;
        Ok(Self { out, is_raw })
    }
}

/// The characters that start a formula, or that a spreadsheet skips before one. Some spreadsheets accept the full-width forms too.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Returns text that no spreadsheet runs as a formula.
fn plain(text: String) -> String {
    if text.starts_with(FORMULA) { format!("'{text}") } else { text }
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

impl<W: Write> Sink for Csv<W> {
    fn row(&mut self, row: Row) -> io::Result<()> {
        let fields = row.into_iter().map(|cell| match cell {
            Cell::Empty => String::new(),
            // Quotes distinguish an empty text from an empty cell.
            Cell::Text(text) if text.is_empty() => "\"\"".to_owned(),
            Cell::Text(text) if !self.is_raw => field(&plain(text)),
            Cell::Text(text) | Cell::Json(text) => field(&text),
            Cell::Integer(number) => number.to_string(),
            Cell::Float(number) => number.to_string(),
            Cell::Flag(flag) => flag.to_string(),
            Cell::Time(time) => time.to_string(),
        });
        let fields: Vec<String> = fields.collect();
        write!(self.out, "{}\r\n", fields.join(","))
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::columns::Kind;

    #[test]
    fn no_text_is_a_formula_in_a_spreadsheet() {
        for (text, shown, raw) in [
            ("=1+1", "'=1+1", "=1+1"),
            ("+1", "'+1", "+1"),
            ("-1", "'-1", "-1"),
            ("@SUM(1)", "'@SUM(1)", "@SUM(1)"),
            ("\t=1", "'\t=1", "\t=1"),
            ("\r=1", "\"'\r=1\"", "\"\r=1\""),
            ("＝1", "'＝1", "＝1"),
            (
                "=HYPERLINK(\"x\",\"y\")",
                "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"",
                "\"=HYPERLINK(\"\"x\"\",\"\"y\"\")\"",
            ),
            ("a=1", "a=1", "a=1"),
            ("'=1", "'=1", "'=1"),
        ] {
            for (is_raw, expected) in [(false, shown), (true, raw)] {
                let mut out = Vec::new();
                let mut csv = Csv::new(&mut out, &[("a", Kind::Text)], is_raw).unwrap();
                csv.row(vec![Cell::Text(text.to_owned())]).unwrap();
                assert_eq!(String::from_utf8(out).unwrap(), format!("a\r\n{expected}\r\n"));
            }
        }
        // Numbers are never escaped.
        let mut out = Vec::new();
        Csv::new(&mut out, &[], false).unwrap().row(vec![Cell::Integer(-7), Cell::Float(-0.5)]).unwrap();
        assert_eq!(out, b"\r\n-7,-0.5\r\n");
    }

    const COLUMNS: &[Column] =
        &[("a", Kind::Text), ("b", Kind::Json), ("c", Kind::Integer), ("d", Kind::Float), ("e", Kind::Flag)];

    fn rows() -> [Row; 2] {
        let text = |text: &str| Cell::Text(text.to_owned());
        [
            vec![
                text("é, \"x\"\n"),
                Cell::Json("{\"k\": [1,\n2]}".to_owned()),
                Cell::Integer(-7),
                Cell::Float(0.5),
                Cell::Flag(true),
            ],
            vec![text(""), Cell::Empty, Cell::Empty, Cell::Empty, Cell::Empty],
        ]
    }

    fn written<'b>(make: impl FnOnce(&'b mut Vec<u8>) -> Box<dyn Sink + 'b>, out: &'b mut Vec<u8>) {
        let mut sink = make(out);
        for row in rows() {
            sink.row(row).unwrap();
        }
        sink.finish().unwrap();
    }

    #[test]
    fn rows_are_json_objects_or_csv_fields() {
        let mut out = Vec::new();
        written(|out| Box::new(JsonLines::new(out, COLUMNS)), &mut out);
        let expected = concat!(
            r#"{"a":"é, \"x\"\n","b":{"k":[1,2]},"c":-7,"d":0.5,"e":true}"#,
            "\n",
            r#"{"a":"","b":null,"c":null,"d":null,"e":null}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        written(|out| Box::new(Csv::new(out, COLUMNS, false).unwrap()), &mut out);
        let expected = "a,b,c,d,e\r\n\"é, \"\"x\"\"\n\",\"{\"\"k\"\": [1,\n2]}\",-7,0.5,true\r\n\"\",,,,\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
