//! A hit and a near miss for each rule. The keys are assembled at run time, so that nothing in this file looks like a
//! key.

use core::time::Duration;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::gates::settings::JudgedPart;

const ANY: &str = "aB3xK9mQ7tR2wZ5yH8nJ4pL6cV1dF0gS";
const UPPER: &str = "QX7RZ2KWMT5LHN3VJB6YPDCGFQX4RZ7K";
const HEX: &str = "3f9a1c7e5b2d8046af13ce975bd20684";

/// Repeats an alphabet to this many characters.
fn of(alphabet: &str, count: usize) -> String {
    alphabet.chars().cycle().take(count).collect()
}

/// Returns the name of each rule, a secret that it finds, and the same with one thing wrong.
fn table() -> Vec<(&'static str, String, String)> {
    let (any, hex) = (|count| of(ANY, count), |count| of(HEX, count));
    let upper = |count| of(UPPER, count);
    let simple = |name, start: &str, body: String| {
        let mut short = body.clone();
        short.pop();
        (name, format!("{start}{body}"), format!("{start}{short}"))
    };
    let base32 = |count| of("QX7RZ2KWMT5LHN3VJB6YPDCGF", count);
    let url = |user: &str, password: &str| format!("postgres://{user}:{password}@db1");
    let assigned = |name: &str, value: &str| format!("{name} = \"{value}\"");
    let pem = |kind: &str, body: String| format!("-----BEGIN {kind}-----\n{body}");
    vec![
        simple("aws-key-id", "AKIA", base32(16)),
        simple("google-api", "AIza", any(35)),
        simple("aws-secret", "aws_secret_access_key=", any(40)),
        simple("github", "ghp_", any(36)),
        (
            "github",
            format!("github_pat_{}_{}", any(22), any(59)),
            format!("github_pat_{}_{}", any(22), any(58)),
        ),
        ("slack", format!("xoxb-{}", any(10)), format!("xoxb-{}", any(9))),
        ("slack", format!("xapp-1-{}-12-{}", upper(9), hex(9)), format!("xapp-1-{}-12", upper(9))),
        simple("slack-webhook", "https://hooks.slack.com/services/", any(30)),
        simple("stripe", "sk_live_", any(16)),
        simple("stripe", "whsec_", any(32)),
        simple("renown", "rn_sec_", any(32)),
        ("openai", format!("sk-{}T3BlbkFJ{}", any(20), any(20)), format!("sk-{}T3BlbkF{}", any(20), any(20))),
        simple("anthropic", "sk-ant-api03-", any(80)),
        simple("google-oauth", "GOCSPX-", any(28)),
        simple("google-oauth", "ya29.", any(30)),
        (
            "gcp-account",
            format!("\"private_key_id\": \"{}\"", hex(40)),
            format!("\"private_key_id\": \"{}\"", hex(39)),
        ),
        simple("azure-client", "aB38Q~", any(31)),
        ("azure-storage", format!("AccountKey={}==", any(86)), format!("AccountKey={}=", any(86))),
        simple("age", "AGE-SECRET-KEY-1", of("QX7RZ2KWMT5LHN3VJ6YPDCGF", 58)),
        ("private-key", pem("RSA PRIVATE KEY", any(64)), pem("PUBLIC KEY", any(64))),
        ("private-key", pem("PGP PRIVATE KEY BLOCK", any(64)), pem("PRIVATE KEY", any(62))),
        (
            "jwt",
            format!("eyJ{0}.eyJ{0}.{1}", any(10), any(20)),
            format!("eyJ{0}.eyJ{0}.{1}", any(10), any(19)),
        ),
        simple("pypi", "pypi-AgE", any(50)),
        simple("npm", "npm_", any(36)),
        simple("gitlab", "glpat-", any(20)),
        simple("crates-io", "cio", any(32)),
        simple("rubygems", "rubygems_", hex(48)),
        simple("huggingface", "hf_", any(34)),
        simple("docker", "dckr_pat_", any(27)),
        ("sendgrid", format!("SG.{}.{}", any(22), any(43)), format!("SG.{}.{}", any(22), any(42))),
        simple("mailgun", "key-", hex(32)),
        ("mailchimp", format!("{}-us12", hex(32)), format!("{}-us12", hex(31))),
        simple("twilio", "SK", hex(32)),
        ("telegram", format!("12907456:AA{}", any(33)), format!("1290745:AA{}", any(33))),
        simple("vault", "hvs.", any(24)),
        (
            "discord-bot",
            format!("discord M{}.{}.{}", any(23), any(6), any(27)),
            format!("M{}.{}.{}", any(23), any(6), any(27)),
        ),
        simple("groq", "gsk_", any(52)),
        simple("discord-hook", "https://discord.com/api/webhooks/129074561290745612/", any(60)),
        simple("newrelic", "NRAK-", upper(27)),
        simple("digitalocean", "dop_v1_", hex(64)),
        simple("databricks", "dapi", hex(32)),
        simple("shopify", "shpat_", hex(32)),
        simple("atlassian", "ATATT3", any(100)),
        ("terraform", format!("{}.atlasv1.{}", any(14), any(60)), format!("{}.atlasv1.{}", any(14), any(59))),
        simple("linear", "lin_api_", any(40)),
        ("grafana", format!("glsa_{}_{}", any(32), hex(8)), format!("glsa_{}_{}", any(32), hex(7))),
        simple("grafana", "glc_", any(32)),
        simple("notion", "ntn_", any(40)),
        simple("sentry", "sntryu_", hex(64)),
        simple("sentry", "sntrys_eyJ", any(60)),
        ("url-password", url("admin", "tr0ub4dor&3"), url("admin", "troubadors-king")),
        ("assigned", assigned("client_secret", &any(16)), assigned("client_secret", &any(15))),
        ("assigned", assigned("PASSWORD", &any(16)), assigned("PASSWORD", "onlylowercaseletters")),
    ]
}

