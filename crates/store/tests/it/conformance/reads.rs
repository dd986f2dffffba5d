//! Questions about reads: filters, pages, orders.

use renown_core::ids::AgentId;
use renown_core::reputation::Lifecycle;
use renown_store::{
    AgentQuery, AgentSort, EvaluationQuery, HistorySteps, NewEvaluation, PublicationChange, Store,
};

use crate::support::{TestClock, at, default_org, evaluation, evaluations, fresh, ids, key, wait};

/// Makes twelve evaluations: two agents, two tools, a gate, failures, and times that run backwards.
fn mixed() -> Vec<NewEvaluation> {
    let mut all = Vec::new();
    for number in 0..12 {
        let mut new = evaluation(["a", "b"][number % 2], &format!("e{number:02}"));
        new.passed = number % 3 != 0;
        new.tool = ["sh", "web", ""].get(number % 4).map(|tool| tool.parse().unwrap());
        new.gates =
            [r#"[{"name":"size"}]"#, r#"[{"name":"si\u007ae"},{"name":"ünï\""}]"#, "[]"][number % 3].into();
        new.timestamp = Some(at(-100 * number as i64));
        all.push(new);
    }
    all
}

fn found(store: &dyn Store, query: EvaluationQuery) -> Vec<usize> {
    let page = wait(store.evaluations(&default_org(), EvaluationQuery { limit: 100, ..query })).unwrap();
    assert_eq!(page.next, None);
    page.evaluations.iter().map(|event| event.id.as_str()[1..].parse().unwrap()).collect()
}

/// Returns whether the evaluation with this number matches.
type Wanted = Box<dyn Fn(usize) -> bool>;

pub(super) fn each_filter_of_evaluations_works_alone_and_with_others(store: &dyn Store, _: &TestClock) {
    wait(store.append(&default_org(), mixed(), None)).unwrap();
    let none = EvaluationQuery::default;
    let sub_milli =
        |millis: i64, nanos| renown_core::time::Timestamp::from_nanos(at(millis).nanos() + nanos).unwrap();
    let agent = Some("a".parse().unwrap());
    let table: Vec<(EvaluationQuery, Wanted)> = vec![
        (none(), Box::new(|_| true)),
        (EvaluationQuery { agent: agent.clone(), ..none() }, Box::new(|n| n % 2 == 0)),
        (EvaluationQuery { agent: Some("A".parse().unwrap()), ..none() }, Box::new(|_| false)),
        (EvaluationQuery { tool: Some("web".parse().unwrap()), ..none() }, Box::new(|n| n % 4 == 1)),
        (EvaluationQuery { tool: Some("".parse().unwrap()), ..none() }, Box::new(|n| n % 4 == 2)),
        (EvaluationQuery { gate: Some("size".into()), ..none() }, Box::new(|n| n % 3 < 2)),
        (EvaluationQuery { gate: Some("ünï\"".into()), ..none() }, Box::new(|n| n % 3 == 1)),
        (EvaluationQuery { gate: Some("siz".into()), ..none() }, Box::new(|_| false)),
        (EvaluationQuery { passed: Some(true), ..none() }, Box::new(|n| n % 3 != 0)),
        (EvaluationQuery { passed: Some(false), ..none() }, Box::new(|n| n % 3 == 0)),
        (EvaluationQuery { from: Some(at(-300)), ..none() }, Box::new(|n| n <= 3)),
        (EvaluationQuery { from: Some(sub_milli(-300, 1)), ..none() }, Box::new(|n| n <= 2)),
        (EvaluationQuery { to: Some(at(-300)), ..none() }, Box::new(|n| n >= 3)),
        (EvaluationQuery { to: Some(sub_milli(-301, 999_999)), ..none() }, Box::new(|n| n >= 4)),
        (EvaluationQuery { from: Some(at(-300)), to: Some(at(-300)), ..none() }, Box::new(|n| n == 3)),
        (EvaluationQuery { from: Some(at(-1)), to: Some(at(-99)), ..none() }, Box::new(|_| false)),
        (
            EvaluationQuery { agent: agent.clone(), from: Some(at(-400)), passed: Some(true), ..none() },
            Box::new(|n| n == 2 || n == 4),
        ),
        (
            EvaluationQuery {
                agent,
                tool: Some("sh".parse().unwrap()),
                gate: Some("size".into()),
                to: Some(at(-400)),
                ..none()
            },
            Box::new(|n| n == 4),
        ),
    ];
    for (query, wanted) in table {
        let expected: Vec<usize> = (0..12).rev().filter(|&number| wanted(number)).collect();
        assert_eq!(found(store, query.clone()), expected, "{query:?}");
    }
}

/// Reads every page of a query.
fn pages(store: &dyn Store, query: &EvaluationQuery) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut query = query.clone();
    loop {
        let page = wait(store.evaluations(&default_org(), query.clone())).unwrap();
        pages.push(page.evaluations.iter().map(|event| event.id.to_string()).collect());
        match page.next {
            Some(next) => query.before = Some(next),
            None => return pages,
        }
    }
}

