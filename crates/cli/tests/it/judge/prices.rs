//! Do the prices of `renown.toml` apply to calls without a reported cost, and only to those?

use super::{Folder, Judged, Record, call, document, lines, log, ok_tool, span};

const PRICES: &str = r#"
[prices."gpt-5*"]
input = 10.0
output = 100.0
cache_read = 1.0
cache_creation = 20.0

[prices."gpt-5-mini*"]
input = 2
output = 4

[prices."exact"]
input = 50.0
output = 0
"#;

fn priced(toml: &str, records: &[Record]) -> Judged {
    let folder = Folder::new();
    folder.write("data/renown.toml", toml).write("log.jsonl", document(&lines(records)));
    folder.judge_json(&["log.jsonl"])
}

/// A call with 1000 input, 2000 output, 4000 cache-read and 8000 cache-creation tokens.
fn usage(model: &str) -> Record {
    let record = call(0).with("input_tokens", 1000).with("output_tokens", 2000).with("model", model);
    record.with("cache_read_tokens", 4000).with("cache_creation_tokens", 8000)
}

#[test]
fn the_longest_pattern_that_matches_wins() {
    for (model, cost) in [
        // 0.01 + 0.20 + 0.004 + 0.16
        ("gpt-5", 0.37),
        ("gpt-5.3-codex", 0.37),
        // The cache price is the input price: (1000 + 4000 + 8000) × 2 + 2000 × 4 = 34 000 per million.
        ("gpt-5-mini", 0.03),
        ("gpt-5-mini-2026", 0.03),
        // 13 000 × 50 per million.
        ("exact", 0.65),
        ("exactly", 0.0),
        ("my-gpt-5", 0.0),
    ] {
        let judged = priced(PRICES, &[usage(model)]);
        assert_eq!(judged.document["stats"]["total_cost"], cost, "{model}");
        let (source, missing) =
            if cost > 0.0 { ("priced", "tools prompts") } else { ("none", "tools prompts cost") };
        assert_eq!(judged.document["coverage"]["cost_source"], source, "{model}");
        assert_eq!(judged.coverage("missing"), missing, "{model}");
    }
}

#[test]
fn a_reported_cost_overrides_the_price() {
    let reported = usage("gpt-5").with("cost_usd", 0.02);
    let judged = priced(PRICES, std::slice::from_ref(&reported));
    assert_eq!(judged.document["stats"]["total_cost"], 0.02);
    assert_eq!(judged.document["coverage"]["cost_source"], "reported");
    let both = priced(PRICES, &[reported, usage("gpt-5")]);
    assert_eq!(both.document["stats"]["total_cost"], 0.39, "0.02 and 0.374");
    assert_eq!(both.document["coverage"]["cost_source"], "mixed");
    assert_eq!(both.coverage("partial"), "");
    let free = priced(PRICES, &[usage("gpt-5").with("cost_usd", 0)]);
    assert_eq!(free.document["coverage"]["cost_source"], "reported", "a reported 0 counts");
}

#[test]
fn a_cost_that_only_some_calls_have_is_partial() {
    let judged = priced("", &[ok_tool(0), usage("x").with("cost_usd", 0.02), call(1)]);
    assert_eq!(judged.coverage("present"), "tools cost tokens");
    assert_eq!(
        (judged.coverage("missing").as_str(), judged.coverage("partial").as_str()),
        ("prompts", "cost tokens")
    );
    assert_eq!(judged.document["coverage"]["cost_source"], "reported");
}

#[test]
fn other_dialects_are_priced_too() {
    let codex = log("codex.sse_event", 0).with_all(&[
        ("event.kind", "response.completed"),
        ("model", "gpt-5"),
        ("input_token_count", "1000"),
    ]);
    let gemini =
        log("gemini_cli.api_response", 0).with_all(&[("model", "gpt-5"), ("input_token_count", "1000")]);
    let response = span("chat x", 1, 1)
        .with("gen_ai.request.model", "exact")
        .with("gen_ai.response.model", "gpt-5")
        .with("gen_ai.usage.input_tokens", 1000);
    let request =
        span("chat x", 1, 1).with("gen_ai.request.model", "gpt-5").with("gen_ai.usage.input_tokens", 1000);
    for record in [codex, gemini, response, request] {
        let judged = priced(PRICES, std::slice::from_ref(&record));
        assert_eq!(judged.document["stats"]["total_cost"], 0.01, "{}", record.line());
        assert_eq!(judged.document["coverage"]["cost_source"], "priced");
    }
}

#[test]
fn the_file_is_found_by_flag_variable_or_data_directory() {
    let folder = Folder::new();
    let price = |dollars: u32| format!("[prices.\"*\"]\ninput = {dollars}\noutput = 0\n");
    let call = call(0).with("model", "any").with("input_tokens", 1_000_000);
    folder.write("log.jsonl", document(&lines(&[call])));
    folder.write("flag.toml", price(1)).write("env.toml", price(2));
    folder.write("data/renown.toml", price(3)).write("renown.toml", price(4));
    let cost = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = folder.command(&[&["--format", "json", "log.jsonl"], args].concat());
        command.envs(env.iter().copied());
        Judged::from(&super::run(command, Vec::new())).document["stats"]["total_cost"].clone()
    };
    assert_eq!(cost(&["--config", "flag.toml"], &[("RENOWN_CONFIG", "env.toml")]), 1.0);
    assert_eq!(cost(&[], &[("RENOWN_CONFIG", "env.toml")]), 2.0);
    assert_eq!(cost(&[], &[]), 3.0);
    std::fs::remove_file(folder.path("data/renown.toml")).unwrap();
    assert_eq!(cost(&[], &[]), 0.0, "never the working directory");
}

#[test]
fn an_invalid_configuration_is_an_error_with_its_name() {
    let folder = Folder::new();
    folder.write("log.jsonl", document(&lines(&[ok_tool(0)])));
    folder
        .write("negative.toml", "[prices.\"*\"]\ninput = -1\noutput = 0\n")
        .write("broken.toml", "[prices\n");
    for file in ["absent.toml", "negative.toml", "broken.toml"] {
        let run = folder.judge(&["--config", file, "log.jsonl"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(file), "{run:?}");
    }
}

#[test]
fn a_price_is_rounded_once_per_record() {
    // A token is half a nano-dollar; a nano-dollar below half a cent is shown as 0.00.
    let toml = "[prices.m]\ninput = 0.0005\noutput = 0.0005\n";
    let reported = |cost: &str| call(0).with("cost_usd", cost);
    let tokens = |input: i64, output: i64| {
        call(1).with("model", "m").with("input_tokens", input).with("output_tokens", output)
    };
    for (records, total) in [
        (vec![reported("0.004999999"), tokens(1, 0)], 0.01),
        (vec![reported("0.004999998"), tokens(1, 1)], 0.0),
        (vec![reported("0.004999998"), tokens(1, 0), tokens(0, 1)], 0.01),
        (vec![reported("0.004999999"), tokens(0, 0)], 0.0),
    ] {
        assert_eq!(priced(toml, &records).document["stats"]["total_cost"], total);
    }
}
