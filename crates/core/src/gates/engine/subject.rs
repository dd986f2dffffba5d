//! The state of a running evaluation.

use std::cell::{OnceCell, RefCell};

use super::Context;
use crate::gates::redact::{Match, Redaction};
use crate::gates::rtb::Auction;
use crate::gates::scan::{Deadline, TimedOut};
use crate::gates::settings::JudgedPart;
use crate::gates::text::{Unseen, View};
use crate::gates::verdict::Finding;
use crate::limits::GATE_FINDINGS_MAX;

/// A running evaluation: the context, and the texts, which are read when the first gate asks for them.
pub(super) struct Subject<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) part: JudgedPart,
    view: OnceCell<Result<View<'a>, Unseen>>,
    auction: OnceCell<Result<Auction, String>>,
    redaction: RefCell<Redaction>,
    /// The reason of the last gate, if it redacted something.
    redacted: RefCell<Option<String>>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(context: &'a Context<'a>, part: JudgedPart) -> Self {
        Self {
            context,
            part,
            view: OnceCell::new(),
            auction: OnceCell::new(),
            redaction: RefCell::default(),
            redacted: RefCell::default(),
        }
    }

    /// Takes the reason of the last gate, if it redacted something.
    pub(super) fn take_redacted(&self) -> Option<String> {
        self.redacted.take()
    }

    /// Returns the redacted output, if any gate redacted something.
    pub(super) fn into_redacted(self) -> Option<String> {
        self.redaction.into_inner().apply(self.context.output.get())
    }

    pub(super) fn view(&self, deadline: &Deadline<'_>) -> Result<&View<'a>, Unseen> {
        let view = self.view.get_or_init(|| View::read(self.context.output.get(), self.part, deadline));
        view.as_ref().map_err(|unseen| *unseen)
    }

    /// Stores the matches of a gate for the redacted output.
    pub(super) fn redact(
        &self,
        view: &View<'_>,
        found: Vec<Match>,
        label: &dyn Fn(usize) -> String,
        deadline: &Deadline<'_>,
    ) -> Result<Finding, TimedOut> {
        if found.len() > GATE_FINDINGS_MAX {
            return Ok(Finding::Fail(format!("more than {GATE_FINDINGS_MAX} findings to redact")));
        }
        let reason = self.redaction.borrow_mut().add(view, found, label, deadline)?;
        *self.redacted.borrow_mut() = reason;
        Ok(Finding::Pass)
    }

    /// Returns the bid request and response, or why they cannot be read.
    pub(super) fn auction(&self, deadline: &Deadline<'_>) -> Result<&Result<Auction, String>, TimedOut> {
        if let Some(auction) = self.auction.get() {
            return Ok(auction);
        }
        let auction = Auction::read(self.context, deadline)?;
        Ok(self.auction.get_or_init(|| auction))
    }
}