pub(super) fn pages_of_evaluations_by_cursor_reach_the_end(store: &dyn Store, _: &TestClock) {
    wait(store.create_key(key("other", 1), None)).unwrap();
    for batch in mixed().chunks(5) {
        wait(store.append(&default_org(), batch.to_vec(), None)).unwrap();
        wait(store.append(&"other".parse().unwrap(), batch.to_vec(), None)).unwrap();
    }
    let all = ids(store, &default_org());
    assert_eq!(all.len(), 12);
    for limit in 1..=13 {
        for (agent, passed, from) in [
            (None, None, None),
            (Some("b"), None, None),
            (None, Some(true), None),
            (None, None, Some(at(-700))),
        ] {
            let agent = agent.map(|agent| agent.parse().unwrap());
            let query = EvaluationQuery { agent, passed, from, limit, ..EvaluationQuery::default() };
            let whole = pages(store, &EvaluationQuery { limit: 100, ..query.clone() }).concat();
            let pages = pages(store, &query);
            assert_eq!(pages.concat(), whole, "{query:?}");
            let (last, before) = pages.split_last().unwrap();
            assert!(before.iter().all(|page| page.len() == limit) && !last.is_empty(), "{query:?}");
        }
    }
    let none = wait(store.evaluations(&default_org(), EvaluationQuery::default())).unwrap();
    assert!(none.evaluations.is_empty() && none.next.is_none(), "a page of nothing");
}

pub(super) fn pages_of_evaluations_by_offset_reach_the_end(store: &dyn Store, _: &TestClock) {
    wait(store.append(&default_org(), mixed(), None)).unwrap();
    let all = ids(store, &default_org());
    for limit in 1..=5 {
        let mut seen = Vec::new();
        for offset in (0..=15).step_by(limit) {
            let query = EvaluationQuery { limit, offset, ..EvaluationQuery::default() };
            let page = wait(store.evaluations(&default_org(), query)).unwrap();
            assert_eq!(page.next.is_some(), offset + limit < all.len(), "{limit} {offset}");
            seen.extend(page.evaluations.into_iter().map(|event| event.id.to_string()));
        }
        assert_eq!(seen, all, "{limit}");
    }
    let second =
        wait(store.evaluations(
            &default_org(),
            EvaluationQuery { limit: 4, offset: 2, ..EvaluationQuery::default() },
        ))
        .unwrap();
    let query = EvaluationQuery { limit: 3, offset: 1, before: second.next, ..EvaluationQuery::default() };
    let after = wait(store.evaluations(&default_org(), query)).unwrap();
    let after: Vec<String> = after.evaluations.iter().map(|event| event.id.to_string()).collect();
    assert_eq!(after, all[7..10], "an offset counts from the cursor");
}

