//! Files that are whole, damaged, hostile, or none of ours.

use std::path::PathBuf;

use proptest::prelude::*;
use whyfaster_core::missing::NotMeasured;

use super::*;
#[path = "../../../tests/support/identities.rs"]
mod identities;
use crate::head::{MAX_OTHERS, MAX_VALUES};
use crate::records::two_alternatives;

fn why(bytes: &[u8]) -> String {
    parse::<Record>(bytes).expect_err("this was accepted").0
}

fn changed(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(crate::record_json(&two_alternatives()).unwrap()).unwrap();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1).into_bytes()
}

#[test]
fn what_was_written_is_read_again() {
    let record = two_alternatives();
    let bytes = crate::record_bytes(&record).unwrap();
    assert_eq!(parse::<Record>(&bytes).unwrap(), record);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    crate::write_atomic(&path, &bytes).unwrap();
    assert_eq!(read_record(&path).unwrap(), record);
}

#[test]
fn what_is_written_follows_the_committed_schema() {
    let schema = serde_json::from_str(include_str!("../../../schema/whyfaster-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let record = crate::again::reanalysed(two_alternatives());
    assert!(!record.analysis.levels.is_empty());
    let mut document = serde_json::to_value(&record).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    document["batches"][0]["makespan_s"] = "long".into();
    assert!(!validator.is_valid(&document), "the schema accepts anything");
}

#[test]
fn observed_runs_are_packed_in_a_file_and_come_back_as_they_were() {
    let old = include_bytes!("../../../tests/records/0.1.0-why.json");
    let record = parse::<Record>(old).unwrap();
    assert!(!record.why.traced.is_empty());
    let bytes = crate::record_bytes(&record).unwrap();
    let json = serde_json::to_vec(&record).unwrap();
    assert!(2 * bytes.len() < json.len(), "{} of {} bytes", bytes.len(), json.len());
    // Records of before have them as they are.
    assert!(json.windows(9).any(|it| it == b"\"traced\":"));
    assert_eq!(parse::<Record>(&json).unwrap(), record);
    let stored: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert!(stored["observed"].is_string() && stored.get("traced").is_none());
    assert_eq!(parse::<Record>(&bytes).unwrap(), record);
}

#[test]
fn the_numbers_of_old_records_can_be_true() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/records");
    let files = ["batch", "closed", "why", "flip"].map(|kind| format!("{folder}/0.1.0-{kind}.json"));
    for file in files {
        let record = crate::again::reanalysed(read_record(Path::new(&file)).unwrap());
        assert!(!record.analysis.levels.is_empty(), "{file}");
        identities::assert_identities(&record);
    }
}

#[test]
fn packed_runs_that_are_damaged_or_hostile_are_refused() {
    let packed = |bytes: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut packer, bytes).unwrap();
        data_encoding::BASE64.encode(&packer.finish().unwrap())
    };
    let refused = |observed: &str| {
        let mut record = two_alternatives();
        record.why.observed = Some(observed.to_owned());
        let why = why(&serde_json::to_vec(&record).unwrap());
        assert!(why.contains("wrong form") && why.contains("observed"), "{why}");
        why
    };
    refused("no base64");
    refused("bm8gZ3ppcA==");
    let whole = packed(b"{}");
    refused(&whole[..whole.len() / 8 * 4]);
    refused(&packed(b"{\"traced\":[{}]}"));
    refused(&packed(b"{\"traced\":["));
    assert!(refused(&packed(&vec![b','; MAX_VALUES + 1])).contains("more than"));
    let many = format!("{{\"later\":[{}0]}}", "0,".repeat(MAX_OTHERS));
    assert!(refused(&packed(many.as_bytes())).contains("beside what was measured"));
}

#[test]
fn an_analysis_that_is_redone_is_the_same() {
    let of_runner = NotMeasured::told("level 1000", "no memory");
    let mut record = two_alternatives();
    record.skipped.push(of_runner.clone());
    let once = crate::again::reanalysed(record);
    assert!(once.analysis.not_measured.contains(&of_runner));
    let bytes = crate::record_bytes(&once).unwrap();
    let again = crate::again::reanalysed(parse(&bytes).unwrap());
    assert!(again == once, "{:?} became {:?}", once.analysis, again.analysis);
}

