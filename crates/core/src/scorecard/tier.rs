//! Tiers: named ranges of scores.

use core::str::FromStr;

use serde::Serialize;

use crate::json::Found;

/// The name of a range of scores: 0–39, 40–69, 70–89, 90–100; `Unranked` without a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Tier {
    /// No score: an agent or spec without a scored run, or a run whose scoring failed with an internal error.
    Unranked,
    /// 0 to 39.
    Bronze,
    /// 40 to 69.
    Silver,
    /// 70 to 89.
    Gold,
    /// 90 to 100.
    Elite,
}

impl Tier {
    /// All tiers, lowest first.
    pub const ALL: [Self; 5] = [Self::Unranked, Self::Bronze, Self::Silver, Self::Gold, Self::Elite];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unranked => "Unranked",
            Self::Bronze => "Bronze",
            Self::Silver => "Silver",
            Self::Gold => "Gold",
            Self::Elite => "Elite",
        }
    }

    /// Returns the tier of a score.
    pub fn of(score: u8) -> Self {
        match score {
            0..40 => Self::Bronze,
            40..70 => Self::Silver,
            70..90 => Self::Gold,
            90.. => Self::Elite,
        }
    }
}

impl FromStr for Tier {
    type Err = String;

    /// Parses the name of a tier, ignoring case.
    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|tier| tier.name().eq_ignore_ascii_case(text));
        known.ok_or_else(|| {
            format!("{}, expected Unranked, Bronze, Silver, Gold or Elite", Found::quoted(text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_change_at_40_70_and_90() {
        for (score, tier) in [
            (0, Tier::Bronze),
            (39, Tier::Bronze),
            (40, Tier::Silver),
            (69, Tier::Silver),
            (70, Tier::Gold),
            (89, Tier::Gold),
            (90, Tier::Elite),
            (100, Tier::Elite),
        ] {
            assert_eq!(Tier::of(score), tier, "{score}");
        }
    }
}
