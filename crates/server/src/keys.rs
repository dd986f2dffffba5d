//! API keys: how they look, how they are made, and the ring in memory that every request is checked against.
//!
//! A key is `rn_pub_` or `rn_sec_` and 32 characters of `0-9A-Za-z`, 190 bits of the system's randomness. It is shown once;
//! what is kept is its SHA-256. A request's key is hashed and the digest looked up, then compared once more in constant time.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use renown_core::ids::OrgId;
use renown_core::time::Timestamp;
use renown_store::{ApiKey, KeyHash, KeyId, KeyKind, NewKey};
use sha2::{Digest, Sha256};
use uuid::Uuid;

const BODY_CHARS: usize = 32;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A key as its owner holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText {
    text: String,
    kind: KeyKind,
}

/// A text that does not look like a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoKey;

impl fmt::Display for NoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected rn_pub_ or rn_sec_ and 32 characters of 0-9, A-Z, a-z")
    }
}

impl std::error::Error for NoKey {}

/// A key is a secret: what is printed for developers does not show it.
impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyText({}…)", prefix(self.kind))
    }
}

fn prefix(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Publishable => "rn_pub_",
        KeyKind::Secret => "rn_sec_",
    }
}

impl FromStr for KeyText {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let of_kind = |kind| text.strip_prefix(prefix(kind)).map(|body| (kind, body));
        let (kind, body) = of_kind(KeyKind::Publishable).or_else(|| of_kind(KeyKind::Secret)).ok_or(NoKey)?;
        let fits = body.len() == BODY_CHARS && body.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self { text: text.to_owned(), kind }).ok_or(NoKey)
    }
}

impl KeyText {
    /// A new key from the randomness of the system.
    pub fn generate(kind: KeyKind) -> Result<Self, getrandom::Error> {
        let mut text = prefix(kind).to_owned();
        let mut bytes = [0; 64];
        while text.len() < prefix(kind).len() + BODY_CHARS {
            getrandom::fill(&mut bytes)?;
            // A byte above 4 · 62 would make some characters likelier than others.
            let fair = bytes.iter().filter(|byte| usize::from(**byte) < 4 * ALPHABET.len());
            let chars = fair.filter_map(|byte| ALPHABET.get(usize::from(*byte) % ALPHABET.len()));
            let missing = prefix(kind).len() + BODY_CHARS - text.len();
            text.extend(chars.take(missing).map(|char| char::from(*char)));
        }
        Ok(Self { text, kind })
    }

    /// The key itself, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// What is kept of it.
    pub fn hash(&self) -> KeyHash {
        Sha256::digest(self.text.as_bytes()).into()
    }

    /// What the store keeps of a new key.
    pub fn to_new(
        &self,
        org: OrgId,
        label: Option<String>,
        now: Timestamp,
    ) -> Result<NewKey, getrandom::Error> {
        let mut random = [0; 10];
        getrandom::fill(&mut random)?;
        let millis = u64::try_from(now.millis()).unwrap_or_default();
        Ok(NewKey {
            id: uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid(),
            org,
            kind: self.kind,
            label,
            hash: self.hash(),
            last_four: self.text.chars().skip(self.text.len() - 4).collect(),
        })
    }
}

/// Who asks.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) org: OrgId,
    pub(crate) kind: KeyKind,
    id: KeyId,
    hash: KeyHash,
    revoked: bool,
    /// When it was last used, in milliseconds, and the same as far as it is written down.
    used: AtomicI64,
    written: AtomicI64,
}

/// Why a key is no good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyProblem {
    Unknown,
    Revoked,
}

/// Every key, by its digest.
#[derive(Default)]
pub(crate) struct KeyRing {
    callers: RwLock<HashMap<KeyHash, Arc<Caller>>>,
    /// Held while keys change in the store and then here. Without it, a key could be revoked between the two steps of its
    /// making: gone from the store, and then put into the ring as a good one.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

impl KeyRing {
    pub(crate) fn new(keys: &[ApiKey]) -> Self {
        let ring = Self::default();
        for key in keys {
            ring.set(key);
        }
        ring
    }

    /// Adds a key, or puts it in the place of what was known of it.
    pub(crate) fn set(&self, key: &ApiKey) {
        let caller = Caller {
            org: key.key.org.clone(),
            kind: key.key.kind,
            id: key.key.id,
            hash: key.key.hash,
            revoked: key.revoked_at.is_some(),
            used: AtomicI64::new(0),
            written: AtomicI64::new(0),
        };
        self.callers.write().unwrap_or_else(PoisonError::into_inner).insert(key.key.hash, Arc::new(caller));
    }