#[test]
fn files_that_are_none_are_named_with_the_next_step() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    let cases = [
        (directory.path().join("none"), "No such file"),
        (directory.path().to_owned(), "directory"),
        (empty.clone(), "it is empty"),
        (empty.join("x"), "Not a directory"),
        (PathBuf::from("/dev/null"), "it is empty"),
    ];
    for (path, expected) in cases {
        let failure = read_record(&path).unwrap_err();
        assert_eq!(failure.exit, Exit::Error);
        assert!(failure.message.contains(expected), "{failure}");
        assert!(failure.message.contains(&path.display().to_string()), "{failure}");
        assert!(failure.hint.is_some());
    }
}

#[test]
fn damage_is_told_apart() {
    let whole = crate::record_json(&two_alternatives()).unwrap();
    assert!(why(&whole[..whole.len() / 2]).contains("ends in the middle"));
    for cut in
        ["{\"schema\": 0.", "{\n\"schema\": 1e", "{\"schema\": -", "{\"schema\": tru", "{\"schema\"", "{"]
    {
        assert!(why(cut.as_bytes()).contains("ends in the middle"), "{cut}: {}", why(cut.as_bytes()));
    }
    assert!(why(b"hello").contains("not JSON"));
    assert!(why(b"\xff\xfe\0").contains("not JSON"));
    // Nothing says that these ever were ours.
    assert!(why(b"[]").contains("no object") && why(b"1\n2\n").contains("JSON"));
    assert!(why(b"{}").contains("without a 'schema'"));
    assert!(why(b"{\"schema\":\"whyfaster/2\",\"plan\":3}").contains("a newer whyfaster wrote it"));
    assert!(why(b"{\"schema\":\"bench/1\"}").contains("its schema is 'bench/1'"));
    assert!(why(b"{\"schema\":1}").contains("wrong form"));
    assert!(why(b"{\"schema\":\"whyfaster/1\"}").contains("missing field"));
    assert!(why(&changed("\"baseline\": 0", "\"baseline\": 99")).contains("plan.baseline"));
    assert!(why(&changed("\"baseline\": 0", "\"baseline\": -1")).contains("wrong form"));
    assert!(why(&changed("\"took_s\": ", "\"took_s\": NaN, \"x\": ")).contains("not JSON"));
    assert!(why(&changed("\"took_s\": ", "\"took_s\": 1e999, \"x\": ")).contains("out of range"));
    assert!(why(&changed("\"took_s\": ", "\"took_s\": null, \"x\": ")).contains("wrong form"));
    assert!(why(&changed("\"took_s\": ", "\"took_s\": -1, \"x\": ")).contains("took_s"));
}

#[test]
fn hostile_depth_and_number_of_values_are_bounded() {
    let (open, close) = (vec![b'['; 100_000], vec![b']'; 100_000]);
    let deep = [b"{\"schema\":\"whyfaster/1\",\"levels\":".to_vec(), open, close, b"}".to_vec()].concat();
    assert!(why(&deep).contains("recursion limit"));
    let many = vec![b','; MAX_VALUES + 1];
    assert!(why(&many).contains("more than"));
    // Values that are set aside while reading take many times their bytes in memory.
    let many = format!("\"later\": [{}0], \"took_s\"", "0,".repeat(MAX_OTHERS));
    assert!(why(&changed("\"took_s\"", &many)).contains("beside what was measured"));
    let few = format!("\"later\": [{}0], \"took_s\"", "0,".repeat(1000));
    assert!(parse::<Record>(&changed("\"took_s\"", &few)).is_ok());
}

#[test]
fn fields_of_a_later_minor_version_are_passed_over() {
    assert_eq!(
        parse::<Record>(&changed("\"took_s\"", "\"new_in_1_1\": {\"a\": [1]}, \"took_s\"")).unwrap(),
        two_alternatives()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_truncation_is_taken_for_a_record(cut in any::<prop::sample::Index>()) {
        let whole = crate::record_json(&two_alternatives()).unwrap();
        let end = whole.trim_ascii_end().len();
        prop_assert!(parse::<Record>(&whole[..cut.index(end)]).is_err());
    }

    #[test]
    fn no_flipped_bytes_make_it_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = crate::record_json(&two_alternatives()).unwrap();
        for (place, byte) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= byte;
        }
        if let Ok(record) = parse::<Record>(&bytes) {
            // What is accepted must survive all that follows.
            crate::again::reanalysed(record);
        }
    }
}
