//! The stylesheet, the script and the icon, embedded in the binary. Their paths contain a digest of their bytes. So a
//! browser may cache them forever, and a new page never uses an old file.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// A file that pages link to.
#[derive(Debug)]
pub struct Asset {
    name: &'static str,
    extension: &'static str,
    /// Value of the `Content-Type` header.
    pub content_type: &'static str,
    /// Content of the file.
    pub text: &'static str,
}

/// The stylesheet of all pages. One file, in the order in which rules override each other.
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

/// An asset and its path.
#[derive(Debug)]
pub struct Linked {
    /// Asset.
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

    /// Returns the path of the asset.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// Returns the asset with this path.
pub fn at(path: &str) -> Option<&'static Asset> {
    [&CSS, &JS, &ICON].into_iter().find(|linked| linked.path() == path).map(|linked| &linked.asset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asset_is_found_only_at_its_path() {
        for linked in [&CSS, &JS, &ICON] {
            assert_eq!(at(linked.path()).unwrap().text, linked.asset.text);
        }
        assert!(at("/assets/renown.css").is_none());
        assert!(at(&CSS.path().replace(".css", ".js")).is_none());
    }
}