fn build(options: &Value) -> Result<Secrets, SettingsError> {
    let mut options = Options::new("gate.secrets".to_owned(), options.as_object().unwrap());
    let secrets = Secrets::build(&mut options)?;
    options.finish()?;
    Ok(secrets)
}

fn check(secrets: &Secrets, output: &Value) -> Finding {
    let clock = || Duration::ZERO;
    let deadline = Deadline::new(&clock, Duration::ZERO);
    let source = output.to_string();
    let view = View::read(&source, JudgedPart::Output, &deadline).unwrap();
    secrets.check(&view, &deadline).unwrap()
}

fn fails(what: &str) -> Finding {
    Finding::Fail(format!("secret in output: {what}"))
}

#[test]
fn every_rule_has_a_hit_and_a_near_miss() {
    let secrets = build(&json!({})).unwrap();
    for (name, hit, miss) in table() {
        let found = check(&secrets, &json!(format!("see {hit}\nthere")));
        assert_eq!(found, fails(&format!("{name} (1 finding)")), "{hit}");
        assert_eq!(check(&secrets, &json!({ "a": [hit.clone()] })), found, "{hit}");
        let near = check(&secrets, &json!(miss));
        assert!(!matches!(&near, Finding::Fail(reason) if reason.contains(name)), "{miss}: {near:?}");
    }
    for rule in &RULES {
        assert!(table().iter().any(|(name, ..)| *name == rule.name), "{} has no example", rule.name);
        assert!(rule.regex().is_some(), "{}", rule.name);
    }
}

/// Returns the text of each secret that is found.
fn spans(secrets: &Secrets, output: &Value) -> Vec<String> {
    let clock = || Duration::ZERO;
    let deadline = Deadline::new(&clock, Duration::ZERO);
    let source = output.to_string();
    let view = View::read(&source, JudgedPart::Output, &deadline).unwrap();
    let found = secrets.matches(&view, &deadline).unwrap();
    let text = |found: &Match| view.text(found.text).get(found.start..found.end).unwrap().to_owned();
    found.iter().map(text).collect()
}

