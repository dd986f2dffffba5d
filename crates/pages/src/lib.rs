//! The web pages: view models in, HTML and SVG out.
//!
//! ```text
//! views (renown-view) ──►  one module per page: what to say, in words and numbers  ──►  templates/*.html  ──►  HTML
//!                          svg: charts as paths         text: numbers, times, ages
//! ```
//!
//! A page module holds what its page says: sentences, which rows, which marks. Its template in `templates/` holds where it
//! stands. All text goes through askama, which escapes it; what a template marks `safe` is made of digits by [`svg`], or
//! escaped by [`text::code`].
//!
//! - **Complete without the script.** The script ([`assets::JS`]) writes times in the reader's zone, shows tips, and fetches
//!   the page again when the stream says that something changed. Parts named `data-live` are then put in place.
//! - **No inline script or style**, so that the strictest content security policy holds: sizes are SVG attributes.
//! - **A number never stands alone**: beside it is its range, a verdict word or a threshold. What is absent is a dash, never 0.
//! - **Below 50 evaluations no score is shown**, only how far an agent is.
//!
//! What is deliberately absent: HTTP, reading a store, and a clock. The time is part of the [`Shell`].

pub mod agent;
pub mod assets;
pub mod attention;
pub mod badge;
pub mod evaluations;
pub mod keys;
pub mod lists;
pub mod login;
pub mod notice;
pub mod overview;
pub mod reference;
pub mod run;
pub mod runs;
pub mod session;
pub mod sessions;
pub mod settings;
pub mod specs;
pub mod svg;
#[cfg(test)]
mod testing;
pub mod text;
pub mod units;

use renown_core::time::Timestamp;

/// What every page has around its own content.
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    /// Where the page belongs.
    pub section: Section,
    /// Whether the data is made up.
    pub demo: bool,
    /// Who looks at it; `None` on pages for everybody.
    pub member: Option<Member<'a>>,
    /// The time that ages are counted from.
    pub now: Timestamp,
    /// Whether the page is a file of its own: its style is in it, and nothing else is loaded.
    pub standalone: bool,
    /// Where this server is, as its reader wrote it: `http://127.0.0.1:7070`.
    pub origin: &'a str,
}

impl Shell<'_> {
    /// The shell of a page for everybody, without a time.
    pub fn bare(section: Section) -> Self {
        Self { section, demo: false, member: None, now: Timestamp::MIN, standalone: false, origin: "" }
    }
}

/// Somebody who is logged in.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Whether keys, settings and what is public may be changed.
    pub administers: bool,
    /// The token that forms send back, so that no other site can send them.
    pub csrf: &'a str,
}

impl Member<'_> {
    /// The pages that this member can open.
    pub fn sections(&self) -> &'static [Section] {
        use Section::{Api, Evaluations, Keys, Overview, Runs, Sessions, Settings, Specs};
        if self.administers {
            &[Overview, Sessions, Runs, Specs, Evaluations, Keys, Settings, Api]
        } else {
            &[Overview, Sessions, Runs, Specs, Evaluations, Api]
        }
    }
}

/// A group of pages, as the bar on top names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The overview and the agents.
    Overview,
    /// Sessions.
    Sessions,
    /// Runs.
    Runs,
    /// Specs, on which agents compete.
    Specs,
    /// Evaluations.
    Evaluations,
    /// API keys.
    Keys,
    /// Settings.
    Settings,
    /// The reference of the API.
    Api,
    /// A page beside them, such as the login.
    Other,
}

impl Section {
    /// What the bar on top says.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Sessions => "Sessions",
            Self::Runs => "Runs",
            Self::Specs => "Competitions",
            Self::Evaluations => "Evaluations",
            Self::Keys => "Keys",
            Self::Settings => "Settings",
            Self::Api => "API",
            Self::Other => "",
        }
    }

    /// Where its first page is.
    pub fn path(self) -> &'static str {
        match self {
            Self::Overview | Self::Other => "/",
            Self::Sessions => "/sessions",
            Self::Runs => "/runs",
            Self::Specs => "/specs",
            Self::Evaluations => "/evaluations",
            Self::Keys => "/keys",
            Self::Settings => "/settings",
            Self::Api => "/docs",
        }
    }
}
