//! Is only the intended text changed? Tables of the text before and after.

use super::*;

#[test]
fn new_settings_are_added_after_the_last_entry() {
    let settings = [("A", Value::from("1")), ("B", Value::from(true))];
    for (before, after) in [
        ("", "{\n  \"env\": {\n    \"A\": \"1\",\n    \"B\": true\n  }\n}\n"),
        (" \n", "{\n  \"env\": {\n    \"A\": \"1\",\n    \"B\": true\n  }\n}\n"),
        ("// mine\n", "// mine\n{\n  \"env\": {\n    \"A\": \"1\",\n    \"B\": true\n  }\n}\n"),
        ("{}", "{\n  \"env\": {\n    \"A\": \"1\",\n    \"B\": true\n  }\n}"),
        (
            "{\n\t\"z\": [1, 2],\n\t\"a\": {}\n}\n",
            "{\n\t\"z\": [1, 2],\n\t\"a\": {},\n\t\"env\": {\n\t\t\"A\": \"1\",\n\t\t\"B\": true\n\t}\n}\n",
        ),
        ("{\"z\": 1}", "{\"z\": 1, \"env\": {\n    \"A\": \"1\",\n    \"B\": true\n  }}"),
        ("{\"env\": {\"z\":0}}", "{\"env\": {\"z\":0, \"A\": \"1\", \"B\": true}}"),
        ("{\n  \"env\": {}\n}", "{\n  \"env\": {\n    \"A\": \"1\",\n    \"B\": true\n  }\n}"),
        ("{\n  \"env\": {\n  }\n}", "{\n  \"env\": {\n    \"A\": \"1\",\n    \"B\": true\n  }\n}"),
        (
            "{\r\n  \"env\": {\r\n    \"z\": 0\r\n  }\r\n}\r\n",
            "{\r\n  \"env\": {\r\n    \"z\": 0,\r\n    \"A\": \"1\",\r\n    \"B\": true\r\n  }\r\n}\r\n",
        ),
        (
            "{\n  \"env\": {\n    \"z\": 0 // last\n    /* end\n */\n  }\n}",
            "{\n  \"env\": {\n    \"z\": 0, // last\n    /* end\n */\n    \"A\": \"1\",\n    \"B\": true\n  }\n}",
        ),
        (
            "{ // top\n  \"env\": { // none yet\n  }\n}",
            "{ // top\n  \"env\": { // none yet\n    \"A\": \"1\",\n    \"B\": true\n  }\n}",
        ),
        (
            "{\n  \"env\": {\"z\": 0 // last\n}}",
            "{\n  \"env\": {\"z\": 0, // last\n    \"A\": \"1\",\n    \"B\": true\n}}",
        ),
    ] {
        let written = set(before, "env", &settings).unwrap();
        assert_eq!(written, after, "{before}");
        assert_eq!(set(&written, "env", &settings).unwrap(), after, "a second run changes nothing");
    }
}

#[test]
fn values_are_replaced_in_place() {
    let before = "\u{feff}{\"b\":\"// é \\\" no comment\",\n  \"env\" : { \"B\":[1,{\"A\":2}] , /* \"A\": 3 */\n \"A\" : \"old\", \"z\": 1e2 } }";
    let after = "\u{feff}{\"b\":\"// é \\\" no comment\",\n  \"env\" : { \"B\":true , /* \"A\": 3 */\n \"A\" : \"1\", \"z\": 1e2 } }";
    let settings = [("A", Value::from("1")), ("B", Value::from(true))];
    assert_eq!(set(before, "env", &settings).unwrap(), after);
    assert_eq!(set(before, "env", &[]).unwrap(), before);
}

#[test]
fn the_last_of_two_equal_keys_counts() {
    let before = "{\"env\":{\"A\":1},\"env\":{\"A\":2,\"A\":3}}";
    assert_eq!(section(before, "env").unwrap().get("A"), Some(&Value::from(3)));
    assert_eq!(
        set(before, "env", &[("A", Value::from(4))]).unwrap(),
        "{\"env\":{\"A\":1},\"env\":{\"A\":2,\"A\":4}}"
    );
}

#[test]
fn an_invalid_file_is_an_error_with_its_line() {
    for (text, line, problem) in [
        ("{", 1, "EOF while parsing an object"),
        ("{\n  \"a\": 1,\n}", 3, "trailing comma"),
        ("\n\n{\"a\": nope}", 3, "expected ident"),
        ("{}\n}", 2, "trailing characters"),
        ("[1]", 1, "invalid type: sequence, expected an object"),
        ("{\n\"env\":\n7}", 3, "env: invalid type: integer `7`, expected an object"),
        ("{\"env\": null}", 1, "env: invalid type: null, expected an object"),
        ("{ /* open\n\n", 1, "EOF while parsing an object"),
    ] {
        let expected = JsonError { line, problem: problem.to_owned() };
        assert_eq!(section(text, "env"), Err(expected), "{text}");
        assert!(set(text, "env", &[("A", Value::Null)]).is_err());
    }
}

#[test]
fn a_missing_section_is_empty() {
    for text in ["", "// nothing", "{}", "{\"other\": {\"A\": 1}}"] {
        assert_eq!(section(text, "env"), Ok(Section::default()), "{text}");
    }
}
