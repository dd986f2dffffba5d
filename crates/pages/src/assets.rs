//! The stylesheet, the script and the icon, in the binary. Their addresses hold a digest of their bytes, so a browser may keep
//! them for ever and never sees an old one beside a new page.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// A file that pages refer to.
#[derive(Debug)]
pub struct Asset {
    name: &'static str,
    extension: &'static str,
    /// Its type, for the header of the same name.
    pub content_type: &'static str,
    /// Its bytes.
    pub text: &'static str,
}

/// The stylesheet of all pages: one request, in the order in which rules override each other.
pub static CSS: LazyLock<Linked> = LazyLock::new(|| {
    Linked::new(Asset {
        name: "renown",
        extension: "css",
        content_type: "text/css; charset=utf-8",
        text: concat!(
            include_str!("../assets/css/base.css"),
            include_str!("../assets/css/tables.css"),
            include_str!("../assets/css/overview.css"),
            include_str!("../assets/css/agent.css"),
            include_str!("../assets/css/reference.css"),
            include_str!("../assets/css/session.css"),
            include_str!("../assets/css/lists.css"),
        ),
    })
});

/// The script of all pages.
pub static JS: LazyLock<Linked> = LazyLock::new(|| {
    Linked::new(Asset {
        name: "renown",
        extension: "js",
        content_type: "text/javascript; charset=utf-8",
        text: include_str!("../assets/js/renown.js"),
    })
});

/// The icon.
pub static ICON: LazyLock<Linked> = LazyLock::new(|| {
    Linked::new(Asset {
        name: "icon",
        extension: "svg",
        content_type: "image/svg+xml",
        text: include_str!("../assets/icon.svg"),
    })
});

/// An asset and its address.
#[derive(Debug)]
pub struct Linked {
    /// The asset.
    pub asset: Asset,
    path: String,
}

impl Linked {
    fn new(asset: Asset) -> Self {
        let digest = Sha256::digest(asset.text.as_bytes());
        let hash = renown_core::hex::encode(digest.get(..6).unwrap_or_default());
        let path = format!("/assets/{}-{hash}.{}", asset.name, asset.extension);
        Self { asset, path }
    }

    /// Where it is served.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// The asset at an address.
pub fn at(path: &str) -> Option<&'static Asset> {
    [&CSS, &JS, &ICON].into_iter().find(|linked| linked.path() == path).map(|linked| &linked.asset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asset_is_found_at_its_address_and_nowhere_else() {
        for linked in [&CSS, &JS, &ICON] {
            assert_eq!(at(linked.path()).unwrap().text, linked.asset.text);
        }
        assert!(at("/assets/renown.css").is_none());
        assert!(at(&CSS.path().replace(".css", ".js")).is_none());
    }
}
