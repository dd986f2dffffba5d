//! What a change of an agent's publication means.
//!
//! | the agent | the slug after the change | outcome |
//! |---|---|---|
//! | is unknown | | nothing changes |
//! | is known | belongs to another agent of any organization | nothing changes |
//! | is known | is free, its own, or absent | the publication after the change |
//!
//! ```text
//! public = what is sent, else as before
//! slug   = what is sent, else as before, else the spare one if the agent is public
//! ```

use renown_core::ids::Slug;

use crate::admin::{Publication, PublicationChange, Published};
use crate::error::StoreError;

/// Decides about a change. `known` is the publication of the agent, if the agent is known. Asks whether another agent
/// has a slug. Of [`Published::Changed`], the engine writes the publication.
pub(crate) fn publish(
    known: Option<&Publication>,
    change: &PublicationChange,
    is_taken: impl FnOnce(&Slug) -> Result<bool, StoreError>,
) -> Result<Published, StoreError> {
    let Some(known) = known else { return Ok(Published::NoAgent) };
    let public = change.public.unwrap_or(known.public);
    let slug = change.slug.as_ref().or(known.slug.as_ref());
    let slug = slug.or(change.spare.as_ref().filter(|_| public)).cloned();
    match slug.as_ref().map(is_taken).transpose()? {
        Some(true) => Ok(Published::SlugTaken),
        Some(false) | None => Ok(Published::Changed(Publication { public, slug })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slug(text: &str) -> Slug {
        text.parse().unwrap()
    }

    fn publication(public: bool, slug: Option<&str>) -> Publication {
        Publication { public, slug: slug.map(self::slug) }
    }

    fn change(public: Option<bool>, slug: Option<&str>, spare: Option<&str>) -> PublicationChange {
        PublicationChange { public, slug: slug.map(self::slug), spare: spare.map(self::slug) }
    }

    #[test]
    fn a_change_replaces_what_it_names_and_a_spare_slug_is_for_public_agents_without_one() {
        for (known, change, expected, label) in [
            ((false, None), change(None, None, None), (false, None), "nothing"),
            (
                (true, Some("own")),
                change(None, None, None),
                (true, Some("own")),
                "nothing, of a public agent",
            ),
            (
                (false, None),
                change(Some(true), None, Some("spare")),
                (true, Some("spare")),
                "public: the spare slug",
            ),
            ((false, None), change(None, None, Some("spare")), (false, None), "not public: no slug"),
            (
                (false, Some("own")),
                change(Some(true), None, Some("spare")),
                (true, Some("own")),
                "it has a slug",
            ),
            (
                (true, Some("own")),
                change(None, Some("new"), Some("spare")),
                (true, Some("new")),
                "a new slug",
            ),
            (
                (true, Some("own")),
                change(Some(false), None, None),
                (false, Some("own")),
                "hidden: it keeps its slug",
            ),
        ] {
            let known = publication(known.0, known.1);
            let published = publish(Some(&known), &change, |_| Ok(false)).unwrap();
            assert_eq!(published, Published::Changed(publication(expected.0, expected.1)), "{label}");
        }
    }

    #[test]
    fn a_slug_belongs_to_one_agent() {
        let (known, without) = (publication(false, Some("own")), publication(false, None));
        let taken = |wanted: &Slug| Ok(*wanted == slug("taken"));
        let ask = |known, change: PublicationChange| publish(known, &change, taken).unwrap();
        assert_eq!(ask(Some(&known), change(None, Some("taken"), None)), Published::SlugTaken);
        assert_eq!(ask(Some(&without), change(Some(true), None, Some("taken"))), Published::SlugTaken);
        assert!(matches!(ask(Some(&known), change(Some(true), None, None)), Published::Changed(_)));
        assert_eq!(ask(None, change(Some(true), Some("new"), None)), Published::NoAgent);
    }

    #[test]
    fn an_agent_without_a_slug_asks_for_none() {
        let asked = publish(Some(&Publication::default()), &PublicationChange::default(), |_| {
            Err(StoreError::Closed)
        });
        assert_eq!(asked.unwrap(), Published::Changed(Publication::default()));
    }
}
