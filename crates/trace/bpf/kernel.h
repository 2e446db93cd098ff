/* The few fields of the kernel that are read. Offsets come from the running kernel's BTF when the programs are loaded
 * (CO-RE), so this holds for every kernel that has the fields, and no kernel header is needed to build.
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
typedef _Bool bool;
#define true 1
#define false 0

/* The names that libbpf's headers use. */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;

/* From <linux/bpf.h>, which is left out: it pulls in headers of the build machine's architecture. */
enum {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PERCPU_HASH = 5,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_STACK = 23,
    BPF_MAP_TYPE_RINGBUF = 27,
    BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum bpf_func_id { BPF_FUNC_task_pt_regs = 175 } FROM_KERNEL; /* Linux 5.15 */
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_USER_STACK = 1 << 8 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2, BPF_RB_AVAIL_DATA = 0 };

#define FROM_KERNEL __attribute__((preserve_access_index))

struct thread_info {
    unsigned long flags;
    u32 status;
    u32 cpu;
} FROM_KERNEL;

/* CONFIG_CFS_BANDWIDTH: > 0 while the CPU quota of its group, or of one above, is used up on this CPU. */
struct cfs_rq {
    int throttle_count;
} FROM_KERNEL;

struct sched_entity {
    struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
    u64 sum_exec_runtime;
    u64 prev_sum_exec_runtime;
    u64 nr_migrations;
} FROM_KERNEL;

struct sched_info {
    unsigned long long run_delay;
} FROM_KERNEL;

struct cpumask {
    unsigned long bits[1];
} FROM_KERNEL;

struct super_block {
    unsigned long s_magic;
} FROM_KERNEL;

struct inode {
    u16 i_mode;
    u32 i_rdev;
    u32 i_generation;
    unsigned long i_ino;
    struct super_block *i_sb;
} FROM_KERNEL;

struct qstr {
    const unsigned char *name;
} FROM_KERNEL;

struct dentry {
    struct qstr d_name;
    struct dentry *d_parent; /* itself: it is the first one */
} FROM_KERNEL;

struct vfsmount {
    struct dentry *mnt_root;
} FROM_KERNEL;

struct mount {
    struct mount *mnt_parent; /* itself: it is the first one */
    struct dentry *mnt_mountpoint;
    struct vfsmount mnt;
} FROM_KERNEL;

struct path {
    struct vfsmount *mnt;
    struct dentry *dentry;
} FROM_KERNEL;

struct file {
    struct inode *f_inode;
    struct path f_path;
    void *private_data;
} FROM_KERNEL;

struct fdtable {
    unsigned int max_fds;
    struct file **fd;
} FROM_KERNEL;

struct files_struct {
    struct fdtable *fdt;
} FROM_KERNEL;

struct sock_common {
    unsigned short skc_family;
} FROM_KERNEL;

struct sock {
    struct sock_common __sk_common;
} FROM_KERNEL;

struct socket {
    struct sock *sk;
} FROM_KERNEL;

typedef struct {
    unsigned long sig[1];
} sigset_t;

struct sigpending {
    sigset_t signal;
} FROM_KERNEL;

/* Their only field has another name in each kernel, and is read as a number. */
struct number_of_user {
    u32 value;
};

struct set_of_capabilities {
    u64 bits;
};

struct user_namespace {
    int level; /* 0: the first one */
    struct number_of_user owner;
} FROM_KERNEL;

struct cred {
    struct number_of_user uid, gid, suid, sgid, euid, egid;
    struct set_of_capabilities cap_permitted;
    struct user_namespace *user_ns;
} FROM_KERNEL;

/* Whether others of its user may look into a program's memory: in the low bits of its flags, which became a bitmap in
 * Linux 6.18, and a thing of its own in Linux 7. */
#define DUMPABLE_MASK 3 /* MMF_DUMPABLE_MASK in the kernel's include/linux/sched/coredump.h */
#define DUMPABLE_BY_OWNER 1 /* SUID_DUMP_USER there */

struct mm_struct {
    unsigned long flags;
} FROM_KERNEL;

struct bitmap_of_flags {
    unsigned long words[1];
};

struct mm_struct___since_6_18 {
    struct bitmap_of_flags flags;
} FROM_KERNEL;

enum task_dumpable { TASK_DUMPABLE_OFF, TASK_DUMPABLE_OWNER, TASK_DUMPABLE_ROOT };

struct task_exec_state {
    enum task_dumpable dumpable;
} FROM_KERNEL;

struct pid_namespace;

/* A number of a task in one namespace. */
struct upid {
    int nr;
    struct pid_namespace *ns;
} FROM_KERNEL;

