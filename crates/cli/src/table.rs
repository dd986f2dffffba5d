//! What is printed for people: counts with their nouns, small tables with columns as wide as they have to be.

/// A count and what is counted.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The rows under a head, in columns.
pub(crate) fn table<const COLUMNS: usize>(head: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let head = head.map(str::to_owned);
    let all = || std::iter::once(&head).chain(rows);
    let chars = |text: &String| text.chars().count();
    let widths: Vec<usize> = (0..COLUMNS)
        .map(|column| all().filter_map(|row| row.get(column)).map(chars).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in all() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        assert_eq!(table(["ID", "N"], &[row("é", "1"), row("abc", "")]), "ID   N\né    1\nabc\n");
    }
}
