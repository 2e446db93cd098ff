//! A store that a server keeps: a server that restarts, writers that are cut off, who is let in, and what proves that it is the right one.

#![allow(clippy::unwrap_used, reason = "functions of tests, which end by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::Duration;

use crate::gate::store::{self, tests_of_the_store};
use crate::support::fleets::{CPUS, comparison, lists, price_list, write};
use crate::support::needs::{mounts, needs, root};
use crate::support::postgres::{PASSWORD, Postgres};
use crate::support::stores::Store;
use crate::support::{Running, Sandbox, eventually};
use rustix::process::Signal;

macro_rules! on_a_server {
    ($($test:ident),* $(,)?) => {
        /// What holds for every store.
        mod every {
            $(#[test] fn $test() { super::store::$test(&super::needs!(super::Store::server())); })*
        }
    };
}

tests_of_the_store!(on_a_server);

/// Holds up everybody who writes prices, as long as the connection lasts, and waits until somebody is held up.
fn hold_up(store: &Store) -> (Running, Running) {
    let server = store.server.as_ref().unwrap();
    let port = server.port.to_string();
    let lock = "BEGIN; LOCK TABLE price IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(200)";
    let session = ["-qAtX", "-h", &server.socket(), "-p", &port, "-U", "team", "-d", "fleet", "-c", lock];
    let holder = store.begin(store.command("psql", &session));
    let waiting = |kind: &str| {
        let ask = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = '{kind}' AND datname = 'fleet' AND wait_event <> 'ClientRead'"
        );
        server.sql("postgres", &ask) != "0"
    };
    eventually("the tables are locked", || waiting("Timeout"));
    let loader = store.start(&["store", "add", "lists"]);
    eventually("the loader waits", || waiting("Lock"));
    (holder, loader)
}

#[test]
fn a_server_that_restarts_in_the_middle_costs_nothing() {
    let mut store = needs!(Store::server());
    for seed in 0..4 {
        lists(&store, &format!("lists/{seed}"), seed, "6.1", |_, _, _| 0.0);
    }
    store.run(&["store", "add", "lists/0"]).ok();
    let (_holder, loader) = hold_up(&store);
    let server = store.server.as_mut().unwrap();
    server.down();
    // Who comes in between is told.
    thread::sleep(Duration::from_millis(500));
    server.up();
    let said = loader.wait().ok().out;
    assert!(said.contains("added 72 records") && said.contains("24 were there already"), "{said}");
    assert_eq!(store.listed(&[]).len(), 96);
    assert_eq!(
        store.server.as_ref().unwrap().sql("fleet", "SELECT count(*) FROM price"),
        (96 * 40).to_string()
    );
}

#[test]
fn a_loader_that_is_killed_leaves_nothing_half_done() {
    let store = needs!(Store::server());
    lists(&store, "lists", 1, "6.1", |_, _, _| 0.0);
    write(&store, "one.json", &price_list("one", CPUS[0], "6.1", |_, _| 0.0));
    store.run(&["store", "add", "one.json"]).ok();
    let (holder, loader) = hold_up(&store);
    loader.signal(Signal::KILL);
    loader.wait();
    holder.signal(Signal::KILL);
    let server = store.server.as_ref().unwrap();
    // The server notices when it has something to say to it.
    server.sql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'fleet'");
    eventually("its transaction is gone", || {
        server.sql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE datname = 'fleet'") == "0"
    });
    assert_eq!(store.listed(&[]).len(), 1);
    let said = store.run(&["store", "add", "lists", "one.json"]).ok().out;
    assert!(said.contains("added 24 records") && said.contains("1 were there already"), "{said}");
    assert_eq!(server.sql("fleet", "SELECT count(*) FROM price"), (25 * 40).to_string());
}

#[test]
fn a_full_disk_of_the_server_is_told_and_what_was_added_stays() {
    needs!(root());
    needs!(mounts());
    let mut store = needs!(Store::server());
    store.server.as_mut().unwrap().up_with_small_disk("fleet", "2m");
    for seed in 0..16 {
        lists(&store, &format!("lists/{seed}"), seed, "6.1", |_, _, _| 0.0);
    }
    store
        .run(&["store", "add", "lists"])
        .expect_error(1, &["postgres://team@localhost", "is full", "were added", "is ever counted twice"]);
    let before = store.listed(&[]).len();
    assert!((1..16 * 24).contains(&before), "{before}");
    let server = store.server.as_ref().unwrap();
    server.enlarge_disk("64m");
    let said = store.run(&["store", "add", "lists"]).ok().out;
    assert!(said.contains(&format!("added {} records", 16 * 24 - before)), "{before} before: {said}");
    assert_eq!(server.sql("fleet", "SELECT count(*) FROM price"), (16 * 24 * 40).to_string());
}

