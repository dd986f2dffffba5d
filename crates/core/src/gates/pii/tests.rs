//! A hit and a near miss for each kind, and a comparison with the regular expressions of the table.

use core::time::Duration;

use proptest::prelude::*;
use regex::bytes::{Regex, RegexBuilder};

use super::*;
use crate::gates::JudgedPart;

fn found(text: &str, wanted: u8, balanced: bool) -> u8 {
    let clock = || Duration::ZERO;
    let mut found = 0;
    let pii = Pii { wanted, balanced };
    pii.search(Text { text, key: None }, &mut found, &Deadline::new(&clock, Duration::ZERO)).unwrap();
    found
}

#[track_caller]
fn check(kind: u8, balanced: bool, hits: &[&str], misses: &[&str]) {
    for text in hits {
        assert_eq!(found(text, u8::MAX, balanced) & kind, kind, "missed: {text}");
    }
    for text in misses {
        assert_eq!(found(text, u8::MAX, balanced) & kind, 0, "false positive: {text}");
    }
}

#[test]
fn email() {
    let persons = ["ada@lovelace.org", "to <a.b+c%d@x-y.co.uk>.", "a@b.cd", "x@@y.de z@y.de", "ü.a@b.com"];
    let non_personal = [
        "git@github.com:org/repo.git",
        "noreply@github.com",
        "1+ada@users.noreply.github.com",
        "no-reply@ci.org",
        "ada@example.com",
        "ada@mail.example.co",
        "ada@db.test",
    ];
    check(
        EMAIL,
        false,
        &persons,
        &["@ada", "ada@lovelace", "ada@b.c", "ada@.", "a @b.com", "@b.com", "a@b.1c"],
    );
    check(EMAIL, false, &non_personal, &[]);
    check(EMAIL, true, &persons, &non_personal);
    check(EMAIL, true, &["git@github.com", "ada@examples.com", "ada@latest.dev", "a@test.com"], &[]);
}

#[test]
fn us_ssn() {
    check(
        SSN,
        false,
        &["123-45-6789", "(899-99-9999)", "ssn:001-01-0001.", "é123-45-6789", "1-123-45-6789"],
        &[
            "000-45-6789",
            "666-45-6789",
            "900-45-6789",
            "999-45-6789",
            "123-00-6789",
            "123-45-0000",
            "1234-45-6789",
            "123-45-67890",
            "a123-45-6789",
            "123-45-6789_",
            "123-456-789",
            "123 45 6789",
        ],
    );
}

#[test]
fn us_phone() {
    check(
        PHONE,
        false,
        &[
            "212-555-0123",
            "(212) 555-0123",
            "+1 212.555.0123",
            "1-212-555-0123",
            "1212-555-0123",
            "+1(212) 555 0123",
            "a-212-555-0123.",
            "212\n555\t0123",
        ],
        &[
            "112-555-0123",
            "2125550123",
            "212-5550123",
            "212-555-01234",
            "a212-555-0123",
            "x1212-555-0123",
            "3212-555-0123",
            "212-555-012x",
            "12-555-0123",
        ],
    );
}

#[test]
fn card() {
    check(
        CARD,
        false,
        &[
            "4111111111111111",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "3782 822463 10005",
            "order 7 4111 1111 1111 1111 12/29",
            "pay with 378282246310005.",
            "5555555555554444,",
            "41 11 11 11 11 11 11 11",
            "30569309025904",
            "6011000990139424",
            "4222222222222",
            "card_4111111111111111",
        ],
        &[
            "4111111111111112",
            "4111-1111 1111-1111",
            "4111.1111.1111.1111",
            "x4111111111111111",
            "4111111111111111x",
            "-4111111111111111",
            "4111111111111111-1",
            "0.4111111111111111",
            "4111111111111111.5",
            "14111111111111111",
            "41111111111111110000",
            "é4111111111111111",
            "411111111111",
            "0000000000000000",
            "1111111111111117",
            "7 41 11 11 11 11 11 11 11 9",
        ],
    );
    check(CARD, true, &["visa 4111111111111111", "4111111111111111 is my Card", "4111 1111 1111 1111"], &[]);
    let after = |blanks: usize| format!("card{}4111111111111111", " ".repeat(blanks));
    check(CARD, true, &[&after(36)], &["id 4111111111111111", &after(37)]);
}

#[test]
fn iban() {
    check(
        IBAN,
        false,
        &[
            "GB82WEST12345698765432",
            "GB82 WEST 1234 5698 7654 32",
            "gb82west12345698765432",
            "iban:DE89370400440532013000.",
            "NO9386011117947",
            "MT84MALT011000012345MTLCAST001S",
        ],
        &[
            "GB83WEST12345698765432",
            "GB82WEST1234569876543",
            "GB82WEST123456987654321",
            "Gb82WEST12345698765432",
            "gb82WEST12345698765432",
            "XGB82WEST12345698765432",
            "ZZ82WEST12345698765432",
            "GB82 WEST1 2345 6987 6543 2",
            "GB82-WEST-1234-5698-7654-32",
        ],
    );
}

