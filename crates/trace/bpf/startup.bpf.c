/* When has a program started up: when has it read what its loader and its runtime need, and does things of its own?
 *
 * The start-up is what comes up to the end of the last call that looks like it (libraries mapped, files below the
 * system's directories read), before the first call that does not. What neither of both says is the program's own if
 * nothing of the start-up follows. A look at a path looks for something to load: if nothing is loaded behind it, it is the program's own.
 */

#include "files.h"
#include "forks.h"

/* Data are read into buffers of this size and more, made of pages (coreutils: 128 KiB, grep: 96 KiB), or in so many pieces. An
 * interpreter asks for a large module as a whole, by its size. */
#define DATA_BYTES 98304
#define PAGE_MASK 4095
#define IS_DATA(bytes) ((bytes) >= DATA_BYTES && !((bytes) & PAGE_MASK))
#define DATA_READS 16
/* A search for modules opens a new one sooner than after this many calls. `ls -l` looks at every file, and a loop looks at the same one. */
#define MOST_IN_A_ROW 128
/* Failed looks are cheap, and a loader makes thousands of them: one per directory of LD_LIBRARY_PATH and of a RUNPATH, for each library.
 * One of them counts as this part of another call. */
#define FAILED_LOOKS 32

/* asm-generic/{fcntl,mman-common}.h, linux/futex.h */
#define O_ACCMODE 3
#ifdef __TARGET_ARCH_arm64
#define O_DIRECTORY 040000
#else
#define O_DIRECTORY 0200000
#endif
#define MAP_ANONYMOUS 0x20
#define PROT_EXEC 0x4
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
    if ((path & FIRST(6)) == (BYTES4('/', 'p', 'r', 'o') | (u64)'c' << 32 | (u64)'/' << 40)) {
        /* A number names another process; programs that show processes look there. */
        u8 next = path >> 48;
        return next < '0' || next > '9';
    }
    return five == (BYTES4('/', 'u', 's', 'r') | SLASH4) || five == (BYTES4('/', 'e', 't', 'c') | SLASH4) ||
           five == (BYTES4('/', 's', 'y', 's') | SLASH4) || five == (BYTES4('/', 'd', 'e', 'v') | SLASH4) ||
           five == (BYTES4('/', 'o', 'p', 't') | SLASH4);
}

static __always_inline bool is_terminal(u64 path)
{
    return path == (BYTES4('/', 'd', 'e', 'v') | BYTES4('/', 't', 't', 'y') << 32);
}

/* Longer paths go by their beginning. */
#define LOOKED_AT_BYTES 512

/* A path, and its first bytes as a number. */
struct looked_at {
    union {
        char path[LOOKED_AT_BYTES];
        u64 first;
    };
};

/* Where a path is looked at: with an index that is known only then, and the stack does not allow that. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct looked_at);
} look_scratch SEC(".maps");

/* The directory above the `bin` of the running program: its libraries and modules lie below. Its length is returned; 0: there is none. Each
 * step goes on or out, which keeps it short for the verifier. Neither inlined nor static, as those below: see state.h. */
__attribute__((noinline)) int length_of_home(void)
{
    struct task_state *t = state_of(bpf_get_current_task_btf());
    if (!t)
        return 0;
    const char *path = t->home;
    for (u32 i = 1; i < HOME_BYTES - 5; i++) {
        if (!path[i])
            return 0;
        if (path[i] == '/' && path[i + 1] == 'b' && path[i + 2] == 'i' && path[i + 3] == 'n' && path[i + 4] == '/')
            return i + 1;
    }
    return 0;
}

static __always_inline void note_home(struct task_state *t, const char *path)
{
    __builtin_memcpy(t->home, path, HOME_BYTES);
    t->home_bytes = length_of_home();
}

/* Is the path that is looked at below the own `lib` or `share` of the running program? */
__attribute__((noinline)) int at_home(void)
{
    u32 i, zero = 0;
    struct task_state *t = state_of(bpf_get_current_task_btf());
    struct looked_at *at = bpf_map_lookup_elem(&look_scratch, &zero);
    if (!t || !at || t->home_bytes < 2)
        return 0;
    const char *path = at->path;
    for (i = 0; i < HOME_BYTES; i++) {
        if (i >= t->home_bytes)
            break;
        if (path[i] != t->home[i])
            return 0;
    }
    if (i >= HOME_BYTES)
        return 0;
    return (path[i] == 'l' && path[i + 1] == 'i' && path[i + 2] == 'b') ||
           (path[i] == 's' && path[i + 1] == 'h' && path[i + 2] == 'a');
}

static __always_inline void begin_startup(struct task_struct *task, struct task_state *t, u64 run, u64 call_run)
{
    /* Which calls of the other table belong to a start-up is not known. The table of the new program is set by now (set_personality_ia32() in
     * arch/x86/kernel/process_64.c, COMPAT_SET_PERSONALITY() in arch/arm64/include/asm/elf.h). */
    t->starting = settings.call_times && !IS_COMPAT(task);
    t->reads = 0;
    t->doubt = 0;
    t->again = 0;
    t->in_a_row = 0;
    __builtin_memset(t->opened, 0, sizeof(t->opened));
    t->seen_run = 0;
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

/* Whether the beginning of such a call says anything: it is asked here, because calling another function costs more. */
static __always_inline bool may_end_startup(u8 class)
{
    return class == STARTUP_OVER || class == STARTUP_READ || class == STARTUP_OPEN || class == STARTUP_FUTEX;
}

/* A call begins while its program starts up. */
__attribute__((noinline)) int startup_before(u64 now)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = state_of(task);
    if (!t)
        return 0;
    u8 class = startup_class(t);
    bool over = class == STARTUP_OVER;
    if (class == STARTUP_READ)
        over = (u32)t->args[0] <= 2 || IS_DATA(t->args[2]) || ++t->reads > DATA_READS;
    else if (class == STARTUP_OPEN)
        t->reads = 0;
    if (class == STARTUP_FUTEX) {
        u32 op = t->args[1] & FUTEX_CMD_MASK;
        over = op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 ||
               op == FUTEX_WAIT_REQUEUE_PI;
    }
    if (over)
        end_startup(task, t, now);
    return 0;
}