pub(super) fn a_cursor_works_with_other_filters(store: &dyn Store, _: &TestClock) {
    wait(store.append(&default_org(), mixed(), None)).unwrap();
    let page =
        wait(store.evaluations(&default_org(), EvaluationQuery { limit: 4, ..EvaluationQuery::default() }))
            .unwrap();
    // It is at e08, an evaluation of agent a.
    for (agent, expected) in [("a", vec![6, 4, 2, 0]), ("b", vec![7, 5, 3, 1])] {
        let query = EvaluationQuery {
            agent: Some(agent.parse().unwrap()),
            before: page.next,
            ..EvaluationQuery::default()
        };
        assert_eq!(found(store, query), expected, "{agent}");
    }
    let oldest = found(
        store,
        EvaluationQuery {
            before: page.evaluations.last().map(|event| event.position),
            passed: Some(false),
            ..EvaluationQuery::default()
        },
    );
    assert_eq!(oldest, [6, 3, 0]);
}

pub(super) fn writes_between_two_pages_do_not_move_the_second_one(store: &dyn Store, _: &TestClock) {
    wait(store.append(&default_org(), mixed(), None)).unwrap();
    let all = ids(store, &default_org());
    let first =
        wait(store.evaluations(&default_org(), EvaluationQuery { limit: 5, ..EvaluationQuery::default() }))
            .unwrap();
    wait(store.append(&default_org(), evaluations("a", "late", 3), None)).unwrap();
    let rest = pages(store, &EvaluationQuery { limit: 5, before: first.next, ..EvaluationQuery::default() })
        .concat();
    assert_eq!(rest, all[5..]);
}

fn names(store: &dyn Store, query: &AgentQuery) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut query = query.clone();
    loop {
        let page = wait(store.agents(&default_org(), query.clone())).unwrap();
        pages.push(page.agents.iter().map(|agent| agent.agent.to_string()).collect());
        match page.next {
            Some(next) => query.after = Some(next),
            None => return pages,
        }
    }
}

pub(super) fn agents_are_listed_in_each_order_ties_by_name(store: &dyn Store, clock: &TestClock) {
    wait(store.create_key(key("other", 1), None)).unwrap();
    wait(store.append(&"other".parse().unwrap(), vec![evaluation("elsewhere", "x")], None)).unwrap();
    let mut batches = 0..;
    let mut add = |agent: &str, count| {
        fresh(wait(store.append(
            &default_org(),
            evaluations(agent, &format!("batch{}", batches.next().unwrap()), count),
            None,
        )))
    };
    for (minute, agents) in
        [[("m", 2), ("z", 1)], [("k", 2), ("b", 1)], [("~é", 1), ("Z", 9)]].into_iter().enumerate()
    {
        clock.set(60_000 * minute as i64);
        for (agent, count) in agents {
            add(agent, count);
        }
    }
    wait(store.add_agent(&default_org(), "idle".parse().unwrap(), None)).unwrap();
    let table = [
        (AgentSort::LastSeen, ["~é", "idle", "Z", "k", "b", "z", "m"]),
        (AgentSort::Score, ["Z", "k", "m", "b", "z", "~é", "idle"]),
        (AgentSort::Name, ["Z", "b", "idle", "k", "m", "z", "~é"]),
    ];
    for (sort, expected) in table {
        for limit in [1, 2, 3, 7, 8, usize::MAX] {
            let pages = names(store, &AgentQuery { sort, limit, ..AgentQuery::default() });
            assert_eq!(pages.concat(), expected, "{sort:?} {limit}");
            assert_eq!(pages.len(), 7usize.div_ceil(limit), "{sort:?} {limit}");
        }
    }
}

