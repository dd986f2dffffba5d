//! Text for people: counts with their nouns, times, and tables that fit the terminal.

use std::fmt::{Display, Write as _};

/// The cell of a value without evidence.
pub(crate) const NOTHING: &str = "–";

/// Formats a count with its noun.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Formats a value as a cell, or [`NOTHING`] for `None`.
pub(crate) fn cell(value: Option<impl Display>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| value.to_string())
}

/// Formats an RFC 3339 time to the minute.
pub(crate) fn minute(time: impl Display) -> String {
    time.to_string().replace('T', " ").chars().take("2026-11-15 12:00".len()).collect()
}

/// The head of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    title: &'static str,
    is_right: bool,
    /// In a narrow terminal, cells may be cut to this many characters.
    chars_min: usize,
}

/// Returns a left-aligned column.
pub(crate) const fn left(title: &'static str) -> Head {
    Head { title, is_right: false, chars_min: usize::MAX }
}

/// Returns a right-aligned column, for numbers.
pub(crate) const fn right(title: &'static str) -> Head {
    Head { title, is_right: true, chars_min: usize::MAX }
}

impl Head {
    /// Allows cells to be cut to this many characters in a narrow terminal.
    pub(crate) const fn cut_to(self, chars_min: usize) -> Self {
        Self { chars_min, ..self }
    }
}

impl From<&'static str> for Head {
    fn from(title: &'static str) -> Self {
        left(title)
    }
}

/// Formats rows as a table.
pub(crate) fn table<const COLUMNS: usize>(
    head: [impl Into<Head>; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> String {
    fitted(head, rows, None)
}

/// Formats rows as a table for a terminal of this width. If it is too narrow, cuts cells that may be cut, then hides columns
/// without evidence, then columns from the right, which a last line names.
pub(crate) fn fitted<const COLUMNS: usize>(
    head: [impl Into<Head>; COLUMNS],
    rows: &[[String; COLUMNS]],
    width_max: Option<usize>,
) -> String {
    let head = head.map(Into::into);
    let columns = head.iter().enumerate().map(|(number, head)| {
        let cells = rows.iter().filter_map(|row| row.get(number));
        Column::of(*head, cells)
    });
    let mut columns: Vec<Column> = columns.collect();
    let left_out = width_max.map(|width_max| fit(&mut columns, width_max)).unwrap_or_default();
    let line = |cells: &[String; COLUMNS]| {
        let shown = columns.iter().zip(cells).filter(|(column, _)| column.is_shown);
        let cells: Vec<String> = shown.map(|(column, cell)| column.padded(cell)).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    let mut text = line(&head.map(|head| head.title.to_owned()));
    text.extend(rows.iter().map(line));
    if !left_out.is_empty() {
        let _ = writeln!(text, "… too narrow for {}; --format json has all", left_out.join(", "));
    }
    text
}

/// Returns the width of the terminal, if standard output is one.
pub(crate) fn terminal_width() -> Option<usize> {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|width| *width > 0)
    }
    #[cfg(not(unix))]
    None
}

/// A column of a table.
struct Column {
    head: Head,
    width: usize,
    /// The width of its widest cell.
    width_max: usize,
    has_evidence: bool,
    is_shown: bool,
}

impl Column {
    fn of<'a>(head: Head, cells: impl Iterator<Item = &'a String> + Clone) -> Self {
        let widest = cells.clone().map(|cell| cell.chars().count()).max().unwrap_or_default();
        let width = widest.max(head.title.chars().count());
        let has_evidence = cells.into_iter().any(|cell| !cell.is_empty() && cell != NOTHING);
        Self { head, width, width_max: width, has_evidence, is_shown: true }
    }

    fn padded(&self, cell: &str) -> String {
        let width = self.width;
        let cut = if cell.chars().count() > width {
            cell.chars().take(width.saturating_sub(1)).chain(['…']).collect()
        } else {
            cell.to_owned()
        };
        if self.head.is_right { format!("{cut:>width$}") } else { format!("{cut:<width$}") }
    }
}

/// Returns the width of the shown columns, with two spaces between them.
fn width(columns: &[Column]) -> usize {
    let shown = columns.iter().filter(|column| column.is_shown);
    shown.map(|column| column.width + 2).sum::<usize>().saturating_sub(2)
}

/// Narrows and hides columns until they fit, but never hides the first one. Returns the titles of hidden columns with evidence.
fn fit(columns: &mut [Column], width_max: usize) -> Vec<&'static str> {
    for column in columns.iter_mut() {
        let title = column.head.title.chars().count();
        column.width = column.width_max.min(column.head.chars_min.max(title));
    }
    for keeps_evidence in [true, false] {
        while width(columns) > width_max {
            let mut others = columns.iter_mut().skip(1).rev();
            let Some(last) =
                others.find(|column| column.is_shown && !(keeps_evidence && column.has_evidence))
            else {
                break;
            };
            last.is_shown = false;
        }
    }
    // The remaining width goes to columns that were cut.
    let mut spare = width_max.saturating_sub(width(columns));
    for column in columns.iter_mut().filter(|column| column.is_shown) {
        let more = spare.min(column.width_max - column.width);
        column.width += more;
        spare -= more;
    }
    let hidden = columns.iter().filter(|column| column.has_evidence && !column.is_shown);
    hidden.map(|column| column.head.title).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<const COLUMNS: usize>(cells: [&str; COLUMNS]) -> [String; COLUMNS] {
        cells.map(str::to_owned)
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        assert_eq!(table(["ID", "N"], &[row(["é", "1"]), row(["abc", ""])]), "ID   N\né    1\nabc\n");
    }

    #[test]
    fn numbers_are_right_aligned() {
        let found = table([left("ID"), right("N")], &[row(["a", "1"]), row(["b", "100"])]);
        assert_eq!(found, "ID    N\na     1\nb   100\n");
    }

    #[test]
    fn a_narrow_terminal_hides_columns_and_names_them() {
        let head = [left("ID"), right("ONE"), right("TWO"), right("THREE")];
        let rows = [row(["abc", "1", NOTHING, "3"])];
        let found = |width| fitted(head, &rows, Some(width));
        assert_eq!(found(20), "ID   ONE  TWO  THREE\nabc    1    –      3\n");
        assert_eq!(
            found(19),
            "ID   ONE  THREE\nabc    1      3\n",
            "the column without evidence is hidden first"
        );
        assert_eq!(found(10), "ID   ONE\nabc    1\n… too narrow for THREE; --format json has all\n");
        assert!(found(1).starts_with("ID\nabc\n"));
    }

    #[test]
    fn cells_are_cut_before_a_column_is_hidden() {
        let head = [left("ID").cut_to(4), right("ONE"), right("TWO")];
        let rows = [row(["abcdefgh", "1", "2"])];
        let found = |width| fitted(head, &rows, Some(width));
        assert_eq!(found(18), "ID        ONE  TWO\nabcdefgh    1    2\n");
        assert_eq!(found(16), "ID      ONE  TWO\nabcde…    1    2\n");
        assert_eq!(found(13), "ID        ONE\nabcdefgh    1\n… too narrow for TWO; --format json has all\n");
    }
}
