/* What goes from the programs in the kernel to whyfaster: the records of the ring, the counters, and the shapes of the
 * maps that both sides touch. The Rust side is generated from these declarations (through the object's BTF). */
#pragma once

#define NAME_BYTES 16     /* TASK_COMM_LEN */
#define PATH_BYTES 4096   /* PATH_MAX */
#define STACK_FRAMES 127  /* kernel.perf_event_max_stack by default */
#define FUNCTION_BYTES 64
#define INTERPRETER_BYTES 64
#define BUCKETS 40        /* the last one holds all from 2^39 ns (nine minutes) on */
#define SYSCALLS 512

enum record_kind {
    RECORD_SWITCH = 1,  /* task: who left, other: who came (the same: came unseen), detail: enum left */
    RECORD_BLOCKED,     /* the same, and where a task of the tree blocked */
    RECORD_WAKE,        /* task: wakee, other: waker, detail: enum context */
    RECORD_QUEUED,      /* other: CPU */
    RECORD_MIGRATE,     /* other: CPU before, shifted by 16, and after */
    RECORD_FORK,        /* task: child, other: parent */
    RECORD_EXEC,        /* other: number before */
    RECORD_EXEC_FAILED, /* other: error number */
    RECORD_ALLOWED,
    RECORD_END,
    RECORD_NAME,        /* detail: enum kind */
    RECORD_WORK,        /* a kernel worker begins a function */
    RECORD_WORK_END,
    RECORD_FUNCTION,    /* name of an address */
    RECORD_CALL,
    RECORD_STACK,       /* detail: 1 when it blocked */
    RECORD_STARTED,     /* the start-up of a program is over */
    RECORD_LIVES_ON,    /* a child goes on without an exec */
    RECORD_SKIPPED,     /* a task that the caller may not observe; detail: enum not_ours, other: 1 if it was told before */
};

enum left { LEFT_RUNNABLE, LEFT_SLEEPING, LEFT_UNINTERRUPTIBLE, LEFT_STOPPED, LEFT_DEAD,
            LEFT_THROTTLED /* runnable, but its group has no CPU quota left */ };

enum context { CONTEXT_TASK, CONTEXT_SOFTIRQ_BLOCK, CONTEXT_SOFTIRQ_NET, CONTEXT_SOFTIRQ_TIMER, CONTEXT_SOFTIRQ_OTHER,
               CONTEXT_HARDIRQ, CONTEXT_TIMER,
               CONTEXT_SENT /* as CONTEXT_SOFTIRQ_NET, within a call of the running task on a socket */ };

/* Whether a process has begun a program of its own: no child is one before its exec, but for the one that goes on without. */
enum forked { NOT_FORKED, FORKED, LIVES_ON };

enum kind { KIND_TREE, KIND_TOOL, KIND_KERNEL, KIND_OTHER };

/* Why the caller may not observe a task. */
enum not_ours { OURS, OF_OTHER_USER, MORE_CAPABLE, NOT_DUMPABLE, OF_OTHER_NAMESPACE };

enum file_kind { FILE_NONE, FILE_PIPE, FILE_FILE, FILE_BLOCK, FILE_TERMINAL, FILE_CHAR, FILE_UNIX, FILE_SOCKET,
                 FILE_OTHER };

#define FLAG_SPENT 1 /* right behind this comes how much CPU time a task of the tree has had within calls, see below */
#define FLAG_HOLE 2  /* the first record after some for which the ring had no room, on whichever CPU */

/* Every record begins with this; the small ones are nothing more. */
struct record {
    u64 at;
    enum record_kind kind;
    u32 task;
    u32 other;
    u16 cpu;
    u8 detail;
    u8 flags; /* FLAG_* */
};

/* A switch away from a task of the tree (`task`), or a wake-up by one (`other`). */
struct spent_record {
    struct record head;
    u64 spent;
};

struct blocked_record {
    struct record head;
    u64 spent; /* of `task` */
    u64 inode;
    u32 call; /* with COMPAT; only if in_call */
    u8 in_call;
    u8 fault;
    u8 io;
    u8 file;
    u32 bitset; /* 1: a futex wait with a bitset */
    u32 unused;
};

struct totals {
    u64 run;
    u64 delay;
    u64 call_run;
    u64 entered;
    u64 returned;
    u64 faults;
    u64 voluntary;
    u64 involuntary;
    u64 migrations;
    u64 stolen; /* a signed sum */
    u64 unseen; /* away from its CPU by switches that were not seen */
};

/* Inodes of the pipes at descriptors 0 and 1; 0: none there. */
struct pipes {
    u64 input;
    u64 output;
};