#[test]
fn a_secret_glued_to_an_escape_is_found_without_the_escape() {
    let secrets = build(&json!({})).unwrap();
    let escapes = [
        "\u{1b}[01;31m",
        r"\e[01;31m",
        r"\033[1m",
        r"\x1b[0m",
        r"\u001b[32m",
        "^[[1m",
        r"\n",
        r"\t",
        r"\r",
        r"\\n",
        r"\x3d",
        r"\u003d",
        "%3D",
        "%3d",
        "%253D",
    ];
    for (name, hit, _) in table() {
        let alone = spans(&secrets, &json!(format!("see {hit} there")));
        for escape in escapes {
            let glued = json!(format!("see {escape}{hit} there"));
            assert_eq!(check(&secrets, &glued), fails(&format!("{name} (1 finding)")), "{glued}");
            assert_eq!(spans(&secrets, &glued), alone, "{glued}");
            // A secret in the middle of a word does not count.
            let word = json!(format!("see x{} there", hit));
            assert_eq!(
                spans(&secrets, &word),
                spans(&secrets, &json!(format!("see n{hit} there"))),
                "{word}"
            );
        }
    }
}

#[test]
fn text_after_a_secret_is_not_part_of_it() {
    let secrets = build(&json!({})).unwrap();
    for (name, hit, _) in table() {
        let alone = spans(&secrets, &json!(hit));
        assert!(!alone.is_empty(), "{name}");
        for after in ["\"", "\n", "\"\n", ",", ")", "\nthere."] {
            // Letters on the next line may continue a key.
            if name != "private-key" || !after.ends_with('.') {
                assert_eq!(
                    spans(&secrets, &json!(format!("{hit}{after}"))),
                    alone,
                    "{name} before {after:?}"
                );
            }
        }
    }
}

#[test]
fn members_of_objects_are_seen_with_their_keys() {
    let secrets = build(&json!({})).unwrap();
    let (any, hex) = (of(ANY, 20), of(HEX, 40));
    let aws = of(ANY, 40);
    for (key, value, name) in [
        ("password", &any, "assigned"),
        ("DB_PASSWD", &any, "assigned"),
        ("api_key", &any, "assigned"),
        ("clientSecret", &any, "assigned"),
        ("aws_secret_access_key", &aws, "aws-secret"),
        ("AWS Secret", &aws, "aws-secret"),
        ("private_key_id", &hex, "gcp-account"),
    ] {
        let object = json!({"id": "a", key: value, "note": "b"});
        for output in [object.clone(), json!([object]), json!({key: ["x", value]}), json!(object.to_string())]
        {
            assert_eq!(check(&secrets, &output), fails(&format!("{name} (1 finding)")), "{output}");
            assert!(spans(&secrets, &output).iter().all(|found| found == value), "{output}");
        }
    }
    for (key, value) in [
        ("passage", &any),
        ("name", &any),
        ("token_count", &any),
        ("password", &of(ANY, 15)),
        ("password", &format!("{any} {any}")),
        ("password", &"onlylowercaseletters".to_owned()),
        ("password_hint", &any),
        ("aws_region", &aws),
        ("private_key_id", &of(HEX, 39)),
    ] {
        assert_eq!(check(&secrets, &json!({ key: value })), Finding::Pass, "{key}: {value}");
    }
}

#[test]
fn the_text_around_a_secret_counts() {
    let secrets = build(&json!({})).unwrap();
    let token = format!("ghp_{}", of(ANY, 36));
    for text in [
        format!("x{token}"),
        format!("{token}_"),
        format!("ghp_{}", of("a", 36)),
        format!("ghp_{}example", of(ANY, 36)),
        format!("ghp_{}", of("ab", 36)),
        "aws-key-id AKIAIOSFODNN7EXAMPLE".to_owned(),
    ] {
        assert_eq!(check(&secrets, &json!(text)), Finding::Pass, "{text}");
    }
    // Unicode is off: a letter of another script is not part of a word.
    assert_eq!(check(&secrets, &json!(format!("é{token}é"))), fails("github (1 finding)"));
}

