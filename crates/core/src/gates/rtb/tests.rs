//! Tests every reason of every gate, and invalid auctions.

use core::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use serde_json::value::RawValue;

use super::*;

fn build(kind: &str, options: &Value) -> Result<Rtb, SettingsError> {
    let mut options = Options::new(format!("gate.\"{kind}\""), options.as_object().unwrap());
    let gate = Rtb::build(kind, &mut options)?.unwrap();
    options.finish()?;
    Ok(gate)
}

fn judge(kind: &str, options: &Value, input: Option<&str>, output: &str) -> String {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let (input, output) = (input.map(raw), raw(output));
    let context = Context { input: input.as_deref(), ..Context::of(&output) };
    let clock = || Duration::ZERO;
    let finding = match Auction::read(&context, &Deadline::new(&clock, Duration::ZERO)).unwrap() {
        Ok(auction) => build(kind, options).unwrap().check(&auction),
        Err(reason) => Finding::Fail(reason),
    };
    match finding {
        Finding::Pass => "pass".to_owned(),
        Finding::Fail(reason) => reason,
        Finding::Skip(reason) => format!("skipped: {reason}"),
    }
}

fn bids(bids: &Value) -> String {
    json!({"seatbid": [{"bid": []}, {"bid": bids}]}).to_string()
}

#[track_caller]
fn check(kind: &str, options: &Value, request: &Value, bid: &Value, expected: &str) {
    let message = format!("{request} {bid}");
    let fine = json!({"impid": "1", "price": 1, "adomain": ["acme.com"], "cat": ["IAB1"]});
    let output = bids(&json!([fine, bid]));
    assert_eq!(judge(kind, options, Some(&request.to_string()), &output), expected, "{message}");
}

#[test]
fn impid_match() {
    let request = json!({"imp": [{"id": "1"}, {"id": "2"}]});
    for (bid, expected) in [
        (json!({"impid": "2"}), "pass"),
        (json!({}), "bid missing impid"),
        (json!({"impid": null}), "bid missing impid"),
        (json!({"impid": ""}), "bid missing impid"),
        (json!({"impid": "3"}), "bid impid not present in request"),
        (json!({"impid": 1}), "bid impid is not a string"),
    ] {
        check("rtb.impid-match", &json!({}), &request, &bid, expected);
    }
    for request in [json!({}), json!({"imp": []}), json!({"imp": 7}), json!({"imp": [7, {}]}), json!([])] {
        check("rtb.impid-match", &json!({}), &request, &json!({}), "skipped: no imps in request");
    }
    let of = |output: &str| judge("rtb.impid-match", &json!({}), Some(&request.to_string()), output);
    assert_eq!(of("{}"), "skipped: no bids in response");
    assert_eq!(judge("rtb.impid-match", &json!({}), None, "{}"), "skipped: no imps in request");
}

#[test]
fn adomain_verify() {
    for (options, adomain, expected) in [
        (json!({}), json!(["acme.com", " Acme.ORG "]), "pass"),
        (json!({}), json!([]), "bid has no adomain"),
        (json!({}), json!(null), "bid has no adomain"),
        (json!({"require_adomain": false}), json!([]), "pass"),
        (json!({}), json!([" Example.COM "]), "placeholder adomain: example.com"),
        (json!({"require_adomain": false}), json!(["localhost"]), "placeholder adomain: localhost"),
        (json!({}), json!(["www.example.com"]), "pass"),
        (json!({"extra_placeholders": ["None.io"]}), json!(["none.io"]), "placeholder adomain: none.io"),
        (json!({}), json!(["acme"]), "invalid adomain format"),
        (json!({}), json!([7]), "invalid adomain format"),
        (json!({}), json!({"a": 1}), "invalid adomain format"),
        (json!({}), json!("foo.com"), "placeholder adomain: foo.com"),
    ] {
        check("rtb.adomain-verify", &options, &json!({}), &json!({ "adomain": adomain }), expected);
    }
}

