//! The web pages: view models in, HTML and SVG out.
//!
//! ```text
//! views (renown-view) ──►  one module per page: words and numbers  ──►  templates/*.html  ──►  HTML
//!                          svg: charts as paths         text: numbers, times, ages
//! ```
//!
//! A page module decides the content of its page: sentences, rows, marks. Its template in `templates/` decides the
//! layout. askama escapes all text. What a template marks as `safe` consists of digits from [`svg`], or is escaped by
//! [`text::code`].
//!
//! - **Complete without the script.** The script ([`assets::JS`]) converts times to the reader's time zone, shows tips, and
//! - **No inline script or style**, so that the strictest content security policy works: sizes are SVG attributes.
//! - **Every number has a context**: its range, a verdict word or a threshold. An absent value is a dash, never 0.
//! - **Below 50 evaluations no score is shown**, only the progress of the agent.
//!
//! Deliberately absent: HTTP, access to a store, and a clock. The time is part of the [`Shell`].

pub mod agent;
pub mod assets;
pub mod attention;
pub mod badge;
pub mod evals;
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

/// The frame of a page: everything around its own content.
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    /// Section that the page belongs to.
    pub section: Section,
    /// Whether the server shows demo data.
    pub demo: bool,
    /// Logged-in user; `None` on public pages.
    pub member: Option<Member<'a>>,
    /// Current time, for ages.
    pub now: Timestamp,
    /// Whether the page is a single file: it contains its stylesheet and loads nothing.
    pub standalone: bool,
    /// Address of this server as the browser knows it, for example `http://127.0.0.1:7070`.
    pub origin: &'a str,
}

impl Shell<'_> {
    /// Creates the frame of a public page, without a time.
    pub fn bare(section: Section) -> Self {
        Self { section, demo: false, member: None, now: Timestamp::MIN, standalone: false, origin: "" }
    }
}

/// A logged-in user.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Whether the user may change keys, settings and the publication of agents.
    pub administers: bool,
    /// Token that forms send back, so that other sites cannot submit them.
    pub csrf: &'a str,
}

impl Member<'_> {
    /// Returns the sections that this user can open.
    pub fn sections(&self) -> &'static [Section] {
        use Section::{Api, Evals, Evaluations, Keys, Overview, Runs, Sessions, Settings, Specs};
        if self.administers {
            &[Overview, Sessions, Runs, Specs, Evaluations, Evals, Keys, Settings, Api]
        } else {
            &[Overview, Sessions, Runs, Specs, Evaluations, Evals, Api]
        }
    }
}

/// A group of pages: an entry of the navigation bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The overview and the agents.
    Overview,
    /// Sessions.
    Sessions,
    /// Runs.
    Runs,
    /// Specs that agents compete on.
    Specs,
    /// Evaluations.
    Evaluations,
    /// Eval runs and schedules.
    Evals,
    /// API keys.
    Keys,
    /// Settings.
    Settings,
    /// The API reference.
    Api,
    /// A page without an entry, such as the login page.
    Other,
}

impl Section {
    /// Returns the label in the navigation bar.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Sessions => "Sessions",
            Self::Runs => "Runs",
            Self::Specs => "Competitions",
            Self::Evaluations => "Evaluations",
            Self::Evals => "Eval runs",
            Self::Keys => "Keys",
            Self::Settings => "Settings",
            Self::Api => "API",
            Self::Other => "",
        }
    }

    /// Returns the path of the section's first page.
    pub fn path(self) -> &'static str {
        match self {
            Self::Overview | Self::Other => "/",
            Self::Sessions => "/sessions",
            Self::Runs => "/runs",
            Self::Specs => "/specs",
            Self::Evaluations => "/evaluations",
            Self::Evals => "/eval-runs",
            Self::Keys => "/keys",
            Self::Settings => "/settings",
            Self::Api => "/docs",
        }
    }
}
