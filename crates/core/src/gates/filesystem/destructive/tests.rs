//! Tests with a table of shell commands, and with texts that are hard to parse.

use core::time::Duration;
use std::cell::Cell;

use super::*;

/// One line of the table.
#[derive(serde::Deserialize)]
struct Row {
    text: String,
    key: Option<String>,
    strict: Vec<String>,
    balanced: Vec<String>,
}

fn names(text: &str, key: Option<&str>, balanced: bool, windows: bool) -> Result<Vec<String>, Trouble> {
    let clock = || Duration::ZERO;
    let deadline = Deadline::new(&clock, Duration::ZERO);
    let mut found = Findings::default();
    let roots = Roots::default();
    Search { roots: &roots, windows, balanced }.run(Text { text, key }, &mut found, &deadline)?;
    Ok(found.names().map(|names| names.split(", ").map(str::to_owned).collect()).unwrap_or_default())
}

#[test]
fn every_row_of_the_table_is_judged_as_expected() {
    let table = include_str!("../../../../tests/gates/shell.jsonl");
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in table.lines() {
        let row: Row = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        for (balanced, expected) in [(false, &row.strict), (true, &row.balanced)] {
            let found = names(&row.text, row.key.as_deref(), balanced, true).unwrap();
            if found != *expected {
                wrong.push(format!(
                    "balanced {balanced}: {:?}\n  found {found:?}, expected {expected:?}",
                    row.text
                ));
            }
        }
        rows += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows >= 150, "{rows} rows");
}

fn encoded(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let digit = |three: &[u8], index: usize| {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        char::from(DIGITS[usize::try_from(bits >> (18 - 6 * index) & 63).unwrap()])
    };
    bytes.chunks(3).flat_map(|three| (0..=three.len()).map(move |index| digit(three, index))).collect()
}

#[test]
fn nesting_has_a_limit() {
    let nested = |levels: usize| format!("{}rm -rf /{}", "$(".repeat(levels), ")".repeat(levels));
    let evals = |levels: usize| format!("{}rm -rf /", "eval ".repeat(levels));
    let quoted = |levels: usize| {
        (0..levels).fold("rm -rf /".to_owned(), |text, _| {
            format!("bash -c \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
        })
    };
    let coded = |levels: usize| {
        (0..levels).fold("rm -rf /".to_owned(), |text, _| format!("powershell -enc {}", encoded(&text)))
    };
    let found = Ok(vec!["rm-recursive-force".to_owned(), "rm-root".to_owned()]);
    for balanced in [false, true] {
        for text in [&nested as &dyn Fn(usize) -> String, &evals, &quoted] {
            assert_eq!(names(&text(8), None, balanced, true), found, "{}", text(8));
            assert_eq!(names(&text(9), None, balanced, true), Err(Trouble::TooDeep));
        }
        assert_eq!(names(&coded(4), None, balanced, true), found);
        assert_eq!(names(&format!("{}rm -rf /", "sudo ".repeat(100)), None, balanced, true), found);
        assert_eq!(names(&format!("{}rm -rf /", "( ".repeat(100)), None, balanced, true), found);
    }
    assert_eq!(names(&"$(".repeat(100_000), None, true, true), Ok(vec![]), "nothing in it is a name");
}

#[test]
fn windows_is_a_switch() {
    for text in ["del /s /q x", "format C:", "Remove-Item x -Recurse -Force", "rm -r C:\\"] {
        assert_eq!(names(text, None, false, false), Ok(vec![]), "{text}");
        assert!(!names(text, None, false, true).unwrap().is_empty(), "{text}");
    }
}

/// Texts that are hard to parse. Each is repeated.
const HARD: [&str; 26] = [
    "rm ",
    "rm -rf / ",
    "rm -- ",
    "rm\n",
    "sudo ",
    "sudo rm ",
    "eval rm ",
    "bash -o rm ",
    "bash -c rm ",
    "su rm ",
    "ssh rm ",
    "find rm -exec ",
    "find . | xargs rm | ",
    "rm | ",
    "$(rm ",
    "`rm ",
    "((rm ",
    "{rm,",
    "${rm ",
    "'\"'\"rm ",
    "\\rm\\",
    "r\"\"\"\"",
    "rm '",
    "rm \" $( ",
    "rm \\\n",
    ":(){ :|:& ",
];

#[test]
fn the_work_grows_with_the_text_and_no_faster() {
    let work = |text: &str, balanced: bool| {
        // The clock is checked once per stride of work.
        let looks = Cell::new(0_usize);
        let clock = || {
            looks.set(looks.get() + 1);
            Duration::ZERO
        };
        let deadline = Deadline::new(&clock, Duration::ZERO);
        let (roots, mut found) = (Roots::default(), Findings::default());
        let search = Search { roots: &roots, windows: true, balanced };
        let _ = search.run(Text { text, key: None }, &mut found, &deadline);
        looks.get()
    };
    for hard in HARD {
        // One repetition more or less decides whether quotes close.
        for (balanced, more) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
            let text = |bytes: usize| hard.repeat(bytes / hard.len() / 12 * 12 + more);
            let (small, large) = (work(&text(1 << 16), balanced), work(&text(1 << 18), balanced));
            assert!(large <= 5 * small + 8, "{hard:?}: {small}, then {large}");
            assert!(large <= 4 * 16 * 40, "{hard:?}: {large} strides for 256 KiB");
        }
    }
}

#[test]
fn a_text_cut_anywhere_does_not_panic() {
    let all: Vec<String> = HARD.iter().map(|hard| hard.repeat(3)).collect();
    let table = include_str!("../../../../tests/gates/shell.jsonl");
    let rows = table.lines().map(|line| serde_json::from_str::<Row>(line).unwrap().text);
    let odd =
        ["é'ü\"$'\\xé' rm -rf \\é", "rm -rf \u{a0}/", "PS é> rm", "rm $'\\u00e9\\", "${IFS", "rm >&", "rm <"];
    for text in all.into_iter().chain(rows).chain(odd.map(str::to_owned)) {
        for (at, _) in text.char_indices() {
            for balanced in [false, true] {
                let (head, tail) = text.split_at(at);
                let _ = names(head, None, balanced, true);
                let _ = names(tail, Some("command"), balanced, true);
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[rmfind\\-/ '\"`$(){}|;&<>\\\\\n#=a.é]{0,80}") {
        for balanced in [false, true] {
            let _ = names(&text, None, balanced, true);
            let _ = names(&format!("rm {text}"), Some("cmd"), balanced, true);
        }
    }

    /// Characters that a shell drops cannot hide a name.
    #[test]
    fn quotes_between_letters_hide_nothing(glue in proptest::collection::vec("(\\\\|''|\"\"|\\\\\n)?", 9)) {
        let plain = "rm -rf /x";
        let spelled: String = plain.chars().zip(glue.iter().chain([&String::new()])).map(|(char, glue)| {
            // An escaped blank is part of a word.
            if char == ' ' { char.to_string() } else { format!("{glue}{char}") }
        }).collect();
        for balanced in [false, true] {
            proptest::prop_assert_eq!(
                names(&spelled, None, balanced, true), Ok(vec!["rm-recursive-force".to_owned()]), "{}", spelled);
        }
    }
}
