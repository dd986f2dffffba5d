//! The badge of a public agent: an SVG in the style of shields.io, and the JSON that shields.io reads.
//!
//! Below 50 evaluations it shows the progress of the agent, never its score.

use renown_core::reputation::Lifecycle;
use serde_json::json;

/// The text and the color of a badge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Badge {
    message: String,
    color: &'static str,
}

const LABEL: &str = "renown";
const ACCENT: &str = "#0b6580";
const GRAY: &str = "#62676c";
const RED: &str = "#b3261e";

impl Badge {
    /// Creates the badge of an agent. Scores below the threshold are red.
    pub fn of(score: u32, lifecycle: Lifecycle, evaluations: u64, threshold: u32) -> Self {
        match lifecycle {
            Lifecycle::New => Self { message: "new".to_owned(), color: GRAY },
            Lifecycle::Calibrating => Self { message: format!("calibrating {evaluations}/50"), color: GRAY },
            Lifecycle::Active | Lifecycle::Mature => {
                Self { message: format!("{score}/1000"), color: if score < threshold { RED } else { ACCENT } }
            }
        }
    }

    /// Renders the badge as SVG.
    pub fn svg(&self) -> String {
        let (label, message) = (width(LABEL), width(&self.message));
        let (all, text) = (label + message, &self.message);
        let color = self.color;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" aria-label=\"{LABEL}: {text}\">\
             <title>{LABEL}: {text}</title>\
             <clipPath id=\"r\"><rect width=\"{all}\" height=\"20\" rx=\"3\"/></clipPath>\
             <g clip-path=\"url(#r)\"><rect width=\"{label}\" height=\"20\" fill=\"#3b3f43\"/>\
             <rect x=\"{label}\" width=\"{message}\" height=\"20\" fill=\"{color}\"/></g>\
             <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,DejaVu Sans,Geneva,sans-serif\" font-size=\"11\">\
             <text x=\"{}\" y=\"14\">{LABEL}</text><text x=\"{}\" y=\"14\">{text}</text></g></svg>",
            label / 2,
            label + message / 2,
        )
    }

    /// Renders the badge as JSON for an endpoint badge of shields.io.
    pub fn shields(&self) -> String {
        let color = self.color.trim_start_matches('#');
        json!({"schemaVersion": 1, "label": LABEL, "message": self.message, "color": color}).to_string()
    }
}

/// Returns the width of a text in pixels, with padding. A letter or digit of this font is about 7 pixels wide.
fn width(text: &str) -> usize {
    10 + 7 * text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_shows_no_score_below_50_evaluations() {
        let of = |lifecycle, evaluations| Badge::of(987, lifecycle, evaluations, 600);
        for (badge, message, color) in [
            (of(Lifecycle::New, 0), "new", GRAY),
            (of(Lifecycle::Calibrating, 49), "calibrating 49/50", GRAY),
            (of(Lifecycle::Active, 50), "987/1000", ACCENT),
            (Badge::of(599, Lifecycle::Mature, 500, 600), "599/1000", RED),
        ] {
            assert_eq!((badge.message.as_str(), badge.color), (message, color));
            assert!(badge.svg().contains(&format!("renown: {message}</title>")));
            assert!(badge.shields().contains(&format!("\"message\":\"{message}\"")));
        }
        assert!(!of(Lifecycle::Calibrating, 49).svg().contains("987"));
    }
}
