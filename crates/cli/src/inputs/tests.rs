//! Is every shape of stream split the same way, at whatever bytes its reads end?

use super::*;

/// A stream that returns at most this many bytes per read.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = self.1.min(buffer.len());
        (&mut self.0).take(wanted as u64).read(buffer)
    }
}

/// Returns the shape, the inputs as (line, column, text) and the end of the array. Checks that all sizes of reads agree.
fn cut(stream: &str, max: usize) -> (Shape, Vec<(usize, usize, String)>, Option<ArrayEnd>) {
    let cut_by = |step: usize| {
        let reader = io::BufReader::with_capacity(step, Trickle(stream.as_bytes(), step));
        let mut inputs = Inputs::with_limit(reader, max).unwrap();
        let mut found = Vec::new();
        while let Some(Input { position, text }) = inputs.next().unwrap() {
            let text = match text {
                Text::Whole(bytes) => String::from_utf8(bytes).unwrap(),
                Text::TooLong => "(too long)".to_owned(),
            };
            found.push((position.line, position.column, text));
        }
        (inputs.shape(), found, inputs.array_end())
    };
    let whole = cut_by(stream.len().max(1));
    for step in 1..stream.len() {
        assert_eq!(cut_by(step), whole, "{stream:?} by {step}");
    }
    whole
}

#[track_caller]
fn check(stream: &str, shape: Shape, expected: &[(usize, usize, &str)], end: Option<ArrayEnd>) {
    let (found_shape, found, found_end) = cut(stream, 1000);
    let found: Vec<_> = found.iter().map(|(line, column, text)| (*line, *column, text.as_str())).collect();
    assert_eq!((found_shape, found.as_slice(), found_end), (shape, expected, end), "{stream:?}");
}

#[test]
fn lines() {
    check("", Shape::Lines, &[], None);
    check(" \n\r\n", Shape::Lines, &[], None);
    check("{}", Shape::Lines, &[(1, 1, "{}")], None);
    check("{}\n{}\n", Shape::Lines, &[(1, 1, "{}"), (2, 1, "{}")], None);
    check("\u{feff}{}\r\n\n{} \n", Shape::Lines, &[(1, 1, "{}\r"), (3, 1, "{} ")], None);
    check("not json\n{}\n", Shape::Lines, &[(1, 1, "not json"), (2, 1, "{}")], None);
    check("{\"a\":\"}\\\"{\"}\n{}", Shape::Lines, &[(1, 1, "{\"a\":\"}\\\"{\"}"), (2, 1, "{}")], None);
}

#[test]
fn a_broken_line_does_not_swallow_the_others() {
    for broken in
        ["{\"a\":\"cut", "{\"a\":", "{\"a\":1", "{\"a\":[", "{\"a\":[1,", "}}}", "nonsense {", "\"", "{"]
    {
        let stream = format!("{broken}\n{{}}\n{{\"b\":2}}\n");
        check(&stream, Shape::Lines, &[(1, 1, broken), (2, 1, "{}"), (3, 1, "{\"b\":2}")], None);
    }
    check("{}\n{\"a\":[\n{}\n", Shape::Lines, &[(1, 1, "{}"), (2, 1, "{\"a\":["), (3, 1, "{}")], None);
}

#[test]
fn documents_over_several_lines() {
    check("{\n\"a\": 1\n}\n", Shape::Documents, &[(1, 1, "{\n\"a\": 1\n}")], None);
    check("\n\n{\n}\n\n{\n\n}", Shape::Documents, &[(3, 1, "{\n}"), (6, 1, "{\n\n}")], None);
    check("{\"a\":[\n{}\n]}", Shape::Documents, &[(1, 1, "{\"a\":[\n{}\n]}")], None);
    check("{\"a\":\n{}\n}\n{}", Shape::Documents, &[(1, 1, "{\"a\":\n{}\n}"), (4, 1, "{}")], None);
    check("{\n\"a\":\n", Shape::Documents, &[(1, 1, "{\n\"a\":")], None);
    check("{\n} x\n{}", Shape::Documents, &[(1, 1, "{\n} x"), (3, 1, "{}")], None);
}

#[test]
fn a_broken_document_does_not_swallow_the_others() {
    let good = "{\n\"b\":2\n}";
    for broken in ["{\n\"a\":1", "{\n\"a\":\"cut", "{\n\"a\":[1,2"] {
        let stream = format!("{good}\n{broken}\n{good}\n");
        check(&stream, Shape::Documents, &[(1, 1, good), (4, 1, broken), (6, 1, good)], None);
    }
}

#[test]
fn arrays() {
    let closed = Some(ArrayEnd::Closed);
    check("[]", Shape::Array, &[], closed);
    check(" [ ] \n", Shape::Array, &[], closed);
    check("[{},{}]", Shape::Array, &[(1, 2, "{}"), (1, 5, "{}")], closed);
    check("[\n  {\"a\":[1,2]},\n  7\n]\n", Shape::Array, &[(2, 3, "{\"a\":[1,2]}"), (3, 3, "7\n")], closed);
    check("[\"]\",\"\\\"],\"]", Shape::Array, &[(1, 2, "\"]\""), (1, 6, "\"\\\"],\"")], closed);
    check("[{},]", Shape::Array, &[(1, 2, "{}"), (1, 5, "")], closed);
    check("[,{}]", Shape::Array, &[(1, 2, ""), (1, 3, "{}")], closed);
    check("[", Shape::Array, &[], Some(ArrayEnd::Missing));
    check("[{}", Shape::Array, &[(1, 2, "{}")], Some(ArrayEnd::Missing));
    check("[{}] x", Shape::Array, &[(1, 2, "{}")], Some(ArrayEnd::Followed));
    check("[}},{}]", Shape::Array, &[(1, 2, "}}"), (1, 5, "{}")], closed);
}

#[test]
fn an_input_may_be_as_long_as_the_limit() {
    let texts = |stream: &str| cut(stream, 4).1.into_iter().map(|(_, _, text)| text).collect::<Vec<_>>();
    assert_eq!(texts("1234\n12345\n1\n"), ["1234", "(too long)", "1"]);
    assert_eq!(texts("12345"), ["(too long)"]);
    assert_eq!(texts("[1234,12345,1]"), ["1234", "(too long)", "1"]);
    assert_eq!(texts("{\n1}\n{\n12}\n{\n}"), ["{\n1}", "(too long)", "{\n}"]);
    assert_eq!(texts("{\n}\n{\n123456}\n{\n}"), ["{\n}", "(too long)", "{\n}"]);
}
