//! The file of `--stages`: what the command wrote, and nothing that was there before.
//!
//! The file is never touched. One that stands as it did before the command began says nothing about it, and only a regular file of a
//! reasonable size is read: a pipe would hold the run up for ever.

use std::fmt::Display;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use renown_core::scorecard::Outcome;
use serde_json::Value;

use crate::failure;

/// More than any list of stages needs.
const BYTES_MAX: u64 = 1024 * 1024;

/// Which file it is and when it changed: the same for one that nobody wrote.
type Stamp = (u64, u64, i64, i64, u64);

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.dev(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.size())
}

/// A file that the command may write.
pub(super) struct StagesFile<'a> {
    path: &'a Path,
    before: Option<Stamp>,
}

/// What the file says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) stages: Option<Value>,
    pub(super) outcome: Option<Outcome>,
}

impl<'a> StagesFile<'a> {
    /// The file as it is before the command.
    pub(super) fn before(path: &'a Path) -> Self {
        Self { path, before: fs::metadata(path).ok().as_ref().map(stamp) }
    }

    /// What the command wrote. What is wrong with it is told, and costs the run nothing else.
    pub(super) fn read(&self) -> Said {
        self.written().and_then(|text| said(&text, |problem| self.warn(problem))).unwrap_or_else(|problem| {
            self.warn(&problem);
            Said::default()
        })
    }

    fn written(&self) -> Result<Vec<u8>, String> {
        let metadata = fs::metadata(self.path).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("not a file, so there are no stages".to_owned());
        }
        if self.before == Some(stamp(&metadata)) {
            return Err("the command did not write it, so its stages do not count".to_owned());
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

/// An array of stages, or an object with them and perhaps an outcome.
fn said(text: &[u8], warn: impl Fn(&dyn Display)) -> Result<Said, String> {
    let mut whole: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let Some(fields) = whole.as_object_mut() else { return Ok(Said { stages: Some(whole), outcome: None }) };
    let (stages, outcome) = (fields.remove("stages"), fields.remove("outcome"));
    let known =
        outcome.as_ref().and_then(|said| Outcome::ALL.into_iter().find(|known| *said == known.name()));
    if let (Some(unknown), None) = (&outcome, known) {
        warn(&format_args!("outcome: {unknown}, expected completed, blocked or failed"));
    }
    Ok(Said { stages, outcome: known })
}

/// The outcome of a run: by the exit code of its command, or what that says of itself. One that failed cannot say that it completed.
pub(super) fn outcome(has_succeeded: bool, said: Option<Outcome>) -> Outcome {
    match (has_succeeded, said) {
        (true, None) => Outcome::Completed,
        (false, Some(Outcome::Completed)) => {
            failure::warn("the command says that it completed, but it failed: the run counts as failed");
            Outcome::Failed
        }
        (false, None) => Outcome::Failed,
        (_, Some(said)) => said,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_read_if_the_command_wrote_it() {
        let dir = std::env::temp_dir().join(format!("renown-stages-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("stages.json");
        fs::write(&path, "[1]").unwrap();
        let file = StagesFile::before(&path);
        assert_eq!(file.read(), Said::default(), "it is as it was");
        fs::write(&path, r#"{"stages":[{"name":"x","passed":true}],"outcome":"blocked"}"#).unwrap();
        let stages = Some(json!([{ "name": "x", "passed": true }]));
        assert_eq!(file.read(), Said { stages, outcome: Some(Outcome::Blocked) });
        for (text, read) in [
            (r#"{"outcome":"weird"}"#, Said::default()),
            ("[]", Said { stages: Some(json!([])), outcome: None }),
            ("{", Said::default()),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(file.read(), read, "{text}");
        }
        fs::write(&path, " ".repeat(2 << 20)).unwrap();
        assert_eq!(file.read(), Said::default(), "too large");
        fs::remove_file(&path).unwrap();
        assert_eq!(file.read(), Said::default(), "gone");
        fs::create_dir(&path).unwrap();
        assert_eq!(file.read(), Said::default(), "a directory");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_command_that_failed_cannot_say_that_it_completed() {
        for (has_succeeded, said, expected) in [
            (true, None, Outcome::Completed),
            (true, Some(Outcome::Blocked), Outcome::Blocked),
            (true, Some(Outcome::Completed), Outcome::Completed),
            (false, None, Outcome::Failed),
            (false, Some(Outcome::Blocked), Outcome::Blocked),
            (false, Some(Outcome::Completed), Outcome::Failed),
        ] {
            assert_eq!(outcome(has_succeeded, said), expected, "{has_succeeded} {said:?}");
        }
    }
}