/* Followed by `words` words of the mask of allowed CPUs. */
struct fork_record {
    struct record head;
    u64 spent; /* of `other` */
    u32 process;
    u32 words;
    struct pipes pipes; /* of a task that is taken up while it runs */
    char name[NAME_BYTES];
};

/* Before the record of a fork, where its task was there already. */
struct found_record {
    u32 above;        /* the process that made its own, or has taken it over */
    u32 process_here; /* both as whoever reads this sees them in /proc; 0: not at all */
    u32 task_here;
    u32 unused;
};

struct allowed_record {
    struct record head;
    u64 words;
};

/* Followed by `path_bytes` bytes, without a zero; none: could not be read. */
struct exec_record {
    struct record head;
    struct totals so_far;
    struct pipes pipes;
    char name[NAME_BYTES];
    char interpreter[INTERPRETER_BYTES]; /* path of what runs it, where it is a script */
    u64 path_bytes;
};

struct failed_record {
    struct record head;
    u64 path_bytes;
};

struct end_record {
    struct record head;
    u32 process;
    u32 alive;
    u32 exit_code;
    u32 unused;
    struct totals totals;
};

struct name_record {
    struct record head;
    u32 process;
    u32 unused;
    char name[NAME_BYTES];
};

struct skipped_record {
    struct record head;
    u32 process;
    u32 unused;
    char name[NAME_BYTES];
    struct totals totals; /* up to here, if it was told before */
};

struct work_record {
    struct record head;
    u64 function;
};

struct function_record {
    struct record head;
    u64 function;
    char name[FUNCTION_BYTES];
};

struct started_record {
    struct record head;
    u64 run;
    u64 call_run;
};

struct lives_on_record {
    struct record head;
    struct totals so_far;
};

struct call_record {
    struct record head;
    u64 began;
    u64 args[6];
    s64 result;
    u64 run;
    u64 runnable;
    u32 call;
    u32 returned;
    u64 path_bytes;
};

/* Followed by the addresses, first those of the kernel, and by the memory on the top of the user's stack. */
struct stack_record {
    struct record head;
    u32 process; /* as whoever reads this sees it in /proc; 0: not at all */
    u16 kernel_frames;
    u16 user_frames;
    u32 group;    /* whose calls it counts with; 0: not known yet */
    u16 in_call;  /* within a system call, or on its way out */
    u16 starting; /* whether its program may be starting up still */
    u32 user;     /* whose files it makes */
    u32 unused;
    u64 run;      /* CPU time since its exec, while it may be starting up */
    u64 memory;   /* bytes of it; 0: none, and nothing in the registers of user code below */
    u64 at;
    u64 top;
    u64 frame;
    u64 link;     /* arm64: where it returns to */
};

/* ---- counters ---- */

#define COMPAT 0x80000000u /* in the number of a call: of the 32-bit table */

/* Whose calls are counted together. */
struct group_key {
    char name[NAME_BYTES];
    u32 process; /* 0 when counted by command */
    enum forked forked;
};

/* A call that transfers data comes with its kind of file, and with the number of the file. Such calls have numbers below SYSCALLS. */
#define FILE_SHIFT 24
#define NUMBER_SHIFT 9
#define NUMBER_BITS ((FILES - 1) << NUMBER_SHIFT)
#define CALL_AND_FILE(call, file, number) ((call) | (u32)(number) << NUMBER_SHIFT | (u32)(file) << FILE_SHIFT)

#define FILES 256 /* numbers of files; 0: none */

/* An inode may be forgotten, and another one take its memory and its number. */
struct file_key {
    u64 inode;
    u64 number;
    u64 generation;
};

#define COMPONENTS 24
#define COMPONENT_BYTES 256 /* NAME_MAX, and a zero */
#define FILE_PATH_BYTES 1024

/* The components of a file's path, the last one first, each with a zero behind it. */
struct file_path {
    u32 bytes;
    u32 whole; /* 1: up to the root; 0: there was no room for the first ones */
    char components[FILE_PATH_BYTES + COMPONENT_BYTES];
};

struct cell_key {
    u32 group;
    u32 call; /* CALL_AND_FILE */
};

#define CELLS 4096         /* counting by command */
#define GUESSES 32768      /* 64 groups with 512 calls; a power of two */
#define CELL_USED (1u << 30) /* no number of a call has this bit, so that no owner is 0 */

struct cell {
    u64 owner; /* group, and call with CELL_USED; 0: nobody on this CPU */
    u64 entered;
    u64 not_returned;
    u64 begun_before; /* was in progress when its task was taken up */
    u64 going_on;     /* of those that did not return: observing ended before */
    u64 total;
    u64 max;
    u64 blocked;
    u64 runnable;
    u64 failed; /* of the total: calls that failed */
    u64 bytes;
    u64 histogram[BUCKETS];
};