/// What every verb says of this store, which must be an error that gives no password away.
#[track_caller]
fn refused(place: &Sandbox, address: &str, said: &[&str]) {
    for verb in [&["store", "add", "lists"][..], &["store", "list"], &["fleet", "report"]] {
        let ran = place.run(&[verb, &["--store", address]].concat());
        ran.expect_error(1, said);
        assert!(!ran.err.contains("s3cr3t") && !ran.err.contains("wr0ng"), "{}", ran.err);
    }
}

#[test]
fn who_is_not_let_in_is_told_why_and_no_password_is_shown() {
    let server = needs!(Postgres::start());
    let address = server.database("fleet");
    let place = Sandbox::new();
    lists(&place, "lists", 1, "6.1", |_, _, _| 0.0);
    let with = |password: &str| address.replace("team@", &format!("team:{password}@"));
    refused(&place, &address, &["wants a password", "PGPASSWORD", ".pgpass"]);
    refused(&place, &with("wr0ng"), &["password authentication failed", "postgres://team@localhost"]);
    let right = PASSWORD.replace('/', "%2F");
    place.run(&["store", "add", "lists", "--store", &with(&right)]).ok();
    refused(&place, &with(&right).replace("/fleet", "/none"), &["\"none\" does not exist"]);
    refused(&place, &with(&right).replace("localhost", "nowhere.invalid"), &["cannot be reached", "host"]);
    let closed = format!("postgres://team:{right}@127.0.0.1:1/fleet");
    refused(&place, &closed, &["cannot be reached", "refused"]);
    for wrong in ["?sslmode=never", "?colour=red"] {
        let ran = place.run(&["store", "list", "--store", &format!("{}{wrong}", with(&right))]);
        ran.expect(2, &["--store"]);
        assert!(!ran.err.contains("s3cr3t"), "{}", ran.err);
    }
    // By the file that libpq has, which nobody else may read.
    place.write("pgpass", format!("localhost:*:fleet:team:{PASSWORD}\n"));
    fs::set_permissions(place.path("pgpass"), Permissions::from_mode(0o600)).unwrap();
    let by_file = format!("{address}?passfile={}", place.file("pgpass"));
    assert_eq!(place.run(&["store", "list", "--json", "--store", &by_file]).json()["all"], 24);
    fs::set_permissions(place.path("pgpass"), Permissions::from_mode(0o644)).unwrap();
    refused(&place, &by_file, &["wants a password"]);
    // By the socket none is asked for; the store says where it is.
    let socket = format!("postgres://team@/fleet?host={}&port={}", server.socket(), server.port);
    let said = place.run(&["store", "add", "lists", "--store", &socket]).ok().out;
    assert!(said.contains("24 were there already"), "{said}");
}

#[test]
fn tls_proves_as_much_as_is_asked_for() {
    let server = needs!(Postgres::start());
    server.database("fleet");
    let place = Sandbox::new().with("PGPASSWORD", PASSWORD);
    lists(&place, "lists", 1, "6.1", |_, _, _| 0.0);
    let at = |host: &str, more: &str| format!("{}?{more}", server.address(host, "fleet"));
    let ca = format!("sslrootcert={}", server.authority());
    let secure = |address: &str| place.run(&["store", "add", "lists", "--store", address]).ok();
    for mode in ["disable", "prefer", "require"] {
        secure(&at("127.0.0.1", &format!("sslmode={mode}")));
    }
    secure(&at("localhost", &format!("sslmode=verify-full&{ca}")));
    // The certificate is for localhost.
    secure(&at("127.0.0.1", &format!("sslmode=verify-ca&{ca}")));
    refused(
        &place,
        &at("127.0.0.1", &format!("sslmode=verify-full&{ca}")),
        &["not valid for name", "sslrootcert"],
    );
    // Nobody whom the system trusts has signed it.
    refused(
        &place,
        &at("localhost", "sslmode=verify-full&sslrootcert=system"),
        &["UnknownIssuer", "sslrootcert=FILE"],
    );
    refused(&place, &at("localhost", "sslmode=verify-full&sslrootcert=none.pem"), &["'none.pem'"]);
    // A server that has no TLS, and one that has nothing else.
    let says = |mode: &str| {
        place.run(&["store", "list", "--store", &at("localhost", &format!("sslmode={mode}"))]).err
    };
    let rules = "VALUES ('local all all trust'), ('hostssl all all all scram-sha-256')";
    server.sql("postgres", &format!("COPY ({rules}) TO PROGRAM 'cat > pg_hba.conf'"));
    server.sql("postgres", "SELECT pg_reload_conf()");
    eventually("only TLS is let in", || says("disable").contains("no encryption"));
    secure(&at("localhost", "sslmode=prefer"));
    server.sql("postgres", "ALTER SYSTEM SET ssl = off");
    server.sql("postgres", "SELECT pg_reload_conf()");
    eventually("there is no TLS", || says("require").contains("does not support TLS"));
}

