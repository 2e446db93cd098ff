//! The messages of a Perfetto trace that are written here, with the numbers of their fields in Perfetto's
//! `perfetto_trace.proto` (v59). A test reads what is written with Perfetto's own Python package where it is installed.

use prost::Message;

/// `TracePacket`; of its `oneof data` one field is set.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Packet {
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) sequence: Option<u32>,
    #[prost(uint32, optional, tag = "13")]
    pub(super) sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "1")]
    pub(super) ftrace: Option<Bundle>,
    #[prost(message, optional, tag = "2")]
    pub(super) processes: Option<ProcessTree>,
    #[prost(message, optional, tag = "6")]
    pub(super) clocks: Option<ClockSnapshot>,
    #[prost(message, optional, tag = "11")]
    pub(super) event: Option<TrackEvent>,
    #[prost(message, optional, tag = "34")]
    pub(super) stats: Option<FtraceStats>,
    #[prost(message, optional, tag = "45")]
    pub(super) system: Option<SystemInfo>,
    #[prost(message, optional, tag = "60")]
    pub(super) track: Option<TrackDescriptor>,
}

/// `Trace`: what a file is. Only tests read one whole.
#[cfg(test)]
#[derive(Clone, PartialEq, Message)]
pub(super) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(super) packets: Vec<Packet>,
}

/// `FtraceEventBundle`: events of one CPU.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Bundle {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub(super) events: Vec<Ftrace>,
}

/// `FtraceEvent`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Ftrace {
    #[prost(uint64, optional, tag = "1")]
    pub(super) timestamp: Option<u64>,
    /// Who was running.
    #[prost(uint32, optional, tag = "2")]
    pub(super) pid: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    pub(super) flags: Option<u32>,
    #[prost(oneof = "Kernel", tags = "4, 17, 20, 114, 235, 236, 237, 238, 239, 240, 491")]
    pub(super) what: Option<Kernel>,
}

/// The event itself.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Kernel {
    #[prost(message, tag = "4")]
    Switch(Switch),
    #[prost(message, tag = "17")]
    Wakeup(Wake),
    #[prost(message, tag = "20")]
    Waking(Wake),
    #[prost(message, tag = "114")]
    WakeupNew(Wake),
    #[prost(message, tag = "235")]
    NewTask(NewTask),
    #[prost(message, tag = "236")]
    Rename(Rename),
    #[prost(message, tag = "237")]
    Exec(Exec),
    #[prost(message, tag = "238")]
    Exit(Exit),
    #[prost(message, tag = "239")]
    Fork(Fork),
    #[prost(message, tag = "240")]
    Free(Free),
    #[prost(message, tag = "491")]
    Migrate(Migrate),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Switch {
    #[prost(string, optional, tag = "1")]
    pub(super) prev_comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) prev_pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) prev_prio: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub(super) prev_state: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) next_comm: Option<String>,
    #[prost(int32, optional, tag = "6")]
    pub(super) next_pid: Option<i32>,
    #[prost(int32, optional, tag = "7")]
    pub(super) next_prio: Option<i32>,
}

/// `SchedWakingFtraceEvent`, `SchedWakeupFtraceEvent` and `SchedWakeupNewFtraceEvent` are alike.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Wake {
    #[prost(string, optional, tag = "1")]
    pub(super) comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) prio: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(super) success: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub(super) target_cpu: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct NewTask {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) comm: Option<String>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) clone_flags: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Rename {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) old: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) new: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Exec {
    #[prost(string, optional, tag = "1")]
    pub(super) filename: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) old_pid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Exit {
    #[prost(string, optional, tag = "1")]
    pub(super) comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) tgid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Fork {
    #[prost(string, optional, tag = "1")]
    pub(super) parent_comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) parent_pid: Option<i32>,
    #[prost(string, optional, tag = "3")]
    pub(super) child_comm: Option<String>,
    #[prost(int32, optional, tag = "4")]
    pub(super) child_pid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Free {
    #[prost(string, optional, tag = "1")]
    pub(super) comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Migrate {
    #[prost(string, optional, tag = "1")]
    pub(super) comm: Option<String>,
    #[prost(int32, optional, tag = "2")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub(super) orig_cpu: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub(super) dest_cpu: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessTree {
    #[prost(message, repeated, tag = "1")]
    pub(super) processes: Vec<Process>,
    #[prost(message, repeated, tag = "2")]
    pub(super) threads: Vec<Thread>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Process {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, repeated, tag = "3")]
    pub(super) cmdline: Vec<String>,
    #[prost(bool, optional, tag = "9")]
    pub(super) cmdline_is_comm: Option<bool>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Thread {
    #[prost(int32, optional, tag = "1")]
    pub(super) tid: Option<i32>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(int32, optional, tag = "3")]
    pub(super) tgid: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    pub(super) clocks: Vec<ClockValue>,
    #[prost(int32, optional, tag = "2")]
    pub(super) primary: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ClockValue {
    #[prost(uint32, optional, tag = "1")]
    pub(super) id: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) timestamp: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FtraceStats {
    #[prost(int32, optional, tag = "1")]
    pub(super) phase: Option<i32>,
    #[prost(message, repeated, tag = "2")]
    pub(super) cpus: Vec<CpuStats>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CpuStats {
    #[prost(uint64, optional, tag = "1")]
    pub(super) cpu: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    pub(super) overrun: Option<u64>,
    #[prost(uint64, optional, tag = "8")]
    pub(super) dropped: Option<u64>,
    #[prost(uint64, optional, tag = "9")]
    pub(super) read: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SystemInfo {
    #[prost(message, optional, tag = "1")]
    pub(super) utsname: Option<Utsname>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Utsname {
    #[prost(string, optional, tag = "1")]
    pub(super) sysname: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(super) version: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(super) release: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(super) machine: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(super) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "4")]
    pub(super) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ThreadDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(int64, optional, tag = "2")]
    pub(super) tid: Option<i64>,
    #[prost(string, optional, tag = "5")]
    pub(super) name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub(super) annotations: Vec<Annotation>,
    #[prost(int32, optional, tag = "9")]
    pub(super) kind: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub(super) track: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    pub(super) categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    pub(super) name: Option<String>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub(super) flows: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub(super) ending_flows: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Annotation {
    #[prost(int64, optional, tag = "4")]
    pub(super) int: Option<i64>,
    #[prost(string, optional, tag = "6")]
    pub(super) string: Option<String>,
    #[prost(string, optional, tag = "10")]
    pub(super) name: Option<String>,
}
