//! What a tracer streams: who ran where and when, what made a task wait, who woke it, and the forks, execs and exits.
//!
//! Events of one CPU come in order; a tracer hands them on sorted by time over all CPUs. Times are nanoseconds of
//! `CLOCK_MONOTONIC`. A task is a thread (the kernel's pid), a process a thread group (the kernel's tgid).

use serde::{Deserialize, Serialize};

/// Number of a task: what `gettid()` returns in the initial pid namespace.
pub type Tid = u32;

/// Number of a process: what `getpid()` returns in the initial pid namespace.
pub type Pid = u32;

/// One streamed record.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, nanoseconds of `CLOCK_MONOTONIC`.
    pub at: u64,
    /// CPU on which it happened.
    pub cpu: u16,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A CPU went from one task to another; task 0 is idle. Streamed for the whole machine.
    Switch {
        /// Who left the CPU.
        prev: Tid,
        /// Who got it.
        next: Tid,
        /// In which state the former left.
        left: Left,
        /// Where it blocked, if it did and belongs to the traced tree.
        block: Option<Block>,
    },
    /// A task was made runnable (`sched_waking`, or `sched_wakeup_new` for a new one).
    Wake {
        /// Who was woken.
        wakee: Tid,
        /// Who was running where the wake-up came from; meaningless outside of [`Context::Task`], [`Context::Work`] and
        /// [`Context::Sent`].
        waker: Tid,
        /// In which context it was done.
        context: Context,
    },
    /// A woken task was put on the run queue of this CPU (`sched_wakeup`: the CPU is chosen after `sched_waking`).
    Queued {
        /// Who.
        task: Tid,
        /// On which CPU it waits.
        on: u16,
    },
    /// A runnable task was moved to another CPU's run queue.
    Migrate {
        /// Who.
        task: Tid,
        /// From this CPU.
        from: u16,
        /// To this one.
        to: u16,
    },
    /// A task of the tree made another; also the first task of the tree, with `parent` 0.
    Fork {
        /// Who made it.
        parent: Tid,
        /// The new task.
        child: Tid,
        /// Its process.
        process: Pid,
        /// CPUs on which the new task may run, one bit each, lowest word first.
        allowed: Vec<u64>,
    },
    /// A process of the tree began another program.
    Exec {
        /// The task, which has the process's number from now on.
        task: Tid,
        /// The number it had before (another thread than the first may exec).
        former: Tid,
        /// The kernel's name of the program (`comm`).
        name: String,
        /// The path, if it could be read.
        path: Option<String>,
        /// What the kernel had counted for the task when the program before this one was left, since it was made.
        /// [`Totals::default`] where nobody asked the kernel then.
        so_far: Totals,
    },
    /// The program that a process began is a script. Sent behind its [`What::Exec`].
    Script {
        /// Who.
        task: Tid,
        /// The path of the script, or its name.
        script: String,
        /// The path of what runs it, as the script's first line has it.
        interpreter: String,
    },
    /// Who made a task that was there before the trace. Sent behind its [`What::Fork`].
    Below {
        /// Who.
        task: Tid,
        /// The process that made its process, or has taken it over.
        parent: Pid,
    },
    /// A task that was there before the trace is blocked, and where. Sent behind its [`What::Fork`].
    Waits {
        /// Who.
        task: Tid,
        /// In which state.
        left: Left,
        /// Where.
        block: Block,
    },
    /// Pipes at the standard descriptors of a task. Sent behind its [`What::Exec`], so that a pipeline is known whose
    /// stages never waited for each other.
    Pipes {
        /// Who.
        task: Tid,
        /// Inode of the pipe that it reads as standard input; 0: none.
        input: u64,
        /// Inode of the pipe that it writes as standard output; 0: none.
        output: u64,
    },
    /// An exec of the tree failed.
    ExecFailed {
        /// Who tried.
        task: Tid,
        /// Which path, if it could be read.
        path: Option<String>,
        /// The error number.
        errno: i32,
    },
    /// A task of the tree may run on other CPUs from now on.
    Allowed {
        /// Who.
        task: Tid,
        /// One bit per CPU, lowest word first.
        cpus: Vec<u64>,
    },
    /// A task of the tree ended, or was still there when the trace did. Sent after its last switch.
    End {
        /// Who.
        task: Tid,
        /// Its process.
        process: Pid,
        /// Exit code, or minus the number of the signal that ended it; `None`: it was still there.
        status: Option<i32>,
        /// What the kernel counted for it.
        totals: Totals,
    },
    /// A task is not to be observed, or no more: it is like any task outside of the tree from here on, and named as one
    /// behind this.
    Skipped(Skipped),
    /// A task is known by this name from now on: any task of the machine, once before it first matters.
    Name {
        /// Who.
        task: Tid,
        /// Its process.
        process: Pid,
        /// The kernel's name of it (`comm`).
        name: String,
        /// What kind of task it is.
        kind: TaskKind,
    },
    /// A kernel worker began to execute this function.
    Work {
        /// The worker.
        task: Tid,
        /// The name of the function, or its address where names are hidden.
        function: String,
    },
    /// A system call of the tree ended, or never returned. Only when calls are asked for one by one; `at` is its end.
    Call(Call),
    /// How much of the CPU time that a task of the tree has had since it joined it went into system calls. Sent before
    /// a switch away from it, a wake-up or a fork by it, so that its turn splits into user code and kernel.
    Spent {
        /// Who.
        task: Tid,
        /// Nanoseconds of CPU time within system calls.
        call_run_ns: u64,
    },
    /// The start-up of a program is over: the dynamic loader and the runtime have read what they need (the last look at a
    /// file below the system's directories before the program did anything of its own).
    Started {
        /// Who.
        task: Tid,
        /// CPU time from the exec to the end of the start-up, nanoseconds.
        run_ns: u64,
        /// Of that: within system calls.
        call_run_ns: u64,
    },
    /// A process goes on as a program of its own without an exec: after its fork it does what no child does that is about to begin
    /// another program.
    LivesOn {
        /// Who.
        task: Tid,
        /// What the kernel had counted for the task until then, since it was made.
        so_far: Totals,
    },
    /// We end the tree: whoever waits now would have waited on, and what follows is the end that we make of it.
    Stop,
    /// A stack. Only when asked for.
    Stack(Stack),
    /// The ring had no room for records between the event before and the next one; they are in the counts of what was
    /// lost, too.
    Lost {
        /// How many; 0: they were told with another such place.
        records: u64,
    },
}

