//! Reads the file of `--stages`, if the command wrote it.
//!
//! The file is never changed. A file that is unchanged since the start of the command is ignored. Only a regular file of limited
//! size is read: a pipe could block the run forever.

use std::fmt::Display;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use renown_core::scorecard::RunOutcome;
use serde_json::Value;

use crate::failure;

/// Maximum length of the file. More than any list of stages needs.
const BYTES_MAX: u64 = 1024 * 1024;

/// Identity, modification time and size of a file. They stay the same if the file is not written.
type Stamp = (u64, u64, i64, i64, u64);

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.dev(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.size())
}

/// A file that the command may write.
pub(super) struct StagesFile<'a> {
    path: &'a Path,
    before: Option<Stamp>,
}

/// The content of the file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct StagesReport {
    pub(super) stages: Option<Value>,
    pub(super) outcome: Option<RunOutcome>,
}

impl<'a> StagesFile<'a> {
    /// Records the state of the file before the command starts.
    pub(super) fn before(path: &'a Path) -> Self {
        Self { path, before: fs::metadata(path).ok().as_ref().map(stamp) }
    }

    /// Reads what the command wrote. A problem is only a warning.
    pub(super) fn read(&self) -> StagesReport {
        self.written().and_then(|text| parse(&text, |problem| self.warn(problem))).unwrap_or_else(|problem| {
            self.warn(&problem);
            StagesReport::default()
        })
    }

    fn written(&self) -> Result<Vec<u8>, String> {
        let metadata = fs::metadata(self.path).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("not a file: the run has no stages".to_owned());
        }
        if self.before == Some(stamp(&metadata)) {
            return Err("the command did not write it: its stages do not count".to_owned());
        }
        if metadata.len() > BYTES_MAX {
            return Err(format!("{} bytes, expected at most {BYTES_MAX}", metadata.len()));
        }
        fs::read(self.path).map_err(|error| error.to_string())
    }

    fn warn(&self, problem: &dyn Display) {
        failure::warn(&format!("{}: {problem}", self.path.display()));
    }
}

/// Parses an array of stages, or an object with `stages` and optionally `outcome`.
fn parse(text: &[u8], warn: impl Fn(&dyn Display)) -> Result<StagesReport, String> {
    let mut whole: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let Some(fields) = whole.as_object_mut() else {
        return Ok(StagesReport { stages: Some(whole), outcome: None });
    };
    let (stages, outcome) = (fields.remove("stages"), fields.remove("outcome"));
    let known =
        outcome.as_ref().and_then(|text| RunOutcome::ALL.into_iter().find(|known| *text == known.name()));
    if let (Some(unknown), None) = (&outcome, known) {
        warn(&format_args!("outcome: {unknown}, expected completed, blocked or failed"));
    }
    Ok(StagesReport { stages, outcome: known })
}

/// Returns the outcome of a run: the one that the command reports, else by its exit code. A failed command cannot report success.
pub(super) fn outcome(has_succeeded: bool, reported: Option<RunOutcome>) -> RunOutcome {
    match (has_succeeded, reported) {
        (true, None) => RunOutcome::Completed,
        (false, Some(RunOutcome::Completed)) => {
            failure::warn("the command reported `completed`, but it failed: the run counts as failed");
            RunOutcome::Failed
        }
        (false, None) => RunOutcome::Failed,
        (_, Some(reported)) => reported,
    }
}

#[cfg(test)]
mod tests {
    use renown_testing::Scratch;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_file_is_read_only_if_the_command_wrote_it() {
        let scratch = Scratch::new();
        let path = scratch.join("stages.json");
        fs::write(&path, "[1]").unwrap();
        let file = StagesFile::before(&path);
        assert_eq!(file.read(), StagesReport::default(), "the file is unchanged");
        fs::write(&path, r#"{"stages":[{"name":"x","passed":true}],"outcome":"blocked"}"#).unwrap();
        let stages = Some(json!([{ "name": "x", "passed": true }]));
        assert_eq!(file.read(), StagesReport { stages, outcome: Some(RunOutcome::Blocked) });
        for (text, read) in [
            (r#"{"outcome":"weird"}"#, StagesReport::default()),
            ("[]", StagesReport { stages: Some(json!([])), outcome: None }),
            ("{", StagesReport::default()),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(file.read(), read, "{text}");
        }
        fs::write(&path, " ".repeat(2 << 20)).unwrap();
        assert_eq!(file.read(), StagesReport::default(), "too large");
        fs::remove_file(&path).unwrap();
        assert_eq!(file.read(), StagesReport::default(), "gone");
        fs::create_dir(&path).unwrap();
        assert_eq!(file.read(), StagesReport::default(), "a directory");
    }

    #[test]
    fn a_failed_command_cannot_report_success() {
        for (has_succeeded, reported, expected) in [
            (true, None, RunOutcome::Completed),
            (true, Some(RunOutcome::Blocked), RunOutcome::Blocked),
            (true, Some(RunOutcome::Completed), RunOutcome::Completed),
            (false, None, RunOutcome::Failed),
            (false, Some(RunOutcome::Blocked), RunOutcome::Blocked),
            (false, Some(RunOutcome::Completed), RunOutcome::Failed),
        ] {
            assert_eq!(outcome(has_succeeded, reported), expected, "{has_succeeded} {reported:?}");
        }
    }
}
