//! Whole conversations, cut anywhere: the effects do not depend on how the bytes arrive.

#![expect(clippy::unwrap_used, reason = "a broken test fails loudly")]

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use renown_core::gates::{Choice, Engine, GateSettings, JudgedPart, Place};
use renown_proxy::{Build, Engines, Forward, Frame, Frames, Host, PinMode, Pins, Policy, ProxySession};

/// A clock that does not advance, and consecutive numbers.
#[derive(Default)]
struct TestHost(Cell<u64>);

impl Host for TestHost {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn wall_millis(&self) -> u64 {
        1_700_000_000_000
    }

    fn random(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

fn build() -> Build {
    Arc::new(|roots| {
        let engine = |part, gates: &[&str]| {
            let gates: Vec<String> = gates.iter().map(|gate| (*gate).to_owned()).collect();
            let choice = Choice { part, roots, gates: Some(&gates), ..Choice::of(Place::Proxy) };
            Engine::new(&GateSettings::default(), &choice, &mut |file| Err(file.to_owned())).ok()
        };
        Some(Arc::new(Engines {
            after: engine(JudgedPart::Output, &["pii", "content"])?,
            before: Some(engine(JudgedPart::Arguments, &["pii"])?),
            definitions: Some(engine(JudgedPart::Output, &["injection"])?),
        }))
    })
}

fn session(build: Build) -> ProxySession {
    let (server, pin) = ("s".to_owned(), PinMode::Block);
    let (logged, ungated) = (Vec::new(), Vec::new());
    let policy = Policy { server, agent: None, observe: false, pin, logged, ungated };
    ProxySession::new(Arc::new(policy), build, Arc::new(Mutex::new(Pins::new("s".to_owned())))).unwrap()
}

/// The bytes that one side sends before the other side sends again.
#[derive(Clone, Debug)]
struct Turn {
    from_client: bool,
    bytes: Vec<u8>,
}

/// The bytes that reach each side, and all records and warnings.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    client: Vec<u8>,
    server: Vec<u8>,
    reported: Vec<String>,
}

/// Carries a conversation whose bytes arrive in pieces. The lengths are repeated in a cycle. `bytes_max` is the maximum length of messages.
fn carry(turns: &[Turn], lengths: &[usize], bytes_max: usize, build: &Build) -> Outcome {
    let (host, mut session, mut outcome) =
        (TestHost::default(), session(Arc::clone(build)), Outcome::default());
    let (mut client, mut server) = (Frames::new(bytes_max), Frames::new(bytes_max));
    let mut lengths = lengths.iter().copied().cycle();
    for Turn { from_client, bytes } in turns {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(lengths.next().unwrap().clamp(1, rest.len()));
            let frames = if *from_client { &mut client } else { &mut server };
            frames.push(piece, |frame| handle(&mut session, &host, *from_client, &frame, &mut outcome));
            rest = after;
        }
    }
    for (frames, from_client) in [(client, true), (server, false)] {
        frames.finish(|frame| handle(&mut session, &host, from_client, &frame, &mut outcome));
    }
    let lost = session.lost(&host);
    outcome.reported.extend(lost.iter().map(|record| serde_json::to_string(record).unwrap()));
    outcome
}

fn handle(
    session: &mut ProxySession,
    host: &TestHost,
    from_client: bool,
    frame: &Frame<'_>,
    outcome: &mut Outcome,
) {
    let effects = match (from_client, frame) {
        (true, Frame::Message(bytes)) => session.from_client(bytes, host),
        (false, Frame::Message(bytes)) => session.from_server(bytes, host),
        (true, Frame::TooLarge(message)) => session.oversized_from_client(message),
        (false, Frame::TooLarge(message)) => session.oversized_from_server(message, host),
    };
    outcome.client.extend(effects.to_client.concat());
    outcome.server.extend(effects.to_server.concat());
    outcome.reported.extend(effects.records.iter().map(|record| serde_json::to_string(record).unwrap()));
    outcome.reported.extend(effects.warnings);
    outcome.reported.extend(effects.malformed);
    let to = if from_client { &mut outcome.server } else { &mut outcome.client };
    match (effects.forward, frame) {
        (Forward::AsIs, Frame::Message(bytes)) => to.extend(*bytes),
        (Forward::Changed(bytes), _) => to.extend(bytes),
        (Forward::Nothing, _) | (Forward::AsIs, Frame::TooLarge(_)) => {}
    }
}