#[test]
fn the_first_rule_is_named_and_its_findings_are_counted() {
    let secrets = build(&json!({})).unwrap();
    let (github, slack) = (format!("ghp_{}", of(ANY, 36)), format!("xoxb-{}", of(ANY, 12)));
    assert_eq!(check(&secrets, &json!([slack, github, slack])), fails("github (1 finding)"));
    assert_eq!(
        check(&secrets, &json!({ &github: format!("{slack} {github}") })),
        fails("github (2 findings)")
    );
    assert_eq!(check(&secrets, &json!(format!("token: \"{github}\""))), fails("github (1 finding)"));
    let nested = json!({ "a": github, "b": json!([slack]).to_string() }).to_string();
    assert_eq!(
        check(&secrets, &json!({ "text": nested })),
        fails("github (1 finding)"),
        "seen twice, there once"
    );
    let google = format!("AIza{0} AIza{0}", of(ANY, 35));
    assert_eq!(check(&secrets, &json!(google)), fails("google-api (2 findings)"));
    let azure = format!(" aB38Q~{0} aB38Q~{0}", of(ANY, 32));
    assert_eq!(check(&secrets, &json!(azure)), fails("azure-client (2 findings)"));
    let discord = format!("M{}.{}.{}", of(ANY, 23), of(ANY, 6), of(ANY, 27));
    assert_eq!(check(&secrets, &json!({ "Discord": discord })), fails("discord-bot (1 finding)"));
}

#[test]
fn rules_can_be_disabled_and_added() {
    let (github, own) = (format!("ghp_{}", of(ANY, 36)), format!("acme-{}", of(ANY, 12)));
    let text = json!(format!("{github} {own}"));
    assert_eq!(check(&build(&json!({"disable": ["github"]})).unwrap(), &text), Finding::Pass);
    for extra in [
        json!({"name": "acme", "regex": r"\bacme-\w{12}\b", "keywords": ["ACME"], "entropy": 3.5}),
        json!({"name": "acme", "regex": r"\bacme-(\w{12})\b"}),
    ] {
        let secrets = build(&json!({"disable": ["github"], "extra": [extra]})).unwrap();
        assert_eq!(check(&secrets, &text), fails("acme (1 finding)"));
        assert_eq!(check(&secrets, &json!("acme-aaaaabbbbbcc")), Finding::Pass, "too little entropy");
    }
}

#[test]
fn invalid_rules_are_rejected() {
    let extra = |rule: Value| json!({"extra": [rule]});
    let rule = |regex: &str| extra(json!({"name": "a", "regex": regex}));
    for (options, expected) in [
        (
            json!({"disable": ["githob"]}),
            "gate.secrets.disable: \"githob\" is not a rule, expected one of aws-key-id, google-api",
        ),
        (json!({"extra": {}}), "gate.secrets.extra: {}, expected a list of at most 64 rules"),
        (json!({"extra": vec![json!({"name": "a", "regex": "a"}); 65]}), "gate.secrets.extra: "),
        (extra(json!({"regex": "a"})), "gate.secrets.extra.name: missing, expected a name"),
        (extra(json!({"name": "A b", "regex": "a"})), "gate.secrets.extra.name: \"A b\", expected a name"),
        (
            extra(json!({"name": "github", "regex": "a"})),
            "gate.secrets.extra: \"github\" is listed twice, expected each name once",
        ),
        (extra(json!({"name": "a"})), "gate.secrets.extra.regex: missing"),
        (rule("a("), "gate.secrets.extra.regex: regex parse error: unclosed group"),
        (rule("a*"), "gate.secrets.extra.regex: \"a*\", expected a regular expression"),
        (rule(&"a".repeat(1001)), "gate.secrets.extra.regex: \"aaa"),
        (rule(r"(?:[a-z]{1000}){1000}"), "gate.secrets.extra.regex: Compiled regex exceeds size limit"),
        (
            extra(json!({"name": "a", "regex": "a", "keywords": [""]})),
            "gate.secrets.extra.keywords: [\"\"], expected a list",
        ),
        (
            extra(json!({"name": "a", "regex": "a", "keywords": vec!["k"; 17]})),
            "gate.secrets.extra.keywords: \"k\", expected",
        ),
        (
            extra(json!({"name": "a", "regex": "a", "entropy": 9})),
            "gate.secrets.extra.entropy: 9, expected bits",
        ),
        (
            extra(json!({"name": "a", "regex": "a", "entropy": null})),
            "gate.secrets.extra.entropy: not a finite number, expected bits",
        ),
        (extra(json!({"name": "a", "regex": "a", "entopy": 1})), "gate.secrets.extra.entopy: unknown option"),
    ] {
        let error = build(&options).unwrap_err().to_string();
        assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
    }
    assert!(build(&rule(&"a".repeat(1000))).is_ok());
    assert!(build(&json!({"extra": (0..64).map(|n| json!({"name": format!("r{n}"), "regex": "a"})).collect::<Vec<_>>()})).is_ok());
}

