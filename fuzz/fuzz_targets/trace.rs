//! No bytes make a trace that is accepted and then breaks its analysis.

#![no_main]

use libfuzzer_sys::fuzz_target;
use whyfaster_core::trace::record::TraceRecord;

fuzz_target!(|bytes: &[u8]| {
    let Ok(record) = serde_json::from_slice::<TraceRecord>(bytes) else { return };
    if record.validate().is_ok()
        && let Some(schedule) = &record.schedule
    {
        let _ = schedule.analyse();
    }
});