/// Generates lines with few different ids, so that calls and answers match.
fn line() -> impl Strategy<Value = Turn> {
    let id = prop::sample::select(vec!["1", "2", "\"1\"", "1.0", "\"é\"", "null"]);
    let text = prop::sample::select(vec!["fine", "a@corporation.org", "日本 \\ud83d\\ude00", "\\ud800", ""]);
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (id, text, end, 0..9_usize, any::<bool>()).prop_map(|(id, text, end, shape, flip)| {
        let call = format!(
            r#"{{"id":{id},"method":"tools/call","params":{{"name":"t","arguments":{{"x":"{text}"}}}}}}"#
        );
        let result = format!(r#"{{"id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#);
        let tools = format!(r#"{{"id":{id},"result":{{"tools":[{{"name":"{text}"}}]}}}}"#);
        let (from_client, body) = match shape {
            0 | 1 => (true, call),
            2 | 3 => (false, result),
            4 => (true, format!("[{call},{{\"method\":\"n\"}}]")),
            5 => (false, format!("[{result}, {result}]")),
            6 => (true, format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)),
            7 => (flip, format!("no json {text}")),
            _ => (flip, tools),
        };
        Turn { from_client, bytes: (body + end).into_bytes() }
    })
}

fn conversation() -> impl Strategy<Value = Vec<Turn>> {
    let noise = (any::<bool>(), prop::collection::vec(any::<u8>(), 0..40))
        .prop_map(|(from_client, bytes)| Turn { from_client, bytes });
    prop::collection::vec(prop_oneof![12 => line(), 1 => noise], 0..24)
}

#[test]
fn the_outcome_does_not_depend_on_how_bytes_arrive() {
    let build = build();
    let lengths = prop::collection::vec(1..50_usize, 1..8);
    proptest!(ProptestConfig::with_cases(256), |(turns in conversation(), lengths in lengths)| {
        for bytes_max in [96, 1 << 20] {
            let whole = carry(&turns, &[usize::MAX], bytes_max, &build);
            prop_assert_eq!(carry(&turns, &lengths, bytes_max, &build), whole);
        }
    });
}

#[test]
fn without_reports_all_bytes_pass_unchanged() {
    let build = build();
    proptest!(ProptestConfig::with_cases(256), |(turns in conversation())| {
        let outcome = carry(&turns, &[7], 1 << 20, &build);
        if outcome.reported.is_empty() {
            for (from_client, arrived) in [(true, outcome.server), (false, outcome.client)] {
                let sent = turns.iter().filter(|turn| turn.from_client == from_client);
                let sent: Vec<u8> = sent.flat_map(|turn| turn.bytes.clone()).collect();
                prop_assert_eq!(arrived, sent);
            }
        }
    });
}

#[test]
fn one_conversation_cut_at_every_byte() {
    let turn = |from_client, text: &str| Turn { from_client, bytes: text.as_bytes().to_vec() };
    let turns = [
        turn(true, "{\"id\":0,\"method\":\"initialize\",\"params\":{\"clientInfo\":{\"name\":\"é\"}}}\r\n"),
        turn(false, "hello, I am a server\n{\"id\":0,\"result\":{}}\n"),
        turn(true, "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}\n"),
        turn(
            true,
            "{\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"to\":\"a@corporation.org\"}}}\n",
        ),
        turn(
            false,
            "{\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"b@corporation.org 日本\"}]}}\r\n{\"id\":1,\"cut",
        ),
    ];
    let build = build();
    let whole = carry(&turns, &[usize::MAX], 1 << 20, &build);
    // Two records; the banner and the half message are dropped, and each is reported.
    assert_eq!(whole.reported.len(), 4, "{whole:?}");
    let client = String::from_utf8(whole.client.clone()).unwrap();
    assert!(client.contains("pre.pii") && client.ends_with("}}\r\n"), "{client}");
    assert!(!client.contains("b@corporation"), "{client}");
    let length = turns.iter().map(|turn| turn.bytes.len()).max().unwrap();
    for first in 1..length {
        assert_eq!(carry(&turns, &[first, usize::MAX], 1 << 20, &build), whole, "cut at {first}");
    }
}
