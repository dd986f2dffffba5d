//! The snapshot of a session: its fold as bytes, so that a store can continue it.
//!
//! The fingerprints for deduplication are not part of it: the store deduplicates with a unique key.

use super::{Best, Session, Side, Sittings, TranscriptSide};
use crate::bytes::{Cursor, Read, Unreadable, Writer};
use crate::stored::{AGENTS, number_of};

/// Version of a session without a transcript.
const VERSION: u8 = 1;
/// Version of a session with a transcript, which comes after the rest.
const WITH_TRANSCRIPT: u8 = 2;

impl Session {
    /// Encodes the session as a snapshot.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Writer(vec![if self.transcript.is_some() { WITH_TRANSCRIPT } else { VERSION }]);
        best(&mut bytes, self.agent.as_ref(), |bytes, agent| bytes.0.push(number_of(&AGENTS, agent)));
        best(&mut bytes, self.agent_id.as_ref(), |bytes, text| bytes.text(text));
        best(&mut bytes, self.masque.as_ref(), |bytes, text| bytes.text(text));
        self.logs.write(&mut bytes);
        bytes.0.push(self.spans.is_some().into());
        if let Some(spans) = &self.spans {
            spans.write(&mut bytes);
        }
        if let Some(transcript) = &self.transcript {
            transcript.side.write(&mut bytes);
            transcript.sittings.write(&mut bytes);
        }
        bytes.0
    }

    /// Decodes a session snapshot. Returns `None` if the bytes are not a valid snapshot.
    pub fn from_bytes(id: &str, bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(bytes);
        let session = Self::read(id, &mut cursor).ok()?;
        cursor.0.is_empty().then_some(session)
    }

    fn read(id: &str, cursor: &mut Cursor<'_>) -> Read<Self> {
        let has_transcript = match cursor.byte()? {
            VERSION => false,
            WITH_TRANSCRIPT => true,
            _ => return Err(Unreadable),
        };
        let agent = cursor.optional(|cursor| read_best(cursor, |cursor| cursor.one_of(&AGENTS)))?;
        let text = |cursor: &mut Cursor<'_>| cursor.text().map(str::to_owned);
        let agent_id = cursor.optional(|cursor| read_best(cursor, text))?;
        let masque = cursor.optional(|cursor| read_best(cursor, text))?;
        let logs = Side::read(cursor)?;
        let spans = cursor.optional(Side::read)?.map(Box::new);
        let mut transcript = None;
        if has_transcript {
            let side = Side::read(cursor)?;
            transcript = Some(Box::new(TranscriptSide { side, sittings: Sittings::read(cursor)? }));
        }
        Ok(Self { agent, agent_id, masque, logs, spans, transcript, ..Self::new(id) })
    }
}

fn best<T>(bytes: &mut Writer, best: Option<&Best<T>>, write: impl FnOnce(&mut Writer, &T)) {
    bytes.0.push(best.is_some().into());
    if let Some(best) = best {
        bytes.0.push(best.rank);
        bytes.optional_time(best.at);
        write(bytes, &best.value);
    }
}

