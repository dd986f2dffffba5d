//! The table of secrets. A rule runs if one of its words is anywhere in the output.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// The pattern of one kind of secret.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pattern: &'static str,
    /// Matched ignoring case. The fixed text at the start of the pattern, if there is one.
    pub(super) words: &'static [&'static str],
    /// Least Shannon entropy of the value, in bits per character.
    pub(super) entropy: f64,
    /// Whether the value also needs two of lower case, upper case and digit.
    pub(super) mixed: bool,
    /// Whether a match contains one of the words. Otherwise the word may be anywhere in the output.
    pub(super) near: bool,
    built: OnceLock<Option<Regex>>,
}

impl Rule {
    const fn new(name: &'static str, words: &'static [&'static str], pattern: &'static str) -> Self {
        Self { name, pattern, words, entropy: 3.0, mixed: false, near: true, built: OnceLock::new() }
    }

    const fn entropy(mut self, entropy: f64) -> Self {
        self.entropy = entropy;
        self
    }

    const fn mixed(mut self) -> Self {
        self.mixed = true;
        self
    }

    const fn far(mut self) -> Self {
        self.near = false;
        self
    }

    /// Returns the expression, compiled on first use. It is never `None`: a test compiles all of them.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.built.get_or_init(|| RegexBuilder::new(self.pattern).unicode(false).build().ok()).as_ref()
    }
}

/// All rules, in the order in which a reason names them.
pub(super) static RULES: [Rule; 45] = [
    Rule::new("aws-key-id", &["AKIA", "ASIA"], r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    Rule::new("google-api", &["AIza"], r"\b(AIza[\w-]{35})(?:[^\w-]|$)"),
    Rule::new(
        "aws-secret",
        &["aws"],
        r"(?i:aws.{0,20}(?:secret|private).{0,20}?)[^A-Za-z0-9/+]([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)",
    )
    .entropy(4.0),
    Rule::new(
        "github",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})\b",
    ),
    Rule::new(
        "slack",
        &["xox", "xapp-"],
        r"\b(?:xox[abeprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Z0-9]+-\d+-[0-9a-f]+)",
    )
    .entropy(2.5),
    Rule::new(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{30,80}",
    ),
    Rule::new(
        "stripe",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        r"\b(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,120}|whsec_[A-Za-z0-9+/]{32,})",
    ),
    Rule::new("renown", &["rn_sec_"], r"\brn_sec_[0-9A-Za-z]{32}\b"),
    Rule::new("openai", &["T3BlbkFJ"], r"\bsk-[\w-]{20,100}T3BlbkFJ[\w-]{20,100}"),
    Rule::new("anthropic", &["sk-ant-"], r"\bsk-ant-[a-z]{3,10}\d{2}-[\w-]{80,120}"),
    Rule::new("google-oauth", &["GOCSPX-", "ya29."], r"\b(?:GOCSPX-[\w-]{28}|ya29\.[\w-]{30,})"),
    // The capture group is redacted. Its entropy is not checked.
    Rule::new("gcp-account", &["\"private_key_id\""], r#""private_key_id"\s*:\s*"([0-9a-f]{40})""#)
        .entropy(0.0),
    Rule::new("azure-client", &["Q~"], r"(?:^|[^\w~.-])([\w~.]{3}\dQ~[\w~.-]{31,34})(?:[^\w~.-]|$)"),
    Rule::new("azure-storage", &["AccountKey="], r"AccountKey=[A-Za-z0-9+/]{86}==").entropy(4.0),
    Rule::new("age", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\b"),
    // Only its first line. `secrets/key.rs` checks what follows.
    Rule::new(PRIVATE_KEY, &["-----BEGIN "], r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
        .entropy(0.0),
    Rule::new("jwt", &["eyJ"], r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}"),
    Rule::new("pypi", &["pypi-AgE"], r"\bpypi-AgE[\w-]{50,}"),
    Rule::new("npm", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    Rule::new(
        "gitlab",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "gloas-"],
        r"\bgl(?:pat|dt|rt|cbt|ptt|ft|oas)-[\w.-]{20,}",
    ),
    Rule::new("crates-io", &["cio"], r"\bcio[A-Za-z0-9]{32}\b").entropy(3.5),
    Rule::new("rubygems", &["rubygems_"], r"\brubygems_[0-9a-f]{48}\b"),
    Rule::new("huggingface", &["hf_"], r"\bhf_[A-Za-z0-9]{34,40}\b").entropy(3.5),
    Rule::new("docker", &["dckr_pat_", "dckr_oat_"], r"\bdckr_(?:pat|oat)_[\w-]{27,32}"),
    Rule::new("sendgrid", &["SG."], r"\bSG\.[\w-]{22}\.[\w-]{43}\b"),
    Rule::new("mailgun", &["key-"], r"\bkey-[0-9a-f]{32}\b"),
    Rule::new("mailchimp", &["-us"], r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    Rule::new("twilio", &["SK"], r"\bSK[0-9a-f]{32}\b"),
    Rule::new("telegram", &[":AA"], r"\b\d{8,10}:AA[\w-]{33}\b"),
    Rule::new("vault", &["hvb.", "hvs.", "hvr."], r"\bhv[bsr]\.[\w-]{24,}"),
    Rule::new("discord-bot", &["discord"], r"\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}").entropy(3.5).far(),
    Rule::new("groq", &["gsk_"], r"\bgsk_[A-Za-z0-9]{52}\b"),
    Rule::new(
        "discord-hook",
        &["discord.com/", "discordapp.com/"],
        r"discord(?:app)?\.com/api/webhooks/\d{17,20}/[\w-]{60,}",
    ),
    Rule::new("newrelic", &["NRAK-"], r"\bNRAK-[A-Z0-9]{27}\b"),
    Rule::new("digitalocean", &["_v1_"], r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    Rule::new("databricks", &["dapi"], r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    Rule::new(
        "shopify",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b",
    ),
    Rule::new("atlassian", &["ATATT3"], r"\bATATT3[\w=-]{100,}").entropy(3.5),
    Rule::new("terraform", &[".atlasv1."], r"\b\w{14}\.atlasv1\.[\w=-]{60,70}").entropy(3.5),
    Rule::new("linear", &["lin_api_"], r"\blin_api_[A-Za-z0-9]{40}\b"),
    Rule::new("grafana", &["glsa_", "glc_"], r"\b(?:glsa_\w{32}_[0-9a-fA-F]{8}|glc_[\w+/=]{32,})"),
    Rule::new("notion", &["ntn_"], r"\bntn_[A-Za-z0-9]{40,50}\b"),
    Rule::new("sentry", &["sntryu_", "sntrys_"], r"\bsntry(?:u_[0-9a-f]{64}|s_eyJ[\w+/=-]{60,})"),
    Rule::new(
        "url-password",
        &["://"],
        r#"\b[a-z][a-z0-9+.-]{1,15}://[^\s:/@"']{1,64}:([^\s:/@"']{6,128})@[A-Za-z0-9]"#,
    )
    .mixed(),
    Rule::new(
        "assigned",
        &["key", "secret", "token", "passw"],
        concat!(
            r"(?i:(?:api|access|auth|client|private|signing)[_-]?(?:key|secret|token)|passw(?:or)?d|secret)",
            r#"["']?\s{0,3}(?::=|=>|=|:)\s{0,3}["']([\w+/=.~-]{16,128})["']"#
        ),
    )
    .entropy(3.5)
    .mixed(),
];

/// The rule that matches only the first line of a key.
pub(super) const PRIVATE_KEY: &str = "private-key";