struct error_key {
    u32 group;
    u32 call; /* CALL_AND_FILE */
    u64 error;
};

/* What did not arrive, on one CPU. */
struct losses {
    u64 ring;
    u64 map;
    u64 storage;
    u64 string;
    u64 stack;
    u64 gaps;
};

/* What a CPU is doing. */
struct cpu_state {
    struct losses lost;
    u64 samples;  /* by the clock, and how long they took */
    u64 sampling;
    u64 lock_stack; /* when the last one was taken of a task that began to wait for a lock */
    u64 unnumbered; /* time in calls on files without a number, since the last one got one here */
    u64 switched_at;
    u32 next;    /* who got the CPU at the last switch that was seen */
    u32 sent;
    u8 known;    /* whether one was seen */
    u8 woken;    /* the reader was called since the ring was last less than half full */
    u8 softirq;  /* number of the soft interrupt that is served, plus one */
    u8 hardirq;
    u8 timer;
};

/* ---- the state of a followed task ---- */

#define HOME_BYTES 64
#define KEPT_FILES 16
#define OPENED_WORDS 32

enum mode {
    MODE_HELD = 1, /* at its gate: followed from its next exec on */
    MODE_ACTIVE,   /* followed */
    MODE_TOOL,     /* of whyfaster itself */
    MODE_GONE,     /* its end was reported */
    MODE_SKIPPED,  /* not for the caller to observe: like any task outside of the tree */
};

enum place { PLACE_UNKNOWN, PLACE_RUNNING, PLACE_RUNNABLE, PLACE_BLOCKED };

/* What every call and every switch touches comes first, so that it lies in few cache lines. */
struct task_state {
    u32 mode;
    u8 place;
    u8 in_call;
    u8 exiting;
    u8 forked;   /* enum forked */
    u8 based;    /* `base` is set */
    u8 starting; /* its program has done nothing of its own yet */
    u8 shares;   /* its descriptors are another task's too, or may be */
    u8 own_code; /* it runs code of whyfaster, which has its capabilities and is not dumpable: up to an exec */
    u32 announced; /* its beginning was told, or is about to be */
    u32 task;    /* its number, which an exec of a thread changes a little before the exec is seen */
    u32 group;   /* 0: none yet */
    u32 call;
    u8 file;     /* kind of file that the call transfers data of */
    u8 reads;    /* in a row, on one descriptor, while starting */
    u8 counted;  /* its end was counted as its process's */
    u8 healed;   /* that it runs was not seen */
    u8 found;    /* the call that it is in was in progress when it was taken up */
    u8 home_bytes; /* of that path, up to the slash before `bin`; 0: it is in no such directory */
    u8 file_number; /* of the file that the call transfers data of; 0: it has none so far */
    u64 mask;    /* of all CPUs that it may run on a number, to notice a change */
    u64 since;   /* when it came to its place */
    u64 began;   /* its call */
    u64 blocked; /* within the call */
    u64 runnable;
    u64 entered;
    u64 returned;
    u64 call_run;
    u64 args[6];
    u64 kinds;     /* of its descriptors 0 to 15, four bits each; 0: to be looked up */
    u64 low_file_numbers;  /* of the first eight of these descriptors, where their kind is known, eight bits each */
    u64 high_file_numbers; /* of the others */
    u64 shared_inode; /* of the call, where another task may put another file behind its descriptor meanwhile */
    u64 run_in;    /* sum_exec_runtime when it got the CPU */
    u64 run_out;   /* the same when it was last seen to leave one */
    u64 delay_out; /* run_delay when it left the CPU */
    u64 switches;  /* that the kernel had counted when it last left a CPU */
    u64 stolen;    /* on a CPU that the hypervisor had taken */
    u64 unseen;    /* in turns within which switches were not seen: by the clock more than by the scheduler */
    u32 inode_of[2]; /* an even and an odd descriptor, plus one, of which it knows the number of the file */
    u64 inodes[2];
    u16 doubt;     /* starting, and it opened what may be a library, a script or its input */
    u16 again;     /* starting, and it opened what it has opened before, or a directory */
    u32 in_a_row;  /* calls since it opened a file for the first time while starting; a failed look counts as a part of one */
    u32 opened[OPENED_WORDS]; /* hashes of the paths of the system that it opened while starting, a bit each */
    u64 exec_run;  /* its time on CPUs by the clock when its program began, and of that within calls */
    u64 exec_call_run;
    u64 seen_run;  /* since then, up to the last call that may belong to its start-up */
    u64 start_run; /* the same, up to the last that does */
    u64 start_call_run;
    u64 vetted;    /* with which credentials the caller may observe it; 0: not known yet */
    char home[HOME_BYTES]; /* its program's path */
    struct totals base; /* what the kernel had counted when it came into the tree */
};