/// A task that was to be followed, and that the caller may not observe.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// Who.
    pub task: Tid,
    /// Its process.
    pub process: Pid,
    /// The kernel's name of it (`comm`).
    pub name: String,
    /// Why.
    pub why: NotOurs,
    /// What the kernel counted while it was of the tree; `None`: it never was.
    pub totals: Option<Totals>,
}

/// Why a caller may not observe a task: what ptrace(2) asks for to look into another one's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotOurs {
    /// One of its user and group ids is not the caller's.
    OtherUser,
    /// It has capabilities that the caller does not have.
    Capabilities,
    /// It lets nobody look into its memory: `PR_SET_DUMPABLE`, or a program that the caller may not read.
    NotDumpable,
    /// It is in a user namespace that the caller did not make.
    UserNamespace,
    /// The kernel refused without saying why.
    Refused,
}

/// In which state a task left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It could have run on: it waits for a CPU again.
    Runnable,
    /// The same, but the CPU quota of its cgroup was used up.
    Throttled,
    /// Asleep, a signal would wake it (`S`).
    Sleeping,
    /// Asleep, no signal wakes it (`D`).
    Uninterruptible,
    /// Stopped by a signal or a tracer (`T`, `t`).
    Stopped,
    /// It ended.
    Dead,
}

/// Where a task of the tree blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// In which system call, if in one.
    pub call: Option<CallNumber>,
    /// While the kernel served a page fault.
    pub fault: bool,
    /// The scheduler counts it as waiting for input or output (`in_iowait`).
    pub io: bool,
    /// What the descriptor of the call is.
    pub file: FileKind,
    /// Inode of the file, to find the other end of a pipe; 0: none.
    pub inode: u64,
    /// A futex wait with a bitset: so glibc waits for threads and conditions, and not for a mutex.
    pub bitset: bool,
}

