//! Dependencies: licenses, duplicate major versions and the lists of the pure crates, from `cargo metadata` and
//! `deny.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::shell::{cargo, output, root, run, succeeds};

/// Crates whose dependencies are part of their design, and the complete list of each.
const PURE: [(&str, &[&str]); 4] = [
    (
        "renown-core",
        &[
            "aho-corasick",
            "croner",
            "ethnum",
            "jiff",
            "jsonschema",
            "memchr",
            "regex",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "unicode-normalization",
            // Only with the feature `schema`, which the server turns on for its OpenAPI document.
            "utoipa",
            "uuid",
        ],
    ),
    ("renown-telemetry", &["renown-core", "serde", "utoipa", "wide"]),
    ("renown-pages", &["askama", "renown-core", "renown-view", "serde", "serde_json", "sha2"]),
    (TESTING, &[]),
];

/// The crate that only tests may use.
const TESTING: &str = "renown-testing";

/// The part of `deny.toml` that is checked here; `cargo deny` reads the same file.
#[derive(Deserialize)]
struct Policy {
    graph: Graph,
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    #[serde(default)]
    skip: Vec<Skipped>,
}

#[derive(Deserialize)]
struct Skipped {
    #[serde(rename = "crate")]
    name: String,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

/// Checks every target of `deny.toml`: licenses of all dependencies, the other rules for shipped ones.
pub(super) fn check(problems: &mut Vec<String>) -> Result<()> {
    let policy: Policy =
        toml::from_str(&fs::read_to_string(root().join("deny.toml"))?).context("deny.toml")?;
    let mut found = BTreeSet::new();
    for target in &policy.graph.targets {
        let json = output(cargo().args([
            "metadata",
            "--locked",
            "--format-version=1",
            "--filter-platform",
            target,
        ]))?;
        let metadata: Metadata = serde_json::from_str(&json).context("cargo metadata")?;
        let built = |edges| -> Result<Vec<&Package>> {
            let names = built_packages(target, edges)?;
            let is_built =
                |package: &&Package| names.contains(&format!("{} v{}", package.name, package.version));
            Ok(metadata.packages.iter().filter(is_built).collect())
        };
        let (all, shipped) = (built("all")?, built("normal,build")?);
        found.extend(all.iter().filter_map(|package| license_problem(package, &policy.licenses.allow)));
        found.extend(duplicate_majors(&shipped, &policy.bans.skip));
        found.extend(shipped.iter().flat_map(|package| impurities(package)));
    }
    problems.extend(found);
    Ok(())
}

/// Returns what is really built through these kinds of dependency, as `name v1.2.3`. The metadata also lists optional
/// dependencies that no feature turns on.
fn built_packages(target: &str, edges: &str) -> Result<BTreeSet<String>> {
    let mut tree = cargo();
    tree.args(["tree", "--locked", "--workspace", "--edges", edges, "--prefix", "none", "--format", "{p}"]);
    let listed = output(tree.args(["--target", target]))?;
    // A member's path, or `(proc-macro)`, follows the version.
    Ok(listed.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect())
}

fn license_problem(package: &Package, allowed: &[String]) -> Option<String> {
    let Some(text) = &package.license else {
        return Some(format!("{} {}: no license", package.name, package.version));
    };
    let permitted = spdx::Expression::parse_mode(text, spdx::ParseMode::LAX).is_ok_and(|expression| {
        expression.evaluate(|required| allowed.iter().any(|allowed| *allowed == required.license.to_string()))
    });
    (!permitted).then(|| format!("{} {}: license {text} is not in deny.toml", package.name, package.version))
}

/// Returns crates that are present in two incompatible versions.
fn duplicate_majors(packages: &[&Package], skipped: &[Skipped]) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(major(&package.version));
    }
    let is_skipped =
        |name: &str| skipped.iter().any(|skipped| skipped.name.split(['@', ':']).next() == Some(name));
    versions
        .into_iter()
        .filter(|(name, majors)| majors.len() > 1 && !is_skipped(name))
        .map(|(name, majors)| {
            format!("{name} is there more than once: {}", Vec::from_iter(majors).join(", "))
        })
        .collect()
}

