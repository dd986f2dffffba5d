//! Rows of agents that are behind the evaluations: no reader sees a difference.

use std::path::Path;

use renown_store::sqlite::{FILE, Reader};
use renown_store::{
    AgentCursor, AgentQuery, AgentSort, AgentSummary, EvaluationQuery, Evidence, Reads, Store,
};

use crate::support::{
    Scratch, TestClock, at, copy_killed, default_org, evaluation, evaluations, key, open, verify, wait,
};

/// Writes to two organizations that both have an agent of the same name. The rows of agents are not settled
/// afterwards.
fn write(store: &dyn Store, clock: &TestClock) {
    wait(store.create_key(key("other", 1), None)).unwrap();
    for number in 0..12 {
        clock.set(100 * number);
        let mut new = evaluation(&format!("agent-{}", number % 5), &format!("e{number}"));
        new.passed = number % 4 != 0;
        wait(store.append(&default_org(), vec![new], None)).unwrap();
    }
    wait(store.append(&"other".parse().unwrap(), vec![evaluation("agent-0", "e0")], None)).unwrap();
}

/// Returns how many rows of agents are behind.
fn rows_behind(database: &Path) -> i64 {
    let connection = rusqlite::Connection::open(database).unwrap();
    let behind = "SELECT count(*) FROM agents a WHERE a.last_seq IS NOT \
         (SELECT max(seq) FROM evaluations e WHERE e.agent = a.agent)";
    connection.query_row(behind, [], |row| row.get(0)).unwrap()
}

/// Reads every agent, in pages of two.
fn all(sort: AgentSort, mut page: impl FnMut(AgentQuery) -> renown_store::Agents) -> Vec<AgentSummary> {
    let (mut agents, mut after): (Vec<AgentSummary>, Option<AgentCursor>) = (Vec::new(), None);
    loop {
        let found = page(AgentQuery { sort, after: after.take(), limit: 2, ..AgentQuery::default() });
        agents.extend(found.agents);
        match found.next {
            Some(next) => after = Some(next),
            None => return agents,
        }
    }
}

#[test]
fn readers_see_the_evaluations_and_not_the_rows() {
    let scratch = Scratch::new();
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    write(&*store, &clock);
    assert!(rows_behind(&scratch.join(FILE)) > 0, "otherwise this test proves nothing");
    let beside = Reader::open(scratch.path()).unwrap();
    let org = default_org();
    for sort in [AgentSort::LastSeen, AgentSort::Score, AgentSort::Name] {
        let inside = all(sort, |query| wait(store.agents(&org, query)).unwrap());
        assert_eq!(inside, all(sort, |query| wait(beside.agents(&org, query)).unwrap()), "{sort:?}");
        assert_eq!(inside.len(), 5, "{sort:?}");
    }
    let first = &all(AgentSort::LastSeen, |query| wait(beside.agents(&org, query)).unwrap())[0];
    assert_eq!((first.agent.as_str(), first.last_seen), ("agent-1", at(1100)));
    assert_eq!(first.tally.evaluations(), 3);

    let agent = "agent-0".parse().unwrap();
    let query = || EvaluationQuery {
        agent: Some("agent-0".parse().unwrap()),
        limit: 10,
        ..EvaluationQuery::default()
    };
    let ids = |page: renown_store::EvaluationPage| -> Vec<String> {
        page.evaluations.iter().map(|event| event.id.to_string()).collect()
    };
    assert_eq!(ids(wait(store.evaluations(&org, query())).unwrap()), ["e10", "e5", "e0"]);
    assert_eq!(ids(wait(beside.evaluations(&org, query())).unwrap()), ["e10", "e5", "e0"]);
    assert_eq!(wait(beside.agent(&org, &agent)).unwrap(), wait(store.agent(&org, &agent)).unwrap());
    assert_eq!(wait(store.window(&org, &agent)).unwrap().tally().evaluations(), 3);
    let other = "other".parse().unwrap();
    assert_eq!(wait(beside.agent(&other, &agent)).unwrap().unwrap().tally.evaluations(), 1);
    assert_eq!(verify(scratch.path()).unwrap().evaluations, 13);
}

#[test]
fn the_next_process_settles_what_a_killed_process_left() {
    let (scratch, killed) = (Scratch::new(), Scratch::new());
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    write(&*store, &clock);
    copy_killed(scratch.path(), killed.path());
    assert!(rows_behind(&killed.join(FILE)) > 0, "otherwise this test proves nothing");
    let next = open(killed.path(), &clock);
    assert_eq!(rows_behind(&killed.join(FILE)), 0);
    let listed = |store: &dyn Store| {
        all(AgentSort::LastSeen, |query| wait(store.agents(&default_org(), query)).unwrap())
    };
    assert_eq!(listed(&*next), listed(&*store));
    wait(next.append(&default_org(), vec![evaluation("agent-0", "e12")], None)).unwrap();
    drop(next);
    assert_eq!(rows_behind(&killed.join(FILE)), 0, "a process settles when it ends");
    assert_eq!(verify(killed.path()).unwrap().evaluations, 14);
}

#[test]
fn a_window_that_filled_since_it_was_settled_is_read_completely() {
    let (scratch, killed) = (Scratch::new(), Scratch::new());
    let clock = TestClock::at_noon();
    let store = open(scratch.path(), &clock);
    let (org, agent) = (default_org(), "a".parse().unwrap());
    // The first batch is settled at once, and then the clock does not move.
    for (ids, count) in [("first", 490), ("second", 30)] {
        let mut batch = evaluations("a", ids, count);
        batch.iter_mut().step_by(9).for_each(|new| new.passed = false);
        wait(store.append(&org, batch, None)).unwrap();
    }
    assert_eq!(rows_behind(&scratch.join(FILE)), 1, "otherwise this test proves nothing");
    let known = wait(store.agent(&org, &agent)).unwrap();
    assert_eq!(known.as_ref().unwrap().tally.evaluations(), 500);
    assert_eq!(wait(Reader::open(scratch.path()).unwrap().agent(&org, &agent)).unwrap(), known);
    copy_killed(scratch.path(), killed.path());
    let next = open(killed.path(), &clock);
    assert_eq!(wait(next.agent(&org, &agent)).unwrap(), known);
    assert_eq!(verify(killed.path()).unwrap().evaluations, 520);
}
