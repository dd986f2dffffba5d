//! Version 6: what lists need of sessions.

/// The summary of each session in its row, and the traces that follow from its records. None of it is sealed: `verify` computes it again.
/// The rows that there are get their values from `summaries::fill`. `folded` is the last column, since it can be long and lists do not
/// read it.
pub(in super::super) const SIXTH_SESSIONS: &str = "
ALTER TABLE sessions ADD COLUMN cost_nano INTEGER;
ALTER TABLE sessions ADD COLUMN performance INTEGER;
ALTER TABLE sessions ADD COLUMN trace_count INTEGER;
ALTER TABLE sessions ADD COLUMN reliability INTEGER;
ALTER TABLE sessions ADD COLUMN reliability_traces INTEGER;
ALTER TABLE sessions ADD COLUMN flagged_traces INTEGER;
ALTER TABLE sessions ADD COLUMN consistency INTEGER;
ALTER TABLE sessions ADD COLUMN consistency_traces INTEGER;
ALTER TABLE sessions ADD COLUMN folded BLOB NOT NULL DEFAULT x'';
";