    /// Ends a key at once.
    pub(crate) fn revoke(&self, id: KeyId) {
        let mut ring = self.callers.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(caller) = ring.values_mut().find(|caller| caller.id == id) {
            let revoked = Caller {
                org: caller.org.clone(),
                used: AtomicI64::new(caller.used.load(Ordering::Relaxed)),
                written: AtomicI64::new(caller.written.load(Ordering::Relaxed)),
                revoked: true,
                kind: caller.kind,
                id,
                hash: caller.hash,
            };
            *caller = Arc::new(revoked);
        }
    }

    /// The owner of a key.
    pub(crate) fn find(&self, key: &KeyText, now: Option<Timestamp>) -> Result<Arc<Caller>, KeyProblem> {
        let hash = key.hash();
        let ring = self.callers.read().unwrap_or_else(PoisonError::into_inner);
        let caller =
            ring.get(&hash).filter(|caller| equal(&caller.hash, &hash)).ok_or(KeyProblem::Unknown)?;
        if caller.revoked {
            return Err(KeyProblem::Revoked);
        }
        if let Some(now) = now {
            caller.used.store(now.millis(), Ordering::Relaxed);
        }
        Ok(Arc::clone(caller))
    }

    /// Whether a key that was found before may still be used.
    pub(crate) fn still_holds(&self, caller: &Caller) -> bool {
        let ring = self.callers.read().unwrap_or_else(PoisonError::into_inner);
        ring.get(&caller.hash).is_some_and(|caller| !caller.revoked)
    }

    /// The keys that were used since this was last asked.
    pub(crate) fn take_used(&self) -> Vec<(Uuid, Timestamp)> {
        let ring = self.callers.read().unwrap_or_else(PoisonError::into_inner);
        let used = ring.values().filter_map(|caller| {
            let used = caller.used.load(Ordering::Relaxed);
            let new = caller.written.swap(used, Ordering::Relaxed) != used;
            Timestamp::from_millis(used).ok().filter(|_| new).map(|at| (caller.id, at))
        });
        used.collect()
    }
}

/// Whether two digests are equal, in a time that does not depend on where they differ.
fn equal(a: &KeyHash, b: &KeyHash) -> bool {
    a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_made_in_the_shape_that_is_read() {
        for kind in [KeyKind::Publishable, KeyKind::Secret] {
            let key = KeyText::generate(kind).unwrap();
            assert_eq!(key.reveal().parse::<KeyText>(), Ok(key.clone()));
            let (_, body) = key.reveal().split_at(7);
            assert!(!format!("{key:?}").contains(body));
            assert_ne!(key, KeyText::generate(kind).unwrap());
        }
        let body = "0".repeat(32);
        for refused in
            ["", "rn_pub_", "rn_xyz_", &format!("rn_pub_{body}0"), &format!("rn_sec_{}-", "0".repeat(31))]
        {
            assert_eq!(refused.parse::<KeyText>(), Err(NoKey), "{refused}");
        }
    }

    #[test]
    fn every_character_is_as_likely() {
        let mut counts = [0_u32; 128];
        for _ in 0..2000 {
            let key = KeyText::generate(KeyKind::Secret).unwrap();
            key.reveal().bytes().skip(7).for_each(|byte| counts[usize::from(byte)] += 1);
        }
        let (least, most) = ALPHABET.iter().fold((u32::MAX, 0), |(least, most), &char| {
            let count = counts[usize::from(char)];
            (least.min(count), most.max(count))
        });
        assert!(least > 800 && most < 1300, "about 1032 each, found {least} to {most}");
    }

    #[test]
    fn a_revoked_key_is_told_apart_from_an_unknown_one() {
        let now = Timestamp::from_millis(1_794_744_000_000).unwrap();
        let (known, other) =
            (KeyText::generate(KeyKind::Secret).unwrap(), KeyText::generate(KeyKind::Secret).unwrap());
        let key = known.to_new("default".parse().unwrap(), None, now).unwrap();
        let id = key.id;
        let ring = KeyRing::new(&[ApiKey { key, created_at: now, last_used_at: None, revoked_at: None }]);
        let caller = ring.find(&known, Some(now)).unwrap();
        assert!(caller.id == id && ring.still_holds(&caller));
        assert_eq!(ring.find(&other, Some(now)).unwrap_err(), KeyProblem::Unknown);
        assert_eq!(ring.take_used(), [(id, now)]);
        assert_eq!(ring.take_used(), []);
        ring.revoke(id);
        assert!(!ring.still_holds(&caller));
        assert_eq!(ring.find(&known, Some(now)).unwrap_err(), KeyProblem::Revoked);
    }
}
