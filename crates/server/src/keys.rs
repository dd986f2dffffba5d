//! API keys: their format, how they are generated, and the key ring in memory that checks every request.
//!
//! A key is `rn_pub_` or `rn_sec_` and 32 characters of `0-9A-Za-z`: 190 bits from the random source of the system. It is shown once; only
//! its SHA-256 is stored. The server hashes the key of a request, looks up the digest, and compares it once more in constant time.

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

/// The text of a key, which is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText {
    text: String,
    kind: KeyKind,
}

/// The error for a text that is not in the format of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoKey;

impl fmt::Display for NoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected rn_pub_ or rn_sec_ and 32 characters of 0-9, A-Z, a-z")
    }
}

impl std::error::Error for NoKey {}

/// Debug output does not show the key.
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
    /// Generates a key from the random source of the system.
    pub fn generate(kind: KeyKind) -> Result<Self, getrandom::Error> {
        let mut text = prefix(kind).to_owned();
        let mut bytes = [0; 64];
        while text.len() < prefix(kind).len() + BODY_CHARS {
            getrandom::fill(&mut bytes)?;
            // Bytes from 4 · 62 on would make some characters more likely than others.
            let fair = bytes.iter().filter(|byte| usize::from(**byte) < 4 * ALPHABET.len());
            let chars = fair.filter_map(|byte| ALPHABET.get(usize::from(*byte) % ALPHABET.len()));
            let missing = prefix(kind).len() + BODY_CHARS - text.len();
            text.extend(chars.take(missing).map(|char| char::from(*char)));
        }
        Ok(Self { text, kind })
    }

    /// Returns the key itself, to show it once.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Returns the digest that is stored.
    pub fn hash(&self) -> KeyHash {
        Sha256::digest(self.text.as_bytes()).into()
    }

    /// Builds the record that the store keeps of a new key.
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

/// The owner of a key that came with a request.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) org: OrgId,
    pub(crate) kind: KeyKind,
    id: KeyId,
    hash: KeyHash,
    revoked: bool,
    /// Time of the last use, in milliseconds after 1970.
    used: AtomicI64,
    /// The value of `used` that was last passed to the store.
    written: AtomicI64,
}

/// Why a key is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyProblem {
    Unknown,
    Revoked,
}

/// All keys, by digest.
#[derive(Default)]
pub(crate) struct KeyRing {
    callers: RwLock<HashMap<KeyHash, Arc<Caller>>>,
    /// Held while a key changes first in the store and then in the ring. Without it, a key could be revoked between the two steps of its
    /// creation: revoked in the store, and then added to the ring as valid.
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

    /// Adds or replaces a key.
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

    /// Revokes a key. The next request with it is refused.
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

    /// Finds the owner of a key, and notes the time of its use.
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

    /// Returns whether the key of a caller is still valid.
    pub(crate) fn is_valid(&self, caller: &Caller) -> bool {
        let ring = self.callers.read().unwrap_or_else(PoisonError::into_inner);
        ring.get(&caller.hash).is_some_and(|caller| !caller.revoked)
    }

    /// Returns the keys that were used since the last call, with the time of their last use.
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

/// Compares two digests in constant time.
fn equal(a: &KeyHash, b: &KeyHash) -> bool {
    a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_keys_can_be_parsed() {
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
    fn all_characters_are_equally_likely() {
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
    fn revoked_and_unknown_keys_have_different_errors() {
        let now = Timestamp::from_millis(1_794_744_000_000).unwrap();
        let (known, other) =
            (KeyText::generate(KeyKind::Secret).unwrap(), KeyText::generate(KeyKind::Secret).unwrap());
        let key = known.to_new("default".parse().unwrap(), None, now).unwrap();
        let id = key.id;
        let ring = KeyRing::new(&[ApiKey { key, created_at: now, last_used_at: None, revoked_at: None }]);
        let caller = ring.find(&known, Some(now)).unwrap();
        assert!(caller.id == id && ring.is_valid(&caller));
        assert_eq!(ring.find(&other, Some(now)).unwrap_err(), KeyProblem::Unknown);
        assert_eq!(ring.take_used(), [(id, now)]);
        assert_eq!(ring.take_used(), []);
        ring.revoke(id);
        assert!(!ring.is_valid(&caller));
        assert_eq!(ring.find(&known, Some(now)).unwrap_err(), KeyProblem::Revoked);
    }
}