/* ---- what whyfaster asks for, constant once the programs are loaded ---- */

enum compat_call { COMPAT_ELSE, COMPAT_DESCRIPTOR /* is its first argument */, COMPAT_FUTEX, COMPAT_EXECVE, COMPAT_EXECVEAT };

enum transfer { TRANSFERS_NOTHING, TRANSFERS_BYTES, TRANSFERS_MESSAGES };

/* What a call says about the start-up of a program. */
enum startup {
    STARTUP_NOTHING,
    STARTUP_PART,  /* it is not over before the end of this call */
    STARTUP_BESIDE, /* the same if a part follows: programs make it later, too */
    STARTUP_OVER,  /* over when this begins */
    STARTUP_FILE,  /* STARTUP_BESIDE, on a descriptor other than the standard ones */
    STARTUP_READ,  /* part of it; over on a standard descriptor */
    STARTUP_MAP,   /* part of it, with a file */
    STARTUP_LOOK,  /* STARTUP_BESIDE, below the system's directories */
    STARTUP_OPEN,  /* part of it below these; over where it writes */
    STARTUP_FUTEX, /* over when it waits */
};

/* Where tasks block, whose stacks are taken. */
enum blocking_stacks { STACKS_OF_NONE, STACKS_OF_ALL, STACKS_OF_LOCKS /* user code alone */ };

struct settings {
    u8 by_process;
    u8 call_times;
    u8 each_call;
    u8 scheduling;
    u8 blocking_stacks; /* enum blocking_stacks */
    u8 state_argument; /* sched_switch has the argument prev_state (Linux 5.18) */
    u16 mask_words;
    u32 restricted;    /* the caller may observe what ptrace would let it look into, and nothing else */
    u32 uid;           /* its numbers, in the first user namespace */
    u32 gid;
    u8 kernel_frames;  /* of a stack that the clock takes, at most */
    u8 user_frames;
    u16 user_memory;   /* 1: stacks come with the memory on their top */
    u64 lacks;         /* capabilities that it does not have */
    u32 execve;
    u32 execveat;
    u32 setaffinity;
    u32 futex;
    u32 cells;
    u32 wake_at;       /* bytes in the ring at which the reader is called */
    u8 descriptor[SYSCALLS]; /* 1: the first argument of this call is a descriptor */
    u8 compat[SYSCALLS];     /* enum compat_call: of the 32-bit table */
    u8 path[SYSCALLS];       /* number of the argument that is a path, plus one */
    u8 transfer[SYSCALLS];   /* enum transfer: of the descriptor that is its first argument */
    u8 renumbers[SYSCALLS];  /* 1: another file may be behind a descriptor afterwards */
    u8 startup[SYSCALLS];    /* enum startup */
};

/* Counted for all CPUs together. */
struct totals_of_tree {
    u64 alive; /* tasks */
    u64 forks; /* processes made by one of the tree */
    u64 threads;
    u64 execs;
    u64 failed_execs;
    u64 exits;    /* processes */
    u64 entered;  /* calls of tasks that are gone */
    u64 returned;
    u64 last_end; /* when the last task so far ended */
    u64 throttled; /* waits that began while the task's group had no CPU quota left */
    u64 holes;    /* records for which the ring had no room */
    u64 told;     /* of these: before the last record that said so */
    u64 taken_up; /* when all that ran already had been told to be followed: their common beginning */
    u64 interrupted; /* when a key of the terminal interrupted one of the tree last */
    u64 skipped;  /* tasks that the caller may not observe */
    u32 groups;
    u32 cells; /* that were ever in use */
    u32 files; /* that have a number */
};

/* Nothing is kept here: it makes the object's BTF hold every record. */
struct record_shapes {
    struct record record;
    struct spent_record spent;
    struct blocked_record blocked;
    struct found_record found;
    struct fork_record fork;
    struct allowed_record allowed;
    struct exec_record exec;
    struct failed_record failed;
    struct end_record end;
    struct name_record name;
    struct skipped_record skipped;
    struct started_record started;
    struct lives_on_record lives_on;
    struct work_record work;
    struct function_record function;
    struct call_record call;
    struct stack_record stack;
    struct group_key group_key;
    struct cell_key cell_key;
    struct cell cell;
    struct file_path file_path;
    struct error_key error_key;
    struct cpu_state cpu;
    struct task_state task;
    enum not_ours not_ours;
    enum left left;
    enum context context;
    enum forked forked;
    enum kind kind;
    enum file_kind file;
    enum mode mode;
    enum place place;
    enum startup startup;
    enum transfer transfer;
    enum compat_call compat_call;
    enum blocking_stacks blocking_stacks;
};