#[test]
fn tables_of_others_are_left_alone_and_rights_are_asked_for() {
    let server = needs!(Postgres::start());
    let address = server.database("fleet");
    let place = Sandbox::new().with("PGPASSWORD", PASSWORD);
    lists(&place, "lists", 1, "6.1", |_, _, _| 0.0);
    server.sql("fleet", "CREATE TABLE record (theirs TEXT); CREATE SCHEMA ours");
    refused(&place, &address, &["holds tables of others", "search_path"]);
    let tables = "SELECT string_agg(relname, ',') FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    assert_eq!(server.sql("fleet", tables), "record");
    // Beside them.
    let beside = format!("{address}?options=-csearch_path%3Dours");
    place.run(&["store", "add", "lists", "--store", &beside]).ok();
    // Who may only read has reports, and adds nothing.
    server.sql(
        "fleet",
        "CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT USAGE ON SCHEMA ours TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA ours TO reader",
    );
    let reader = beside.replace("team@", "reader:reader@");
    place.run(&["fleet", "report", "--store", &reader]).ok();
    place
        .run(&["store", "add", "lists", "--store", &reader])
        .expect_error(1, &["permission denied", "rights"]);
    // Nobody measures for a store that does not take it.
    let save =
        ["compare", "-N", "--why=no", "--save", "--store", &reader, "touch measured", "touch measured"];
    place.run(&save).expect_error(1, &["permission denied"]);
    assert!(!place.path("measured").exists());
    server.sql(
        "fleet",
        "CREATE ROLE writer LOGIN PASSWORD 'writer'; GRANT USAGE ON SCHEMA ours TO writer; GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA ours TO writer",
    );
    // A further connection would be refused: one is enough.
    server.sql("fleet", "ALTER ROLE writer CONNECTION LIMIT 1");
    let writer = beside.replace("team@", "writer:writer@");
    lists(&place, "more", 2, "6.12", |_, _, _| 0.0);
    let said = place.run(&["store", "add", "more", "--store", &writer]).ok().out;
    assert!(said.contains("added 24 records"), "{said}");
    place.run(&["store", "remove", "1", "--store", &writer]).expect_error(1, &["permission denied"]);
}

#[test]
fn a_store_of_the_version_before_is_brought_up_with_its_answers() {
    let store = needs!(Store::server());
    for at in 0..3 {
        write(&store, &format!("runs/node{at}.json"), &comparison(CPUS[at % 2], 0.5 + at as f64));
    }
    store.run(&["store", "add", "--name-by-file", "runs"]).ok();
    let answers = "SELECT md5(string_agg(answer, '' ORDER BY question, machine)) FROM comparison";
    let version = "SELECT version FROM whyfaster_store";
    let server = store.server.as_ref().unwrap();
    let before = (server.sql("fleet", answers), server.sql("fleet", version));
    store.execute(
        "ALTER TABLE comparison DROP COLUMN answer; ALTER TABLE question DROP COLUMN arrivals, DROP COLUMN starts_per_1000_s; \
         UPDATE whyfaster_store SET version = 1; \
         CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    );
    let reader = store.address.replace("team@", "reader:reader@");
    let read = ["fleet", "report", "--store", &reader];
    store.run(&read).expect_error(1, &["a store of version 1", "its owner is to open first"]);
    store.run(&["fleet", "report"]).ok();
    store.run(&read).ok();
    assert_eq!((server.sql("fleet", answers), server.sql("fleet", version)), before);
}
