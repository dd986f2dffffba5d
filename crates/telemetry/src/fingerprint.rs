//! The 64-bit fingerprint of a record or a trace.
//!
//! Each word goes through a mixer that is a bijection of 64 bits. So two records that differ in a single word never
//! collide; for other pairs the probability is that of a random 64-bit hash. There is no secret key: a record must
//! have the same fingerprint in every process. A sender who makes two of their own records collide only loses one of
//! them.

use renown_core::time::Timestamp;

use crate::facts::Fingerprint;

/// The kind of a fingerprint. It is part of the hash, so that equal words of two kinds have different fingerprints.
#[derive(Clone, Copy)]
enum Kind {
    Sequence = 1,
    Identifier = 2,
    Span = 3,
    Trace = 4,
    Transcript = 5,
}

struct Mixer(u64);

impl Mixer {
    fn new(kind: Kind) -> Self {
        Self(0).word(kind as u64)
    }

    fn word(mut self, word: u64) -> Self {
        let mut mixed = self.0 ^ word;
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            mixed ^= mixed >> 33;
            mixed = mixed.wrapping_mul(factor);
        }
        self.0 = mixed ^ (mixed >> 33);
        self
    }

    fn text(self, text: &str) -> Self {
        let mut mixer = self.word(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            mixer = mixer.word(u64::from_le_bytes(word));
        }
        mixer
    }

    fn time(self, time: Option<Timestamp>) -> Self {
        self.word(time.map_or(0, |time| time.nanos().cast_unsigned()))
    }

    fn finish(self) -> Fingerprint {
        Fingerprint::new(self.0).unwrap_or(Fingerprint::MIN)
    }
}

/// Returns the fingerprint of a log record with a sequence number. The time is part of it, because sequence numbers
/// restart with each process of the agent.
pub(crate) fn of_sequence(sequence: &str, time: Option<Timestamp>) -> Fingerprint {
    Mixer::new(Kind::Sequence).text(sequence).time(time).finish()
}

/// Returns the fingerprint of a log record that has the id of a call.
pub(crate) fn of_identifier(name: &str, time: Option<Timestamp>, identifier: &str) -> Fingerprint {
    Mixer::new(Kind::Identifier).text(name).time(time).text(identifier).finish()
}

/// Returns the fingerprint of a span.
pub(crate) fn of_span(trace_id: &str, span_id: &str) -> Fingerprint {
    Mixer::new(Kind::Span).text(trace_id).text(span_id).finish()
}

/// Returns the fingerprint of an OTLP trace.
pub(crate) fn of_trace(trace_id: &str) -> Fingerprint {
    Mixer::new(Kind::Trace).text(trace_id).finish()
}

/// Returns the fingerprint of something in a transcript, from the texts that identify it.
pub(crate) fn of_transcript(texts: &[&str]) -> Fingerprint {
    texts.iter().fold(Mixer::new(Kind::Transcript), |mixer, text| mixer.text(text)).finish()
}

/// Combines a fingerprint with numbers, for something that is identified by both.
pub(crate) fn with_numbers(fingerprint: Fingerprint, numbers: &[u64]) -> Fingerprint {
    let mixer = Mixer::new(Kind::Transcript).word(fingerprint.get());
    numbers.iter().fold(mixer, |mixer, number| mixer.word(*number)).finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn similar_records_do_not_collide() {
        let time = |nanos: i64| Timestamp::from_nanos(1_790_000_000_000_000_000 + nanos).ok();
        let mut seen = BTreeSet::new();
        for sequence in 0..300_u32 {
            for nanos in 0..300 {
                assert!(seen.insert(of_sequence(&sequence.to_string(), time(nanos))));
            }
            assert!(seen.insert(of_identifier("tool_result", None, &sequence.to_string())));
            assert!(seen.insert(of_identifier("tool_resul", None, &format!("t{sequence}"))));
            assert!(seen.insert(of_span("a", &sequence.to_string())));
            assert!(seen.insert(of_trace(&sequence.to_string())));
        }
        assert_eq!(of_sequence("7", time(1)), of_sequence("7", time(1)));
    }
}