struct pid {
    unsigned int level;
    struct upid numbers[1]; /* by level, that of the first namespace first */
} FROM_KERNEL;

struct task_struct {
    struct thread_info thread_info;
    unsigned int __state;
    unsigned int flags;
    struct sched_entity se;
    struct cpumask cpus_mask;
    struct sched_info sched_info;
    int exit_code;
    unsigned in_iowait : 1;
    int pid;
    int tgid;
    struct task_struct *real_parent;
    struct task_struct *group_leader;
    struct pid *thread_pid;
    u64 start_time;
    unsigned long nvcsw;
    unsigned long nivcsw;
    unsigned long min_flt;
    unsigned long maj_flt;
    char comm[16];
    struct files_struct *files;
    struct sigpending pending;
    struct mm_struct *mm;
    struct task_exec_state *exec_state; /* Linux 7 */
    const struct cred *real_cred;
} FROM_KERNEL;

/* Until Linux 5.15 the number of its CPU stood here (commit bcf9033e5449, "sched: move CPU field back into thread_info"). */
struct task_struct___before_5_16 {
    unsigned int cpu;
} FROM_KERNEL;

struct linux_binprm {
    const char *filename;
    const char *interp; /* another one, where the file is a script */
} FROM_KERNEL;

struct work_struct {
    void *func;
} FROM_KERNEL;

struct seq_file;

struct bpf_iter_meta {
    struct seq_file *seq;
} FROM_KERNEL;

struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
} FROM_KERNEL;

/* Arguments of a call: where each architecture keeps them, and how it tells a 32-bit caller. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
    unsigned long di, si, dx, r10, r8, r9, bx, cx, bp, orig_ax, ip, sp;
} FROM_KERNEL;
#define INSTRUCTION(regs) ((regs)->ip)
#define STACK_TOP(regs) ((regs)->sp)
#define FRAME(regs) ((regs)->bp)
#define LINK(regs) 0
#define NUMBER_OF_CALL(regs) ((s32)(regs)->orig_ax) /* -1: it is in none, as syscall_get_nr() */
#define TS_COMPAT 0x2 /* arch/x86/include/asm/thread_info.h */
#define IS_COMPAT(task) (((task)->thread_info.status & TS_COMPAT) != 0)
#define ARGUMENTS(a, regs, compat)                                                                                     \
    do {                                                                                                               \
        (a)[0] = (compat) ? (regs)->bx : (regs)->di;                                                                   \
        (a)[1] = (compat) ? (regs)->cx : (regs)->si;                                                                   \
        (a)[2] = (regs)->dx;                                                                                           \
        (a)[3] = (compat) ? (regs)->si : (regs)->r10;                                                                  \
        (a)[4] = (compat) ? (regs)->di : (regs)->r8;                                                                   \
        (a)[5] = (compat) ? (regs)->bp : (regs)->r9;                                                                   \
    } while (0)
#define FIRST_ARGUMENT(regs, compat) ((compat) ? (regs)->bx : (regs)->di)
#define SECOND_ARGUMENT(regs, compat) ((compat) ? (regs)->cx : (regs)->si)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
    u64 regs[31];
    u64 sp;
    u64 pc;
    s32 syscallno;
} FROM_KERNEL;
#define INSTRUCTION(r) ((r)->pc)
#define STACK_TOP(r) ((r)->sp)
#define FRAME(r) ((r)->regs[29])
#define LINK(r) ((r)->regs[30])
#define NUMBER_OF_CALL(regs) ((regs)->syscallno)
#define TIF_32BIT (1ul << 22) /* arch/arm64/include/asm/thread_info.h */
#define IS_COMPAT(task) (((task)->thread_info.flags & TIF_32BIT) != 0)
#define ARGUMENTS(a, r, compat)                                                                                        \
    do {                                                                                                               \
        (a)[0] = (r)->regs[0];                                                                                         \
        (a)[1] = (r)->regs[1];                                                                                         \
        (a)[2] = (r)->regs[2];                                                                                         \
        (a)[3] = (r)->regs[3];                                                                                         \
        (a)[4] = (r)->regs[4];                                                                                         \
        (a)[5] = (r)->regs[5];                                                                                         \
    } while (0)
#define FIRST_ARGUMENT(r, compat) ((r)->regs[0])
#define SECOND_ARGUMENT(r, compat) ((r)->regs[1])
#else
#error "calls are read on x86-64 and arm64 only"
#endif

/* include/linux/sched.h */
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED_OR_TRACED 0xc
#define TASK_DEAD 0x80