pub(super) fn pages_of_agents_stay_complete_while_agents_move(store: &dyn Store, clock: &TestClock) {
    for (minute, agent) in ["a", "b", "c", "d"].into_iter().enumerate() {
        clock.set(60_000 * minute as i64);
        wait(store.append(&default_org(), evaluations(agent, agent, 1), None)).unwrap();
    }
    for sort in [AgentSort::LastSeen, AgentSort::Score] {
        let query = AgentQuery { sort, limit: 2, ..AgentQuery::default() };
        let page = wait(store.agents(&default_org(), query.clone())).unwrap();
        let last = page.agents[1].agent.clone();
        clock.turn(60_000);
        // The last agent of the page moves to the top. Those after it stay where they were.
        fresh(wait(store.append(&default_org(), evaluations(last.as_str(), &format!("{sort:?}"), 5), None)));
        let rest = names(store, &AgentQuery { after: page.next, ..query }).concat();
        let seen: Vec<&str> = page.agents.iter().map(|agent| agent.agent.as_str()).collect();
        assert_eq!(rest.len(), 2, "{sort:?} {seen:?} {rest:?}");
        assert!(rest.iter().all(|agent| !seen.contains(&agent.as_str())), "{sort:?} {seen:?} {rest:?}");
    }
}

pub(super) fn agents_are_found_by_a_part_of_their_name_ignoring_case(store: &dyn Store, _: &TestClock) {
    for (number, agent) in ["Ärger", "ärmel", "100%", "a_b", "aXb", "GROSS", "groß"].into_iter().enumerate()
    {
        wait(store.append(&default_org(), vec![evaluation(agent, &format!("e{number}"))], None)).unwrap();
    }
    let table: [(&str, &[&str]); 8] = [
        ("är", &["Ärger", "ärmel"]),
        ("ÄR", &["Ärger", "ärmel"]),
        ("%", &["100%"]),
        ("a_B", &["a_b"]),
        ("ss", &["GROSS"]),
        ("", &["100%", "GROSS", "aXb", "a_b", "groß", "Ärger", "ärmel"]),
        ("axb", &["aXb"]),
        ("absent", &[]),
    ];
    for (text, expected) in table {
        for limit in [1, 100] {
            let query = AgentQuery {
                text: Some(text.to_owned()),
                sort: AgentSort::Name,
                limit,
                ..AgentQuery::default()
            };
            assert_eq!(names(store, &query).concat(), expected, "{text:?} {limit}");
        }
    }
}

pub(super) fn agents_are_found_by_lifecycle_and_by_when_they_were_seen(store: &dyn Store, clock: &TestClock) {
    use Lifecycle::{Active, Calibrating, Mature, New};
    // Agents with different numbers of evaluations; the failures of `c` make its score the lowest that is shown.
    for (minute, (agent, count)) in [("a", 500), ("b", 60), ("c", 50), ("d", 49)].into_iter().enumerate() {
        clock.set(60_000 * minute as i64);
        let mut all = evaluations(agent, agent, count);
        for new in &mut all {
            new.passed = agent != "c";
        }
        for part in all.chunks(100) {
            wait(store.append(&default_org(), part.to_vec(), None)).unwrap();
        }
    }
    wait(store.add_agent(&default_org(), "e".parse().unwrap(), None)).unwrap();
    let none = AgentQuery::default;
    let table: [(AgentQuery, &[&str]); 9] = [
        (AgentQuery { sort: AgentSort::Score, ..none() }, &["a", "b", "c", "d", "e"]),
        (AgentQuery { sort: AgentSort::Lowest, ..none() }, &["c", "b", "a"]),
        (AgentQuery { lifecycle: Some(Mature), sort: AgentSort::Score, ..none() }, &["a"]),
        (AgentQuery { lifecycle: Some(Active), sort: AgentSort::Score, ..none() }, &["b", "c"]),
        (AgentQuery { lifecycle: Some(Calibrating), sort: AgentSort::Score, ..none() }, &["d"]),
        (AgentQuery { lifecycle: Some(New), sort: AgentSort::Score, ..none() }, &["e"]),
        (AgentQuery { lifecycle: Some(Active), sort: AgentSort::Lowest, ..none() }, &["c", "b"]),
        (AgentQuery { seen_since: Some(at(120_000)), ..none() }, &["e", "d", "c"]),
        (AgentQuery { seen_since: Some(at(120_001)), sort: AgentSort::Name, ..none() }, &["d", "e"]),
    ];
    for (query, expected) in table {
        for limit in [1, 2, 100] {
            let pages = names(store, &AgentQuery { limit, ..query.clone() });
            assert_eq!(pages.concat(), expected, "{query:?} {limit}");
        }
    }
}

