//! Names of system calls and errors. The tables are the `syscalls` crate's, which are made from the kernel's.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use syscalls::Errno;

use super::event::CallNumber;

/// Which table of system calls a kernel has. Each has a 32-bit one beside it, for `compat` calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Abi {
    /// x86-64, with i386 beside it.
    X86_64,
    /// 64-bit Arm, with 32-bit Arm beside it.
    Aarch64,
}

/// x32 programs number their calls like 64-bit ones, with this bit set (`__X32_SYSCALL_BIT`).
const X32: u32 = 0x4000_0000;

/// Its number where numbers follow the kernel's generic table.
const NEWFSTATAT: usize = 79;

impl Abi {
    /// The table of the machine that whyfaster was built for.
    pub const HOST: Self = if cfg!(target_arch = "aarch64") { Self::Aarch64 } else { Self::X86_64 };

    /// The name of a call, if the table knows it.
    pub fn known(self, call: CallNumber) -> Option<&'static str> {
        let x32 = self == Self::X86_64 && !call.compat && call.number & X32 != 0;
        let number = usize::try_from(if x32 { call.number & !X32 } else { call.number }).ok()?;
        match (self, call.compat) {
            (Self::X86_64, false) => syscalls::x86_64::Sysno::new(number).map(|call| call.name()),
            (Self::X86_64, true) => syscalls::x86::Sysno::new(number).map(|call| call.name()),
            // The kernel's name (include/uapi/asm-generic/unistd.h), which is that of x86-64, too. The table has another one.
            (Self::Aarch64, false) if number == NEWFSTATAT => Some("newfstatat"),
            (Self::Aarch64, false) => syscalls::aarch64::Sysno::new(number).map(|call| call.name()),
            (Self::Aarch64, true) => syscalls::arm::Sysno::new(number).map(|call| call.name()),
        }
    }

    /// The name of a call; one that the table does not know is shown by its number, as strace does.
    pub fn name(self, call: CallNumber) -> Cow<'static, str> {
        match self.known(call) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("syscall_{:#x}", call.number)),
        }
    }
}

/// Whether this is the name of a call in any table of this machine.
pub fn is_call(name: &str) -> bool {
    calls().any(|known| known == name)
}

/// The names of all calls of this machine, those of 32-bit programs behind the others.
pub fn calls() -> impl Iterator<Item = &'static str> {
    // No table is longer; x86-64 has gaps below 512, and 32-bit Arm has a few numbers far above.
    let table = |compat| (0..1024).filter_map(move |number| Abi::HOST.known(CallNumber { number, compat }));
    table(false).chain(table(true))
}

/// The name of a call of this machine.
pub fn call_name(call: CallNumber) -> Cow<'static, str> {
    Abi::HOST.name(call)
}

/// Errors that never leave the kernel: a call with one of these is made again, or becomes `EINTR`
/// (`include/linux/errno.h`). A tracer sees them.
const WITHIN: [(i32, &str); 5] = [
    (512, "ERESTARTSYS"),
    (513, "ERESTARTNOINTR"),
    (514, "ERESTARTNOHAND"),
    (515, "ENOIOCTLCMD"),
    (516, "ERESTART_RESTARTBLOCK"),
];

/// The name of an error number.
pub fn errno_name(errno: i32) -> Cow<'static, str> {
    let within = WITHIN.iter().find(|(number, _)| *number == errno).map(|(_, name)| *name);
    match within.or_else(|| Errno::new(errno).name()) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("error {errno}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u32, compat: bool) -> CallNumber {
        CallNumber { number, compat }
    }

    #[test]
    fn each_table_has_its_own_numbers() {
        assert_eq!(Abi::X86_64.name(call(0, false)), "read");
        assert_eq!(Abi::X86_64.name(call(3, true)), "read");
        assert_eq!(Abi::Aarch64.name(call(63, false)), "read");
        assert_eq!(Abi::Aarch64.name(call(3, true)), "read");
        assert_eq!(Abi::Aarch64.name(call(79, false)), "newfstatat");
        assert_eq!(Abi::X86_64.name(call(231, false)), "exit_group");
        assert_eq!(Abi::X86_64.name(call(435, false)), "clone3");
    }

    #[test]
    fn x32_calls_have_the_names_of_64_bit_ones() {
        assert_eq!(Abi::X86_64.name(call(X32 | 1, false)), "write");
        assert_eq!(Abi::X86_64.name(call(X32 | 1, true)), "syscall_0x40000001");
    }

    #[test]
    fn an_unknown_call_is_shown_by_number() {
        assert_eq!(Abi::X86_64.name(call(9999, false)), "syscall_0x270f");
        assert_eq!(Abi::X86_64.name(call(u32::MAX, false)), "syscall_0xffffffff");
    }

    #[test]
    fn errors_have_names_those_within_the_kernel_too() {
        assert_eq!(errno_name(2), "ENOENT");
        assert_eq!(errno_name(11), "EAGAIN");
        assert_eq!(errno_name(35), "EDEADLK");
        assert_eq!(errno_name(512), "ERESTARTSYS");
        assert_eq!(errno_name(4000), "error 4000");
    }
}
