/* When has a program started up: when has it read what its loader and its runtime need, and does things of its own?
 *
 * The start-up is what comes up to the end of the last call that looks like it (libraries mapped, files below the
 * system's directories read), before the first call that does not. What neither of both says is the program's own if
 * nothing of the start-up follows.
 */

#include "files.h"

/* So much CPU time between two calls of a start-up is work of the program's own (relocating a large program takes less). */
#define OWN_WORK_NS 20000000
/* Data are read in pieces of this size and more (coreutils: 128 KiB, grep: 96 KiB), or in so many pieces. */
#define DATA_BYTES 98304
#define DATA_READS 16

/* asm-generic/{fcntl,mman-common}.h, linux/futex.h */
#define O_ACCMODE 3
#define MAP_ANONYMOUS 0x20
#define FUTEX_CMD_MASK 0x7f
#define FUTEX_WAIT 0
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAIT_REQUEUE_PI 11
#define FUTEX_LOCK_PI2 13

/* The first bytes of a path as a number; both architectures are little-endian. */
#define FIRST(n) ((1ull << 8 * (n)) - 1)
#define BYTES4(a, b, c, d) ((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24)
#define SLASH4 ((u64)'/' << 32)

static __always_inline bool of_system(u64 path)
{
    u64 four = path & FIRST(4), five = path & FIRST(5);
    if (four == BYTES4('/', 'l', 'i', 'b'))
        return path >> 32 && (five >> 32 == '/' || five >> 32 == '6' || five >> 32 == '3');
    return five == (BYTES4('/', 'u', 's', 'r') | SLASH4) || five == (BYTES4('/', 'e', 't', 'c') | SLASH4) ||
           five == (BYTES4('/', 's', 'y', 's') | SLASH4) || five == (BYTES4('/', 'd', 'e', 'v') | SLASH4) ||
           five == (BYTES4('/', 'o', 'p', 't') | SLASH4) ||
           (path & FIRST(6)) == (BYTES4('/', 'p', 'r', 'o') | (u64)'c' << 32 | (u64)'/' << 40);
}

static __always_inline bool is_terminal(u64 path)
{
    return path == (BYTES4('/', 'd', 'e', 'v') | BYTES4('/', 't', 't', 'y') << 32);
}

static __always_inline void begin_startup(struct task_struct *task, struct task_state *t, u64 run, u64 call_run)
{
    t->starting = settings.call_times;
    t->reads = 0;
    t->exec_run = run;
    t->exec_call_run = call_run;
    t->start_run = 0;
    t->start_call_run = 0;
}

static __always_inline void end_startup(struct task_struct *task, struct task_state *t, u64 now)
{
    t->starting = 0;
    struct started_record *r = RESERVE(sizeof(*r));
    if (!r)
        return;
    fill(&r->head, RECORD_STARTED, now, number_of(task, t), 0, 0);
    r->run = t->start_run;
    r->call_run = t->start_call_run;
    submit(r);
}

static __always_inline u8 startup_class(struct task_state *t)
{
    u32 number = t->call & ~COMPAT;
    return t->call & COMPAT ? STARTUP_OVER : number < SYSCALLS ? settings.startup[number] : STARTUP_NOTHING;
}

/* A call begins while its program starts up. */
static __always_inline void startup_before(struct task_struct *task, struct task_state *t, u64 now)
{
    u8 class = startup_class(t);
    bool over = class == STARTUP_OVER;
    if (class == STARTUP_READ)
        over = (u32)t->args[0] <= 2 || t->args[2] >= DATA_BYTES || ++t->reads > DATA_READS;
    else if (class == STARTUP_OPEN)
        t->reads = 0;
    if (class == STARTUP_FUTEX) {
        u32 op = t->args[1] & FUTEX_CMD_MASK;
        over = op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 ||
               op == FUTEX_WAIT_REQUEUE_PI;
    }
    if (over)
        end_startup(task, t, now);
}

enum verdict { NEITHER, PART, OVER };

static __always_inline enum verdict look_verdict(struct task_state *t, u8 class, bool failed)
{
    u32 number = t->call & ~COMPAT;
    if (class == STARTUP_OPEN && failed)
        return PART;
    u32 argument = (number < SYSCALLS ? settings.path[number] : 0) - 1;
    if (argument > 1)
        return NEITHER;
    char bytes[16] __attribute__((aligned(8))) = {};
    /* Not told as lost: a path that cannot be read is none of the system's. */
    long length = bpf_probe_read_user_str(bytes, sizeof(bytes), (void *)t->args[argument]);
    u64 path = *(u64 *)bytes;
    /* fstat() is made of newfstatat() with an empty path. */
    if (class == STARTUP_LOOK && length == 1)
        return argument && (s32)t->args[0] > 2 ? PART : NEITHER;
    if (class == STARTUP_LOOK)
        return of_system(path) ? PART : NEITHER;
    if ((t->args[argument + 1] & O_ACCMODE) && !is_terminal(path))
        return OVER;
    return of_system(path) ? PART : OVER;
}

/* A call ends while its program starts up. It is on the account already. */
static __always_inline void startup_after(struct task_struct *task, struct task_state *t, u64 now, bool failed)
{
    enum verdict verdict = NEITHER;
    u8 class = startup_class(t);
    if (class == STARTUP_PART || class == STARTUP_READ)
        verdict = PART;
    else if (class == STARTUP_FILE)
        verdict = (s32)t->args[0] > 2 ? PART : NEITHER;
    else if (class == STARTUP_MAP)
        verdict = !(t->args[3] & MAP_ANONYMOUS) && (s32)t->args[4] > 2 ? PART : NEITHER;
    else if (class == STARTUP_LOOK || class == STARTUP_OPEN)
        verdict = look_verdict(t, class, failed);
    if (verdict == NEITHER)
        return;
    u64 run = run_so_far(task, t, now) - t->exec_run;
    if (verdict == OVER || run - t->start_run > OWN_WORK_NS)
        return end_startup(task, t, now);
    t->start_run = run;
    t->start_call_run = t->call_run - t->exec_call_run;
}
