//! Writes Parquet, one row group at a time, compressed with zstd.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::Sink;
use super::columns::{Cell, Column, Kind, Row};

/// Number of rows per row group.
const GROUP_ROWS: usize = 50_000;

pub(super) struct Parquet<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: &'static [Column],
    rows: Vec<Row>,
}

impl<W: Write + Send> Parquet<W> {
    pub(super) fn new(out: W, columns: &'static [Column]) -> io::Result<Self> {
        let fields: String = columns
            .iter()
            .map(|(name, kind)| match kind {
                Kind::Text => format!("OPTIONAL BYTE_ARRAY {name} (STRING); "),
                Kind::Json => format!("OPTIONAL BYTE_ARRAY {name} (JSON); "),
                Kind::Integer => format!("OPTIONAL INT64 {name}; "),
                Kind::Float => format!("OPTIONAL DOUBLE {name}; "),
                Kind::Flag => format!("OPTIONAL BOOLEAN {name}; "),
                Kind::Time => format!("OPTIONAL INT64 {name} (TIMESTAMP(MICROS,true)); "),
            })
            .collect();
        let schema = parse_message_type(&format!("message renown {{ {fields}}}")).map_err(to_io_error)?;
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let writer =
            SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(to_io_error)?;
        Ok(Self { writer, columns, rows: Vec::new() })
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        let mut group = self.writer.next_row_group()?;
        for index in 0..self.columns.len() {
            let Some(mut column) = group.next_column()? else { break };
            let cells = || rows.iter().filter_map(|row| row.get(index));
            // Definition level 0 means an empty value.
            let levels: Vec<i16> = cells().map(|cell| i16::from(*cell != Cell::Empty)).collect();
            let levels = Some(levels.as_slice());
            match column.untyped() {
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    let values: Vec<ByteArray> = cells().filter_map(bytes).collect();
                    writer.write_batch(&values, levels, None)?;
                }
                ColumnWriter::Int64ColumnWriter(writer) => {
                    let values: Vec<i64> = cells().filter_map(integer).collect();
                    writer.write_batch(&values, levels, None)?;
                }
                ColumnWriter::DoubleColumnWriter(writer) => {
                    let values: Vec<f64> = cells().filter_map(float).collect();
                    writer.write_batch(&values, levels, None)?;
                }
                ColumnWriter::BoolColumnWriter(writer) => {
                    let values: Vec<bool> = cells().filter_map(flag).collect();
                    writer.write_batch(&values, levels, None)?;
                }
                ColumnWriter::Int32ColumnWriter(_)
                | ColumnWriter::Int96ColumnWriter(_)
                | ColumnWriter::FloatColumnWriter(_)
                | ColumnWriter::FixedLenByteArrayColumnWriter(_) => {
                    return Err(ParquetError::General("unexpected column type".to_owned()));
                }
            }
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

fn bytes(cell: &Cell) -> Option<ByteArray> {
    if let Cell::Text(text) | Cell::Json(text) = cell { Some(text.as_bytes().to_vec().into()) } else { None }
}

fn integer(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(number) => Some(*number),
        Cell::Time(time) => Some(time.nanos() / 1000),
        Cell::Empty | Cell::Text(_) | Cell::Json(_) | Cell::Float(_) | Cell::Flag(_) => None,
    }
}

fn float(cell: &Cell) -> Option<f64> {
    if let Cell::Float(number) = cell { Some(*number) } else { None }
}

fn flag(cell: &Cell) -> Option<bool> {
    if let Cell::Flag(flag) = cell { Some(*flag) } else { None }
}

/// Converts an error. Returns an I/O error of the file unchanged.
fn to_io_error(error: ParquetError) -> io::Error {
    let ParquetError::External(inner) = error else { return io::Error::other(error) };
    inner.downcast::<io::Error>().map_or_else(io::Error::other, |inner| *inner)
}

impl<W: Write + Send> Sink for Parquet<W> {
    fn row(&mut self, row: Row) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() >= GROUP_ROWS { self.flush().map_err(to_io_error) } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.flush().map_err(to_io_error)?;
        }
        let mut out = self.writer.into_inner().map_err(to_io_error)?;
        out.flush()
    }
}