fn read_best<'a, T>(cursor: &mut Cursor<'a>, read: impl FnOnce(&mut Cursor<'a>) -> Read<T>) -> Read<Best<T>> {
    let (rank, at) = (cursor.byte()?, cursor.optional(Cursor::time)?);
    Ok(Best { rank, at, value: read(cursor)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Batch;
    use crate::json;
    use crate::ledger::{Ledger, TimeRange};
    use crate::prices::Prices;
    use crate::stored::{decode, encode};

    /// Logs and spans of one session, with every kind of fact.
    const LINE: &str = r#"{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"claude-code"}},
        {"key":"masque.name","value":{"stringValue":"Codesmith"}}]},"scopeLogs":[{"logRecords":[
        {"timeUnixNano":"1790000000000000001","eventName":"user_prompt","attributes":[{"key":"session.id","value":{"stringValue":"s"}}]},
        {"timeUnixNano":"1790000001000000000","eventName":"tool_result","attributes":[{"key":"session.id","value":{"stringValue":"s"}},
            {"key":"success","value":{"boolValue":true}},{"key":"tool_name","value":{"stringValue":"Edit"}}]},
        {"timeUnixNano":"1790000002000000000","eventName":"api_request","attributes":[{"key":"session.id","value":{"stringValue":"s"}},
            {"key":"input_tokens","value":{"intValue":"1000000000000000"}},{"key":"cost_usd","value":{"doubleValue":0.25}}]},
        {"timeUnixNano":"1790000003000000000","eventName":"feedback_survey","attributes":[{"key":"session.id","value":{"stringValue":"s"}},
            {"key":"event_type","value":{"stringValue":"responded"}},{"key":"survey_type","value":{"stringValue":"session"}},
            {"key":"response","value":{"stringValue":"bad"}}]},
        {"timeUnixNano":"0","eventName":"api_error","attributes":[{"key":"session.id","value":{"stringValue":"s"}}]}]}]}],
        "resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"07","spanId":"01","name":"chat m","startTimeUnixNano":"1790000000000000000",
            "endTimeUnixNano":"1790000009000000000","attributes":[{"key":"session.id","value":{"stringValue":"s"}}]}]}]}]}"#;

    #[test]
    fn a_session_that_continues_from_snapshots_equals_one_that_does_not() {
        let mut batch = Batch::default();
        json::read(LINE.as_bytes(), 1, &Prices::default(), &mut batch).unwrap();
        assert_eq!(batch.len(), 6);
        let mut ledger = Ledger::new(TimeRange::default());
        ledger.fold(&batch).unwrap();
        let expected = ledger.find("s").unwrap();
        let report = |session: &Session| serde_json::to_string(&session.report().unwrap()).unwrap();
        // A snapshot after every record; each record is encoded and decoded, too.
        let mut session = Session::new("s");
        for (origin, facts) in batch.records() {
            let bytes = encode(&origin, facts);
            let stored = decode("s", origin.repeat, &bytes).unwrap();
            session.add_record(&stored.origin, &stored.facts, |_| true);
            session = Session::from_bytes("s", &session.to_bytes()).unwrap();
        }
        assert_eq!(report(&session), report(expected));
        assert_eq!(session.to_bytes(), expected.to_bytes());
    }

    /// The largest sum is a varint of nineteen bytes, the largest count one of ten bytes.
    #[test]
    fn counts_at_their_maximum_saturate() {
        let (count, sum) = (Writer::of(u64::MAX.into()), Writer::of(u128::MAX));
        let usage = [vec![count.clone(); 4].concat(), vec![sum; 3].concat()].concat();
        let side = [vec![0, 0], vec![count; 11].concat(), usage.clone(), usage, vec![0]].concat();
        let full = [vec![VERSION, 0, 0, 0], side.clone(), vec![1], side].concat();
        let mut batch = Batch::default();
        json::read(LINE.as_bytes(), 1, &Prices::default(), &mut batch).unwrap();
        let mut session = Session::from_bytes("s", &full).unwrap();
        for (origin, facts) in batch.records() {
            session.add_record(&origin, &facts.collect::<Vec<_>>(), |_| true);
        }
        let stats = session.report().unwrap().performance.stats;
        assert_eq!((stats.total_tools, stats.prompts, stats.total_tokens), (u64::MAX, u64::MAX, u64::MAX));
    }

    #[test]
    fn invalid_snapshots_are_rejected() {
        let bytes = Session::new("s").to_bytes();
        assert!(Session::from_bytes("s", &bytes).is_some());
        for end in 0..bytes.len() {
            assert!(Session::from_bytes("s", bytes.split_at(end).0).is_none(), "cut at {end}");
        }
        for changed in [[&bytes[..], &[0]].concat(), [&[VERSION + 1], &bytes[1..]].concat()] {
            assert!(Session::from_bytes("s", &changed).is_none());
        }
    }
}