pub(super) fn a_public_agent_is_found_by_its_slug_and_no_other_agent(store: &dyn Store, _: &TestClock) {
    let (org, agent): (_, AgentId) = (default_org(), "a".parse().unwrap());
    wait(store.add_agent(&org, agent.clone(), None)).unwrap();
    let of = |slug: &str| wait(store.public_agent(&slug.parse().unwrap())).unwrap();
    let set = |public| {
        let change =
            PublicationChange { public: Some(public), slug: Some("one".parse().unwrap()), spare: None };
        wait(store.publish(&org, &agent, change)).unwrap();
    };
    assert_eq!(of("one"), None);
    set(true);
    assert_eq!((of("one"), of("two")), (Some((org.clone(), agent.clone())), None));
    set(false);
    assert_eq!(of("one"), None, "it keeps its slug, but is not public");
}

pub(super) fn names_are_kept_exactly_as_they_were_sent(store: &dyn Store, _: &TestClock) {
    // Two spellings of é, a name that is dangerous in SQL, spaces, an astral character, the longest name.
    let longest = "𝄞".repeat(200);
    let agents = [
        "\u{e9}",
        "e\u{301}",
        "'; DROP TABLE agents; --",
        " a",
        "a ",
        "a",
        "🤖",
        "\u{feff}a",
        longest.as_str(),
    ];
    for (number, agent) in agents.into_iter().enumerate() {
        wait(store.append(&default_org(), vec![evaluation(agent, &format!("e{number}"))], None)).unwrap();
    }
    for (number, agent) in agents.into_iter().enumerate() {
        let agent = agent.parse().unwrap();
        assert_eq!(wait(store.tally(&default_org(), &agent)).unwrap().evaluations(), 1, "{agent}");
        assert_eq!(wait(store.agent(&default_org(), &agent)).unwrap().unwrap().agent, agent);
        assert_eq!(
            found(store, EvaluationQuery { agent: Some(agent), ..EvaluationQuery::default() }),
            [number]
        );
    }
    assert_eq!(wait(store.tally(&default_org(), &"E".parse().unwrap())).unwrap().evaluations(), 0);
}

pub(super) fn a_history_has_the_right_steps(store: &dyn Store, _: &TestClock) {
    wait(store.append(&default_org(), mixed(), None)).unwrap();
    // Agent a has the even ones, at 0, −200, … −1000.
    let points = |agent: &str, from, to, count| {
        let steps = HistorySteps::new(at(from), at(to), count).unwrap();
        let points = wait(store.history(&default_org(), &agent.parse().unwrap(), steps)).unwrap();
        points.iter().map(|point| (point.at, point.evaluations)).collect::<Vec<_>>()
    };
    assert_eq!(points("a", -1000, 0, 2), [(at(-1000), 3), (at(-500), 3)]);
    assert_eq!(points("a", -650, -350, 3), [(at(-650), 1), (at(-450), 1)]);
    assert_eq!(points("a", 1, 2, 5), []);
    assert_eq!(points("absent", -1000, 0, 5), []);
    let steps = HistorySteps::new(at(-1000), at(0), 1).unwrap();
    let all = wait(store.history(&default_org(), &"a".parse().unwrap(), steps)).unwrap();
    // The latest in time is the first accepted: a failure without latency, 250 points of latency and 0.3 of volume.
    assert_eq!((all[0].score, all[0].evaluations), (250, 6));
}