#[test]
fn ipv4() {
    check(
        IPV4,
        false,
        &["8.8.8.8", "(93.184.216.34)", "at 1.1.1.1.", "1.1.1.1:53", "192.0.1.1", "100.128.0.1"],
        &[
            "10.0.0.1",
            "127.0.0.1",
            "192.168.1.1",
            "172.16.0.1",
            "169.254.1.1",
            "100.64.0.1",
            "192.0.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "0.1.2.3",
            "8.8.8",
            "8.8.8.8.8",
            "8.8.8.256",
            "08.8.8.8",
            "v8.8.8.8",
        ],
    );
}

#[test]
fn kinds_are_named_in_order() {
    let clock = || Duration::ZERO;
    let deadline = Deadline::new(&clock, Duration::ZERO);
    let of = |text: &str, wanted| {
        let source = serde_json::json!({ "call": text }).to_string();
        let view = View::read(&source, JudgedPart::Output, &deadline).unwrap();
        Pii { wanted, balanced: false }.check(&view, &deadline).unwrap()
    };
    let fails = |reason: &str| Finding::Fail(reason.to_owned());
    let all = EMAIL | SSN | PHONE | CARD | IBAN;
    let text = "212-555-0123 or a@b.org";
    assert_eq!(of(text, all), fails("email address, us phone number detected in output"));
    assert_eq!(of(text, PHONE), fails("us phone number detected in output"));
    assert_eq!(of(text, all & !EMAIL & !PHONE), Finding::Pass);
}

/// Compiles an expression of the table, on bytes.
fn expression(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn email_matches_its_expression(text in "[a@.% -]{0,12}(a@a.a)?[ab@.1 é-]{0,12}") {
        let email = expression(r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}");
        prop_assert_eq!(found(&text, EMAIL, false) != 0, email.is_match(text.as_bytes()));
    }

    #[test]
    fn ssn_matches_its_expression(text in "[12a -]{0,3}[12]{2,4}[-2][12]{1,3}[-2][12]{3,5}[ _a2-]{0,3}") {
        let ssn = expression(r"\b\d{3}-\d{2}-\d{4}\b");
        prop_assert_eq!(found(&text, SSN, false) != 0, ssn.is_match(text.as_bytes()));
    }

    #[test]
    fn phone_matches_its_expression(text in "[1a +(_-]{0,3}[12]{2,4}[)]?[-. 2(][12]{3}[-. \n][12]{4}[ _a2.-]{0,3}") {
        let phone = expression(r"\b(?:\+?1[-.\s]?)?\(?[2-9]\d{2}\)?[-.\s]\d{3}[-.\s]\d{4}\b");
        prop_assert_eq!(found(&text, PHONE, false) != 0, phone.is_match(text.as_bytes()));
    }
}

#[test]
fn a_card_may_be_a_json_number_or_have_a_key_about_cards() {
    let clock = || Duration::ZERO;
    let deadline = Deadline::new(&clock, Duration::ZERO);
    let finding = Finding::Fail("payment card number detected in output".to_owned());
    for (output, strict, balanced) in [
        ("4111111111111111", true, false),
        (r#"{"n":4111111111111111}"#, true, false),
        (r#"{"card":4111111111111111}"#, true, true),
        (r#"{"card":"4111111111111111"}"#, true, true),
        (r#"{"creditCardNumber":["4111111111111111"]}"#, true, true),
        (r#"{"id":"4111111111111111"}"#, true, false),
        (r#"{"text":"{\"card\":4111111111111111}"}"#, true, true),
        (r#"{"card":4111111111111112}"#, false, false),
        (r#"{"card":-4111111111111111}"#, false, false),
        (r#"{"card":4111111111111111.5}"#, false, false),
        (r#"{"card":4111111111111111e2}"#, false, false),
    ] {
        let view = View::read(output, JudgedPart::Output, &deadline).unwrap();
        for (is_balanced, fails) in [(false, strict), (true, balanced)] {
            let pii = Pii { wanted: CARD, balanced: is_balanced };
            let expected = if fails { finding.clone() } else { Finding::Pass };
            assert_eq!(pii.check(&view, &deadline), Ok(expected), "{output}, balanced {is_balanced}");
        }
    }
}

#[test]
fn numbers_glued_to_an_escape_are_found() {
    for escape in [r"\n", r"\t", r"\x3d", r"\u003d", "%3D", "\u{1b}[01;31m", r"\e[0m"] {
        for (kind, number) in [
            (SSN, "123-45-6789"),
            (PHONE, "212-555-0123"),
            (CARD, "4111111111111111"),
            (CARD, "4111 1111 1111 1111"),
            (IBAN, "DE89370400440532013000"),
        ] {
            let text = format!("see {escape}{number} there");
            assert_eq!(found(&text, u8::MAX, false) & kind, kind, "{text:?}");
            let text = format!("see xn{number} there");
            assert_eq!(found(&text, u8::MAX, false) & kind, 0, "{text:?}");
        }
    }
}

#[test]
fn a_card_may_have_a_fraction_of_zeros() {
    check(
        CARD,
        false,
        &[
            "4929123456789015.0",
            "4929123456789015.00",
            "4929 1234 5678 9015.0,",
            "(4929123456789015.0)",
            "4929123456789015.0.",
        ],
        &[
            "4929123456789015.5",
            "4929123456789015.05",
            "4929123456789015.0.1",
            "4929123456789015.0a",
            "4929123456789015.0-1",
            "4929123456789015.000000000",
            "0.4929123456789015",
        ],
    );
    check(CARD, true, &["card 4929123456789015.0"], &["total 4929123456789015.0"]);
}