#[test]
fn bid_sanity() {
    let request = json!({"imp": [{"id": "1", "bidfloor": 0.29}, {"id": "2", "bidfloor": 1, "bidfloorcur": "EUR"}, {"id": "3", "bidfloor": 0}]});
    let cap = json!({"max_price": 25});
    for (options, bid, expected) in [
        (json!({}), json!({"impid": "1"}), "bid missing price"),
        (json!({}), json!({"impid": "1", "price": "1"}), "bid price is not a number"),
        (json!({}), json!({"impid": "1", "price": -0.01}), "bid price is negative"),
        (json!({}), json!({"impid": "1", "price": 0}), "pass"),
        (json!({}), json!({"impid": "1", "price": 14.5}), "pass"),
        (json!({}), json!({"impid": "1", "price": 14.51}), "bid price over 50x floor"),
        (
            json!({"max_floor_multiple": 2.5}),
            json!({"impid": "1", "price": 0.8}),
            "bid price over 2.5x floor",
        ),
        (json!({}), json!({"impid": "2", "price": 999}), "pass"),
        (json!({}), json!({"impid": "3", "price": 999}), "pass"),
        (json!({}), json!({"price": 999}), "pass"),
        (cap.clone(), json!({"impid": "9", "price": 25}), "pass"),
        (cap.clone(), json!({"impid": "9", "price": 25.5}), "bid price above cap 25"),
        (cap, json!({"impid": "1", "price": 26}), "bid price above cap 25"),
        (json!({"enforce_floor": true}), json!({"impid": "1", "price": 0.28}), "bid price below floor"),
        (json!({"enforce_floor": true}), json!({"impid": "1", "price": 0.29}), "pass"),
    ] {
        check("rtb.bid-sanity", &options, &request, &bid, expected);
    }
    let euros = json!({"cur": "eur", "seatbid": [{"bid": [{"impid": "2", "price": 51}]}]}).to_string();
    assert_eq!(
        judge("rtb.bid-sanity", &json!({}), Some(&request.to_string()), &euros),
        "bid price over 50x floor"
    );
    assert_eq!(judge("rtb.bid-sanity", &json!({}), None, &bids(&json!([{"price": 7}]))), "pass");
}

#[test]
fn audience_safety() {
    let bad = json!({"cat": ["IAB1", "IAB8-5"]});
    let served = "child-directed inventory served unsafe category: IAB8-5";
    for (request, expected) in [
        (json!({"regs": {"coppa": 1}}), served),
        (json!({"app": {"cat": ["IAB13"]}}), served),
        (json!({"site": {"cat": ["IAB1", "iab13"]}}), served),
        (json!({"app": {"bundle": "com.acme.KidsGames"}}), served),
        (json!({"regs": {"coppa": 0}}), "skipped: not child-directed"),
        (json!({"app": {"cat": ["IAB13-2"], "bundle": "com.acme"}}), "skipped: not child-directed"),
        (json!({"regs": 7, "app": [], "site": {"cat": 1}}), "skipped: not child-directed"),
    ] {
        check("rtb.audience-safety", &json!({}), &request, &bad, expected);
    }
    let coppa = json!({"regs": {"coppa": 1}});
    for (options, bid, expected) in [
        (json!({}), json!({"cat": ["IAB25-7"]}), "child-directed inventory served unsafe category: IAB25-7"),
        (json!({}), json!({"cat": ["IAB25-8"]}), "pass"),
        (json!({}), json!({}), "pass"),
        (json!({}), json!({"cat": {}}), "bid cat is not a list of categories"),
        (json!({"unsafe_categories": []}), bad.clone(), "skipped: no unsafe categories configured"),
        (
            json!({"unsafe_categories": ["gambling"]}),
            json!({"cat": "Gambling"}),
            "child-directed inventory served unsafe category",
        ),
        (
            json!({"unsafe_categories": ["IAB1"]}),
            json!({}),
            "child-directed inventory served unsafe category: IAB1",
        ),
    ] {
        check("rtb.audience-safety", &options, &coppa, &bid, expected);
    }
    let app = json!({"app": {"bundle": "com.teen", "cat": ["IAB5"]}});
    check("rtb.audience-safety", &json!({"extra_bundle_keywords": ["Teen"]}), &app, &bad, served);
    check("rtb.audience-safety", &json!({"child_categories": ["IAB5"]}), &app, &bad, served);
}

#[test]
fn bcat_compliance() {
    let request = json!({"bcat": ["IAB25", "IAB26-1", "own"]});
    let parents = json!({"parents": true});
    for (options, cat, expected) in [
        (json!({}), json!(["IAB25"]), "blocked category in response: IAB25"),
        (json!({}), json!(["IAB25-2"]), "pass"),
        (parents.clone(), json!(["IAB25-2"]), "blocked category in response: IAB25-2"),
        (parents, json!(["IAB26", "IAB26-2", "IAB2"]), "pass"),
        (json!({}), json!(["OWN"]), "blocked category in response"),
        (json!({}), json!("IAB26-1"), "blocked category in response: IAB26-1"),
        (json!({}), json!([["IAB25"]]), "bid cat is not a list of categories"),
        (json!({}), json!(null), "pass"),
    ] {
        check("rtb.bcat-compliance", &options, &request, &json!({ "cat": cat }), expected);
    }
    for (request, expected) in [
        (json!({}), "skipped: no bcat in request"),
        (json!({"bcat": []}), "skipped: no bcat in request"),
        (json!({"bcat": {}}), "bcat is not a list of categories"),
    ] {
        check("rtb.bcat-compliance", &json!({}), &request, &json!({}), expected);
    }
}