/// What a descriptor refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// The call has no descriptor, or it could not be looked up.
    #[default]
    None,
    /// A pipe or FIFO.
    Pipe,
    /// A regular file or directory.
    File,
    /// A block device.
    BlockDevice,
    /// A terminal.
    Terminal,
    /// Another character device.
    CharDevice,
    /// A socket between processes of this machine (`AF_UNIX`).
    UnixSocket,
    /// Any other socket, and at level `ptrace` any socket.
    Socket,
    /// Anything else: epoll, eventfd, timerfd, pidfd, ...
    Other,
}

impl FileKind {
    /// Files and devices have a path.
    pub fn has_path(self) -> bool {
        matches!(self, Self::File | Self::BlockDevice | Self::Terminal | Self::CharDevice)
    }
}

/// A system call, as the process that made it numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallNumber {
    /// Its number.
    pub number: u32,
    /// Made with the 32-bit table of a 64-bit kernel.
    pub compat: bool,
}

/// In which context a wake-up was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Context {
    /// By a task, in a system call or a fault of its own.
    Task,
    /// By a kernel worker that executes this function.
    Work(String),
    /// By the network's soft interrupt, while a task of the tree was within a call on a socket: for what that one sent to this
    /// machine itself.
    Sent,
    /// By a soft interrupt.
    Softirq(Softirq),
    /// By a device's interrupt.
    Hardirq,
    /// By the timer interrupt (a high-resolution timer ran out).
    Timer,
}

/// Which soft interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Softirq {
    /// A device has done what it was asked to.
    Block,
    /// Packets came in or went out.
    Net,
    /// A timer ran out.
    Timer,
    /// Any other.
    Other,
}

/// What kind of task it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    /// Of the traced tree.
    Tree,
    /// Of whyfaster itself.
    Tool,
    /// A thread of the kernel.
    Kernel,
    /// Of anybody else.
    Other,
}

/// What the kernel counted for one task over its life in the tree; `None` is what this level cannot count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Time on a CPU by the scheduler's own account (`sum_exec_runtime`), nanoseconds.
    pub run_ns: u64,
    /// Time on a CPU that the hypervisor had taken away meanwhile, nanoseconds: by the clock less by the scheduler's
    /// account. `run_ns` leaves it out; the stream cannot. What is taken between the kernel's reading of its clock and
    /// the switch is on the account of the next task, so the sum of a few turns may be below zero.
    pub stolen_ns: Option<i64>,
    /// In turns on a CPU within which the kernel counted switches that no record shows: by the clock more than by the
    /// scheduler's account, nanoseconds. So long it was away unseen, and the stream has it running.
    pub unseen_ns: u64,
    /// Time it was runnable and waited for a CPU by the kernel's own account (`sched_info.run_delay`), nanoseconds.
    pub delay_ns: Option<u64>,
    /// Time on a CPU within system calls, nanoseconds.
    pub call_run_ns: Option<u64>,
    /// System calls entered.
    pub calls_entered: Option<u64>,
    /// System calls that returned.
    pub calls_returned: Option<u64>,
    /// Page faults, minor and major, as `getrusage` counts them.
    pub faults: Option<u64>,
    /// Voluntary context switches.
    pub voluntary: Option<u64>,
    /// Involuntary context switches.
    pub involuntary: Option<u64>,
    /// Moves to another CPU.
    pub migrations: Option<u64>,
}

impl Totals {
    /// Time on a CPU as a stream of switches shows it: with what the hypervisor took meanwhile.
    pub fn on_cpu_ns(&self) -> u64 {
        self.run_ns.saturating_add_signed(self.stolen_ns.unwrap_or(0))
    }
}

/// One system call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Who made it.
    pub task: Tid,
    /// Which.
    pub call: CallNumber,
    /// When it began.
    pub began: u64,
    /// Its arguments.
    pub args: [u64; 6],
    /// What it returned; `None`: it never did.
    pub result: Option<i64>,
    /// The path among its arguments, if it has one that could be read.
    pub path: Option<String>,
    /// Time on a CPU within it, nanoseconds.
    pub run_ns: u64,
    /// Time it waited for a CPU within it, nanoseconds.
    pub runnable_ns: u64,
}

/// Where a task was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Who.
    pub task: Tid,
    /// Taken by the clock while it ran, or when it blocked.
    pub blocking: bool,
    /// Names of the frames in the kernel, innermost first.
    pub kernel: Vec<String>,
    /// Names of the frames in user code, innermost first.
    pub user: Vec<String>,
}