#[test]
fn secrets_are_found_across_block_borders() {
    let secrets = build(&json!({})).unwrap();
    let jwt = format!("eyJ{}.eyJ{}.{}", of(ANY, 10), of(ANY, 3000), of(ANY, 20));
    for (name, secret) in [
        ("github", format!("ghp_{}", of(ANY, 36))),
        ("mailchimp", format!("{}-us1", of(HEX, 32))),
        ("jwt", jwt),
    ] {
        for before in (GATE_STRIDE_BYTES - 80..GATE_STRIDE_BYTES + 8).step_by(7) {
            let text = format!("{}{secret} {}", ". ".repeat(before / 2), "- ".repeat(GATE_STRIDE_BYTES));
            assert_eq!(check(&secrets, &json!(text)), fails(&format!("{name} (1 finding)")), "{before}");
        }
    }
}

/// Returns how many strides of a text a gate reads.
fn strides(secrets: &Secrets, text: &str) -> u64 {
    let looks = std::cell::Cell::new(0);
    let clock = || {
        looks.set(looks.get() + 1);
        Duration::ZERO
    };
    let deadline = Deadline::new(&clock, Duration::ZERO);
    let source = json!(text).to_string();
    let view = View::read(&source, JudgedPart::Output, &deadline).unwrap();
    let before = looks.get();
    secrets.check(&view, &deadline).unwrap();
    looks.get() - before
}

#[test]
fn twice_the_text_is_at_most_twice_the_work() {
    let secrets = build(&json!({})).unwrap();
    let jwt = format!("eyJ{0}.eyJ{0}.", of(ANY, 10));
    let key = format!("-----BEGIN PRIVATE KEY-----{} ", of(ANY, 64));
    for unit in [
        "x",
        "sk",
        "key-",
        "aws secret ",
        "://a:",
        "ghp_",
        "eyJ",
        "eyJaaaaaaaaaa.",
        "-----BEGIN ",
        &jwt,
        &key,
        "secret=\"aaaa",
    ] {
        let of = |bytes: usize| unit.repeat(bytes / unit.len());
        let (one, two) = (strides(&secrets, &of(1 << 20)), strides(&secrets, &of(2 << 20)));
        assert!(two <= 2 * one + 4, "{unit}: {one} and {two} strides");
        assert!(two < 400, "{unit}: {two} strides for 32");
    }
}

static WITH_EXTRA: LazyLock<Secrets> =
    LazyLock::new(|| build(&json!({"extra": [{"name": "own", "regex": "(é)|(x)"}]})).unwrap());

proptest! {
    #[test]
    fn no_text_panics(text in "(ghp_|sk-ant-|eyJ|://|:|@|\"|\\.|-|[a-zA-Z0-9é]{1,40}|\\n){0,40}") {
        check(&WITH_EXTRA, &json!(text));
    }

    #[test]
    fn no_shortened_example_panics(row in 0..53_usize, cut in 0..200_usize) {
        let table = table();
        let (_, hit, _) = table.get(row).unwrap_or(&table[0]);
        let text: String = hit.chars().take(cut).collect();
        check(&WITH_EXTRA, &json!(text));
    }
}