enum verdict { NEITHER, LOOKS /* it is a part if a part follows */, PART, OVER };

/* Whether a path was not opened before by this program while it started. It goes by the length and the last bytes. Two paths in a thousand are
 * taken for each other, and of many thousand no new one is found: so many files are data. */
static __always_inline bool is_new(struct task_state *t, u64 path, u64 bytes)
{
    u64 tail[4] = {};
    u64 size = sizeof(tail);
    if (bytes < size)
        size = bytes;
    barrier_var(size); /* see goes_on() */
    if (size > sizeof(tail) || bpf_probe_read_user(tail, size, (void *)(path + bytes - size)))
        return false;
    u64 hash = bytes;
#pragma unroll
    for (u32 i = 0; i < 4; i++)
        hash = (hash ^ tail[i]) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
    u64 word = hash & (OPENED_WORDS - 1);
    barrier_var(word); /* see goes_on() */
    if (word >= OPENED_WORDS)
        return false;
    u32 bit = 1u << (hash >> 8 & 31), before = t->opened[word];
    t->opened[word] = before | bit;
    return !(before & bit);
}

/* Of the running task. */
__attribute__((noinline)) int look_verdict(u32 class, u32 failed)
{
    struct task_state *t = state_of(bpf_get_current_task_btf());
    if (!t)
        return NEITHER;
    u32 number = t->call & ~COMPAT;
    if (class == STARTUP_OPEN && failed)
        return LOOKS;
    /* Constant offsets, not an index: up to Linux 6.12 at least, the verifier does not see the bounds of an index that the compiler
     * keeps on the stack. */
    u8 place = number < SYSCALLS ? settings.path[number] : 0;
    u64 address, flags;
    if (place == 1) {
        address = t->args[0];
        flags = t->args[1];
    } else if (place == 2) {
        address = t->args[1];
        flags = t->args[2];
    } else {
        return NEITHER;
    }
    u32 zero = 0;
    struct looked_at *at = bpf_map_lookup_elem(&look_scratch, &zero);
    if (!at)
        return NEITHER;
    at->first = 0;
    /* Not told as lost: a path that cannot be read is none of the system's. */
    long length = bpf_probe_read_user_str(at->path, sizeof(at->path), (void *)address);
    u64 path = at->first;
    /* fstat() is made of newfstatat() with an empty path. */
    if (class == STARTUP_LOOK && length == 1)
        return place == 2 && (s32)t->args[0] > 2 ? LOOKS : NEITHER;
    bool part = of_system(path) || (length > 0 && at_home());
    if (class == STARTUP_LOOK)
        return part ? LOOKS : NEITHER;
    if ((flags & O_ACCMODE) && !is_terminal(path))
        return OVER;
    /* A library that lies elsewhere, a script that loads modules, or its input. The calls that follow show which. */
    t->doubt = !part;
    if (!part)
        return NEITHER;
    t->again = (flags & O_DIRECTORY) || length <= 1 || !is_new(t, address, length - 1);
    if (t->again)
        return LOOKS;
    t->in_a_row = 0;
    return PART;
}

/* A call ends while its program starts up. It is on the account already. */
__attribute__((noinline)) int startup_after(u64 now, u32 failed)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = state_of(task);
    if (!t)
        return 0;
    enum verdict verdict = NEITHER;
    u8 class = startup_class(t);
    if (class == STARTUP_PART || class == STARTUP_READ)
        verdict = PART;
    else if (class == STARTUP_BESIDE)
        verdict = LOOKS;
    else if (class == STARTUP_FILE)
        verdict = (s32)t->args[0] > 2 ? LOOKS : NEITHER;
    else if (class == STARTUP_MAP)
        verdict = !(t->args[3] & MAP_ANONYMOUS) && (s32)t->args[4] > 2 ? PART : NEITHER;
    else if (class == STARTUP_LOOK || class == STARTUP_OPEN)
        verdict = look_verdict(class, failed);
    if (t->again && (class == STARTUP_READ || class == STARTUP_MAP) && verdict == PART)
        verdict = LOOKS;
    t->in_a_row += failed && (class == STARTUP_LOOK || class == STARTUP_OPEN) ? 1 : FAILED_LOOKS;
    if (t->in_a_row > MOST_IN_A_ROW * FAILED_LOOKS)
        verdict = OVER;
    /* The loader maps the code of a library. */
    if (class == STARTUP_MAP && verdict != NEITHER && verdict != OVER && (t->args[2] & PROT_EXEC)) {
        t->doubt = 0;
        t->again = 0;
        t->in_a_row = 0;
        verdict = PART;
    }
    if (verdict == NEITHER || (verdict != OVER && t->doubt))
        return 0;
    u64 run = on_cpu_so_far(task, t, now) - t->exec_run;
    /* Behind a switch that was not seen it goes by the scheduler's account: that may take some of it back. */
    s64 since = run - t->seen_run;
    if (verdict == OVER || since > OWN_WORK_NS) {
        end_startup(task, t, now);
        return 0;
    }
    if (since > 0)
        t->seen_run = run;
    if (verdict == LOOKS)
        return 0;
    t->start_run = t->seen_run;
    t->start_call_run = t->call_run - t->exec_call_run;
    return 0;
}