/// Returns the part of a version that must be equal in compatible versions: `1` of 1.2.3, `0.3` of 0.3.4, `0.0.5` of
/// 0.0.5.
fn major(version: &str) -> String {
    let numbers: Vec<&str> = version.split(['.', '-', '+']).take(3).collect();
    let until = numbers.iter().position(|number| *number != "0").unwrap_or(numbers.len());
    numbers.into_iter().take(until + 1).collect::<Vec<_>>().join(".")
}

fn impurities(package: &Package) -> Vec<String> {
    let listed = PURE.iter().find(|(name, _)| *name == package.name).map(|(_, listed)| listed);
    let is_allowed = |name: &str| name != TESTING && listed.is_none_or(|listed| listed.contains(&name));
    let built_in = package.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
    built_in
        .filter(|dependency| !is_allowed(&dependency.name))
        .map(|dependency| format!("{} must not depend on {}", package.name, dependency.name))
        .collect()
}

/// Checks for known vulnerabilities, if `cargo deny` is installed and can fetch its database.
pub(super) fn advisories() -> Result<()> {
    if !succeeds(cargo().args(["deny", "--version"])) {
        println!("advisories: not checked (cargo-deny is not installed: cargo install cargo-deny)");
        return Ok(());
    }
    if !succeeds(cargo().args(["deny", "fetch", "db"])) {
        println!("advisories: not checked (the advisory database cannot be reached)");
        return Ok(());
    }
    run(cargo().args(["deny", "--workspace", "check", "--disable-fetch", "advisories"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, license: Option<&str>) -> Package {
        let (name, version, license) = (name.to_owned(), version.to_owned(), license.map(str::to_owned));
        Package { name, version, license, dependencies: Vec::new() }
    }

    #[test]
    fn compatible_versions_have_the_same_major() {
        for (version, expected) in [("1.2.3", "1"), ("0.3.4", "0.3"), ("0.0.5", "0.0.5"), ("2.0.0-rc.1", "2")]
        {
            assert_eq!(major(version), expected);
        }
    }

    #[test]
    fn licenses_are_read_as_expressions() {
        let allowed = ["MIT".to_owned(), "Unicode-3.0".to_owned()];
        let problem = |license| license_problem(&package("a", "1.0.0", license), &allowed);
        assert_eq!(problem(Some("MIT OR GPL-3.0")), None);
        assert_eq!(problem(Some("(MIT OR Apache-2.0) AND Unicode-3.0")), None);
        assert_eq!(problem(Some("MIT/Apache-2.0")), None);
        assert!(problem(Some("GPL-3.0")).is_some() && problem(Some("MIT AND GPL-3.0")).is_some());
        assert!(problem(None).is_some());
    }

    #[test]
    fn duplicate_majors_are_found_unless_skipped() {
        let packages = [
            package("a", "1.0.0", None),
            package("a", "2.0.0", None),
            package("b", "1.0.0", None),
            package("b", "1.5.0", None),
        ];
        let packages: Vec<&Package> = packages.iter().collect();
        assert_eq!(duplicate_majors(&packages, &[]), ["a is there more than once: 1, 2"]);
        assert!(duplicate_majors(&packages, &[Skipped { name: "a@1".to_owned() }]).is_empty());
    }

    #[test]
    fn a_pure_crate_keeps_to_its_list() {
        let mut core = package("renown-core", "0.1.0", None);
        core.dependencies.push(Dependency { name: "serde".to_owned(), kind: None });
        core.dependencies.push(Dependency { name: "proptest".to_owned(), kind: Some("dev".to_owned()) });
        assert!(impurities(&core).is_empty());
        core.dependencies.push(Dependency { name: "tokio".to_owned(), kind: None });
        assert_eq!(impurities(&core), ["renown-core must not depend on tokio"]);
    }

    #[test]
    fn only_tests_use_the_crate_of_tests() {
        let mut store = package("renown-store", "0.1.0", None);
        store.dependencies.push(Dependency { name: TESTING.to_owned(), kind: Some("dev".to_owned()) });
        store.dependencies.push(Dependency { name: "tokio".to_owned(), kind: None });
        assert!(impurities(&store).is_empty());
        store.dependencies.push(Dependency { name: TESTING.to_owned(), kind: None });
        assert_eq!(impurities(&store), ["renown-store must not depend on renown-testing"]);
    }
}
