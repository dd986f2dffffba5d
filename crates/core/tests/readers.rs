//! Can any input make a parser panic, or make a score and its explanation disagree about what is invalid?

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use renown_core::ids::{AgentId, OrgId, SessionId};
use renown_core::kind::ScoreKind;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2048, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_damaged_input_makes_a_parser_panic(
        (kind, good) in select(EXAMPLES.to_vec()), damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(), whole in any::<bool>(),
    ) {
        let mut bytes = good.as_bytes().to_vec();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        prop_assert_eq!(kind.score(&bytes).is_ok(), kind.explain(&bytes).is_ok());
    }

    #[test]
    fn no_value_at_any_position_makes_a_parser_panic(
        (kind, good) in select(EXAMPLES.to_vec()),
        place in any::<prop::sample::Index>(),
        value in select(vec!["1e999", "-1", "[[[[]]]]", "{\"a\":{}}", "\"\\ud800\"", "null", "9223372036854775808", "[{}]", "0.1", "true"]),
    ) {
        // Every value of the example follows a colon.
        let (colons, _): (Vec<usize>, Vec<char>) = good.char_indices().filter(|&(_, char)| char == ':').unzip();
        let (before, after) = good.split_at(colons[place.index(colons.len())] + 1);
        let rest = after.trim_start_matches(|char| !matches!(char, ',' | '}'));
        let text = format!("{before}{value}{rest}");
        prop_assert_eq!(kind.score(text.as_bytes()).is_ok(), kind.explain(text.as_bytes()).is_ok());
    }

    #[test]
    fn ids_are_kept_as_sent(text in "\\PC{1,60}") {
        prop_assume!(text != "." && text != "..");
        let agent: AgentId = text.parse().unwrap();
        prop_assert_eq!(agent.as_str(), text.as_str());
        let session: SessionId = text.parse().unwrap();
        prop_assert_eq!(session.as_str(), text.as_str());
        prop_assert_eq!(text.parse::<OrgId>().is_ok(), text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-')));
    }
}

const EXAMPLES: [(ScoreKind, &str); 5] = [
    (ScoreKind::Reputation, r#"{"evaluations":[{"passed":true,"latency_ms":12.5},{"passed":false}]}"#),
    (
        ScoreKind::Performance,
        r#"{"started_at":1794744000000,"ended_at":1794744900000,"prompts":12,"total_tools":87,"tools_ok":80,"total_cost":0.34,"total_tokens":142000,"cache_tokens":98000}"#,
    ),
    (
        ScoreKind::Run,
        r#"{"outcome":"completed","stages":[{"name":"lint","passed":true,"attempts":2}],"wall_ms":61000,"baseline_wall_ms":[58000],"resources":{"memory_peak_bytes":1,"memory_limit_bytes":2,"cpu_periods":3,"cpu_throttled_periods":1,"cpu_throttled_ms":5}}"#,
    ),
    (
        ScoreKind::Session,
        r#"{"traces":[{"trace_id":"a","signals":{"confidence":0.9,"coherence":0.5}},{"trace_id":"b","signals":{"tool_correctness":0.3}}],"signal_weights":{"confidence":2}}"#,
    ),
    (
        ScoreKind::Identity,
        r#"{"as_of":1794744000000,"events":[{"event_id":"6f2a0a3e-0d67-4d0e-9c55-2c1b7e0d0001","timestamp":1794743000000,"category":"economic","event_type":"paid","score_delta":0.25,"confidence":0.5}]}"#,
    ),
];