#[test]
fn an_invalid_response_fails() {
    for (output, expected) in [
        ("null", "skipped: no bids in response"),
        ("{}", "skipped: no bids in response"),
        (r#"{"seatbid":null,"nbr":2}"#, "skipped: no bids in response"),
        (r#"{"seatbid":[{"bid":null},{}]}"#, "skipped: no bids in response"),
        ("[]", "response is not an object"),
        (r#""no bid""#, "response is not an object"),
        (r#""{no bid""#, "response is not an object"),
        (r#"{"seatbid":{}}"#, "seatbid is not a list"),
        (r#"{"seatbid":[7]}"#, "seat is not an object"),
        (r#"{"seatbid":[{"bid":{}}]}"#, "bid list is not a list"),
        (r#"{"seatbid":[{"bid":[[]]}]}"#, "bid is not an object"),
        (
            r#"{"seatbid":[{"bid":[{"adomain":["foo.com"],"adomain":["acme.com"]}]}]}"#,
            "repeated key in output",
        ),
        (r#"{"seatbid":[],"seatb\u0069d":[]}"#, "repeated key in output"),
        (r#""{\"seatbid\":[{\"bid\":[{}]}]}""#, "bid has no adomain"),
        (r#"{"seatbid":[{"bid":[{"price":1e999}]}]}"#, "output has a number or escape out of range"),
    ] {
        assert_eq!(judge("rtb.adomain-verify", &json!({}), None, output), expected, "{output}");
    }
    let input = Some(r#"{"bcat":[],"bcat":["IAB25"]}"#);
    assert_eq!(judge("rtb.bcat-compliance", &json!({}), input, &bids(&json!([{}]))), "repeated key in input");
}

#[test]
fn invalid_options_are_rejected() {
    for (kind, options, expected) in [
        (
            "rtb.tmax-guard",
            json!({"buffer_ms": -1}),
            "gate.\"rtb.tmax-guard\".buffer_ms: -1, expected a whole number of milliseconds from 0 to 60000",
        ),
        ("rtb.tmax-guard", json!({"buffer_ms": 60001}), "gate.\"rtb.tmax-guard\".buffer_ms: 60001, expected"),
        ("rtb.impid-match", json!({"x": 1}), "gate.\"rtb.impid-match\".x: unknown option"),
        (
            "rtb.adomain-verify",
            json!({"require_adomain": 1}),
            "gate.\"rtb.adomain-verify\".require_adomain: 1, expected true or false",
        ),
        (
            "rtb.bid-sanity",
            json!({"max_price": 0}),
            "gate.\"rtb.bid-sanity\".max_price: 0, expected a positive price",
        ),
        (
            "rtb.bid-sanity",
            json!({"max_floor_multiple": "5"}),
            "gate.\"rtb.bid-sanity\".max_floor_multiple: \"5\", expected a positive number",
        ),
        (
            "rtb.audience-safety",
            json!({"unsafe_categories": "IAB1"}),
            "gate.\"rtb.audience-safety\".unsafe_categories: \"IAB1\", expected a list",
        ),
        (
            "rtb.bcat-compliance",
            json!({"parents": 1}),
            "gate.\"rtb.bcat-compliance\".parents: 1, expected true or false",
        ),
    ] {
        let error = build(kind, &options).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    assert!(build("rtb.tmax-guard", &json!({"buffer_ms": 60000})).is_ok());
}

proptest! {
    #[test]
    fn no_input_panics(text in "[\\[\\]{}\",:0-9a]{0,24}", part in 0..6_usize) {
        let kind = MEMBERS[part];
        let shapes = ["{\"seatbid\":[{\"bid\":[@]}]}", "{\"seatbid\":[@]}", "{\"seatbid\":@}", "@"];
        for shape in shapes {
            let output = shape.replace('@', &text);
            if serde_json::from_str::<Value>(&output).is_ok() {
                judge(kind, &json!({}), Some(&output), &output);
            }
        }
    }
}
