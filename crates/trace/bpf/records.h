/* What goes from the programs in the kernel to whyfaster: the records of the ring, the counters, and the shapes of the
 * maps that both sides touch. The Rust side is generated from these declarations (through the object's BTF).
 */
#pragma once

#define NAME_BYTES 16     /* TASK_COMM_LEN */
#define PATH_BYTES 4096   /* PATH_MAX */
#define STACK_FRAMES 127  /* kernel.perf_event_max_stack by default */
#define FUNCTION_BYTES 64
#define BUCKETS 40        /* the last one holds all from 2^39 ns (nine minutes) on */
#define SYSCALLS 512

enum record_kind {
    RECORD_SWITCH = 1,  /* task: who left, other: who came, detail: enum left */
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
};

enum left { LEFT_RUNNABLE, LEFT_SLEEPING, LEFT_UNINTERRUPTIBLE, LEFT_STOPPED, LEFT_DEAD };

enum context { CONTEXT_TASK, CONTEXT_SOFTIRQ_BLOCK, CONTEXT_SOFTIRQ_NET, CONTEXT_SOFTIRQ_TIMER, CONTEXT_SOFTIRQ_OTHER,
               CONTEXT_HARDIRQ, CONTEXT_TIMER };

enum kind { KIND_TREE, KIND_TOOL, KIND_KERNEL, KIND_OTHER };

enum file_kind { FILE_NONE, FILE_PIPE, FILE_FILE, FILE_BLOCK, FILE_TERMINAL, FILE_CHAR, FILE_UNIX, FILE_SOCKET,
                 FILE_OTHER };

/* Every record begins with this; the small ones are nothing more. */
struct record {
    u64 at;
    enum record_kind kind;
    u32 task;
    u32 other;
    u16 cpu;
    u8 detail;
    u8 unused;
};

struct blocked_record {
    struct record head;
    u64 inode;
    u32 call; /* with COMPAT; only if in_call */
    u8 in_call;
    u8 fault;
    u8 io;
    u8 file;
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
};

/* Inodes of the pipes at descriptors 0 and 1; 0: none there. */
struct pipes {
    u64 input;
    u64 output;
};

/* Followed by `words` words of the mask of allowed CPUs. */
struct fork_record {
    struct record head;
    u32 process;
    u32 words;
    struct pipes pipes; /* of a task that is taken up while it runs */
    char name[NAME_BYTES];
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

struct work_record {
    struct record head;
    u64 function;
};

struct function_record {
    struct record head;
    u64 function;
    char name[FUNCTION_BYTES];
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

/* Followed by the addresses, first those of the kernel. */
struct stack_record {
    struct record head;
    u32 process;
    u16 kernel_frames;
    u16 user_frames;
};

/* ---- counters ---- */

#define COMPAT 0x80000000u /* in the number of a call: of the 32-bit table */

/* Whose calls are counted together. */
struct group_key {
    char name[NAME_BYTES];
    u32 process; /* 0 when counted by command */
    u32 forked;
};

struct cell_key {
    u32 group;
    u32 call;
};

struct cell {
    u64 entered;
    u64 not_returned;
    u64 total;
    u64 max;
    u64 blocked;
    u64 runnable;
    u64 histogram[BUCKETS];
};

struct error_key {
    u32 group;
    u32 call;
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

enum mode {
    MODE_HELD = 1, /* at its gate: followed from its next exec on */
    MODE_ACTIVE,   /* followed */
    MODE_TOOL,     /* of whyfaster itself */
    MODE_GONE,     /* its end was reported */
};

enum place { PLACE_UNKNOWN, PLACE_RUNNING, PLACE_RUNNABLE, PLACE_BLOCKED };

struct task_state {
    u32 mode;
    u8 place;
    u8 in_call;
    u8 exiting;
    u8 forked;   /* has not begun a program of its own */
    u8 based;    /* `base` is set */
    u8 announced;
    u16 unused;
    u32 task;    /* its number, which an exec of a thread changes a little before the exec is seen */
    u32 group;   /* 0: none yet */
    u32 call;
    u32 unused2;
    u32 cpus;    /* how many it may run on */
    u64 mask;    /* the first of them, to notice a change */
    u64 since;   /* when it came to its place */
    u64 began;   /* its call */
    u64 blocked; /* within the call */
    u64 runnable;
    u64 run_in;  /* sum_exec_runtime when it got the CPU */
    u64 delay_out; /* run_delay when it left the CPU */
    u64 args[6];
    u64 switches;  /* that the kernel had counted when it last left a CPU */
    u64 stolen;    /* on a CPU that the hypervisor had taken */
    u64 call_run;
    u64 entered;
    u64 returned;
    struct totals base; /* what the kernel had counted when it came into the tree */
};

/* ---- what whyfaster asks for, constant once the programs are loaded ---- */

struct settings {
    u8 by_process;
    u8 call_times;
    u8 each_call;
    u8 scheduling;
    u8 blocking_stacks;
    u8 state_argument; /* sched_switch has the argument prev_state (Linux 5.18) */
    u16 mask_words;
    u32 execve;
    u32 execveat;
    u32 setaffinity;
    u32 wake_at;       /* bytes in the ring at which the reader is called */
    u8 descriptor[SYSCALLS]; /* 1: the first argument of this call is a descriptor */
    u8 path[SYSCALLS];       /* number of the argument that is a path, plus one */
};

/* Counted for all CPUs together. */
struct totals_of_tree {
    u64 alive;
    u32 groups;
    u32 unused;
};

/* Nothing is kept here: it makes the object's BTF hold every record. */
struct record_shapes {
    struct record record;
    struct blocked_record blocked;
    struct fork_record fork;
    struct allowed_record allowed;
    struct exec_record exec;
    struct failed_record failed;
    struct end_record end;
    struct name_record name;
    struct work_record work;
    struct function_record function;
    struct call_record call;
    struct stack_record stack;
    struct group_key group_key;
    struct cell_key cell_key;
    struct cell cell;
    struct error_key error_key;
    struct cpu_state cpu;
    struct task_state task;
    enum left left;
    enum context context;
    enum kind kind;
    enum file_kind file;
    enum mode mode;
    enum place place;
};
