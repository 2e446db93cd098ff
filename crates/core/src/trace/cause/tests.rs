//! Every rule, one row a situation.

use super::super::event::CallNumber;
use super::*;

fn block(number: u32, file: FileKind, io: bool) -> Block {
    Block {
        call: Some(CallNumber { number, compat: false }),
        fault: false,
        io,
        file,
        inode: 0,
        bitset: false,
    }
}

fn x86(left: Left, number: u32, file: FileKind, io: bool, wake: Context) -> Cause {
    cause_of(Abi::X86_64, left, Some(&block(number, file, io)), Some(&wake))
}

const READ: u32 = 0;
const WRITE: u32 = 1;
const POLL: u32 = 7;
const NANOSLEEP: u32 = 35;
const ACCEPT: u32 = 43;
const VFORK: u32 = 58;
const EXECVE: u32 = 59;
const WAIT4: u32 = 61;
const FSYNC: u32 = 74;
const RENAME: u32 = 82;
const FUTEX: u32 = 202;
const OPENAT: u32 = 257;
const SPLICE: u32 = 275;
const IO_URING_ENTER: u32 = 426;

use FileKind as F;
use Left::{Sleeping as S, Uninterruptible as D};

fn block_irq() -> Context {
    Context::Softirq(Softirq::Block)
}

fn work() -> Context {
    Context::Work("wb_workfn".to_owned())
}

#[test]
fn pipes() {
    assert_eq!(x86(S, READ, F::Pipe, false, Context::Task), Cause::PipeEmpty);
    assert_eq!(x86(S, SPLICE, F::Pipe, false, Context::Task), Cause::PipeEmpty);
    assert_eq!(x86(S, WRITE, F::Pipe, false, Context::Task), Cause::PipeFull);
    assert_eq!(x86(S, POLL, F::Pipe, false, Context::Task), Cause::PipeEmpty);
    assert_eq!(x86(S, OPENAT, F::Pipe, false, Context::Task), Cause::OtherProcess);
}

#[test]
fn children() {
    assert_eq!(x86(S, WAIT4, F::None, false, Context::Task), Cause::Child);
    assert_eq!(x86(D, VFORK, F::None, false, Context::Task), Cause::Child);
    assert_eq!(x86(D, VFORK, F::None, true, block_irq()), Cause::Disk);
}

#[test]
fn disks_and_what_is_written_to_them() {
    assert_eq!(x86(D, READ, F::File, true, block_irq()), Cause::Disk);
    assert_eq!(x86(D, READ, F::BlockDevice, false, block_irq()), Cause::Disk);
    assert_eq!(x86(D, OPENAT, F::None, true, block_irq()), Cause::Disk);
    assert_eq!(x86(D, EXECVE, F::None, false, work()), Cause::Disk);
    assert_eq!(x86(D, FSYNC, F::File, true, work()), Cause::WriteBack);
    assert_eq!(x86(D, FSYNC, F::File, false, Context::Task), Cause::WriteBack);
    assert_eq!(x86(D, WRITE, F::File, true, Context::Timer), Cause::WriteBack);
    assert_eq!(x86(D, WRITE, F::File, true, block_irq()), Cause::WriteBack);
    assert_eq!(x86(S, IO_URING_ENTER, F::Other, false, block_irq()), Cause::Disk);
}

#[test]
fn locks() {
    assert_eq!(x86(S, FUTEX, F::None, false, Context::Task), Cause::Lock);
    assert_eq!(x86(D, RENAME, F::None, false, Context::Task), Cause::Lock);
    assert_eq!(x86(D, WRITE, F::File, false, Context::Task), Cause::Lock);
}

#[test]
fn times() {
    assert_eq!(x86(S, NANOSLEEP, F::None, false, Context::Timer), Cause::Timer);
    assert_eq!(x86(S, FUTEX, F::None, false, Context::Timer), Cause::Timer);
    assert_eq!(x86(S, POLL, F::None, false, Context::Softirq(Softirq::Timer)), Cause::Timer);
    assert_eq!(x86(S, READ, F::Other, false, Context::Timer), Cause::Timer);
}

#[test]
fn sockets_terminals_and_others() {
    assert_eq!(x86(S, READ, F::Socket, false, Context::Softirq(Softirq::Net)), Cause::Network);
    assert_eq!(x86(S, READ, F::Socket, false, Context::Task), Cause::Network);
    assert_eq!(x86(S, POLL, F::None, false, Context::Softirq(Softirq::Net)), Cause::Network);
    assert_eq!(x86(S, ACCEPT, F::UnixSocket, false, Context::Task), Cause::OtherProcess);
    assert_eq!(x86(S, POLL, F::None, false, Context::Task), Cause::OtherProcess);
    assert_eq!(x86(S, READ, F::Other, false, Context::Task), Cause::OtherProcess);
    assert_eq!(x86(S, READ, F::Terminal, false, work()), Cause::Terminal);
}

#[test]
fn stops_and_faults_come_before_the_call() {
    assert_eq!(x86(Left::Stopped, READ, F::Pipe, false, Context::Task), Cause::Stopped);
    let fault = Block { fault: true, ..block(READ, F::Pipe, true) };
    assert_eq!(cause_of(Abi::X86_64, D, Some(&fault), Some(&block_irq())), Cause::PageFault);
    let user = Block { call: None, ..fault };
    assert_eq!(cause_of(Abi::X86_64, D, Some(&user), None), Cause::PageFault);
}

#[test]
fn an_end_that_was_not_seen_leaves_what_the_call_says() {
    assert_eq!(cause_of(Abi::X86_64, S, Some(&block(READ, F::Pipe, false)), None), Cause::PipeEmpty);
    assert_eq!(cause_of(Abi::X86_64, S, Some(&block(WAIT4, F::None, false)), None), Cause::Child);
    assert_eq!(cause_of(Abi::X86_64, S, Some(&block(POLL, F::None, false)), None), Cause::Other);
    assert_eq!(cause_of(Abi::X86_64, S, None, None), Cause::Other);
}

#[test]
fn numbers_of_other_tables_are_understood() {
    let arm = Block { call: Some(CallNumber { number: 63, compat: false }), ..block(0, F::Pipe, false) };
    assert_eq!(cause_of(Abi::Aarch64, S, Some(&arm), Some(&Context::Task)), Cause::PipeEmpty);
    let i386 = Block { call: Some(CallNumber { number: 3, compat: true }), ..arm };
    assert_eq!(cause_of(Abi::X86_64, S, Some(&i386), Some(&Context::Task)), Cause::PipeEmpty);
}

#[test]
fn what_goes_on_after_a_signal_had_a_time_limit() {
    const RESTART: u32 = 219;
    assert_eq!(x86(S, RESTART, F::None, false, Context::Task), Cause::Timer);
    assert_eq!(x86(S, RESTART, F::None, false, Context::Timer), Cause::Timer);
}

#[test]
fn a_ring_says_nothing_by_waiting_for_a_device() {
    assert_eq!(x86(S, IO_URING_ENTER, F::Other, true, Context::Task), Cause::OtherProcess);
    assert_eq!(x86(S, IO_URING_ENTER, F::Other, true, block_irq()), Cause::Disk);
    assert_eq!(x86(S, IO_URING_ENTER, F::Other, true, Context::Timer), Cause::Timer);
}
