//! A stack of texts that still have to be read, in one buffer.

/// A stack of texts, each with its level.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    text: String,
    /// The start and the level of each text.
    starts: Vec<(u32, u32)>,
}

impl Waiting {
    pub(super) fn push(&mut self, text: &str, level: usize) {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.starts.push((narrow(self.text.len()), narrow(level)));
        self.text.push_str(text);
    }

    /// Removes the last text, and returns it with its level.
    pub(super) fn pop(&mut self) -> Option<(String, usize)> {
        let (start, level) = self.starts.pop()?;
        let wide = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let start = wide(start).min(self.text.len());
        // The only text needs no copy.
        let text = if start == 0 { std::mem::take(&mut self.text) } else { self.text.split_off(start) };
        Some((text, wide(level)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_text_comes_first() {
        let mut waiting = Waiting::default();
        waiting.push("a", 1);
        waiting.push("", 2);
        waiting.push("bé", 1);
        let next = |waiting: &mut Waiting| waiting.pop().map(|(text, level)| format!("{text}{level}"));
        assert_eq!(next(&mut waiting).as_deref(), Some("bé1"));
        waiting.push("c", 3);
        assert_eq!(next(&mut waiting).as_deref(), Some("c3"));
        assert_eq!(next(&mut waiting).as_deref(), Some("2"));
        assert_eq!(next(&mut waiting).as_deref(), Some("a1"));
        assert_eq!(waiting.pop(), None);
    }
}
