/* What is behind a descriptor of a task. */
#pragma once

#include "state.h"

/* include/uapi/linux/{stat,magic,major}.h, include/linux/socket.h */
#define KIND_MASK 0170000
#define KIND_FIFO 0010000
#define KIND_CHAR 0020000
#define KIND_DIR 0040000
#define KIND_BLOCK 0060000
#define KIND_REGULAR 0100000
#define KIND_SOCKET 0140000
#define ANON_INODE_FS_MAGIC 0x09041934
#define PID_FS_MAGIC 0x50494446
#define TTY_MAJOR 4
#define TTYAUX_MAJOR 5
#define UNIX98_PTY_MASTER_MAJOR 128
#define UNIX98_PTY_LAST_MAJOR 143
#define AF_UNIX 1

static __always_inline u8 char_kind(u32 device)
{
    u32 major = device >> 20; /* include/linux/kdev_t.h */
    if (major == TTY_MAJOR || major == TTYAUX_MAJOR ||
        (major >= UNIX98_PTY_MASTER_MAJOR && major <= UNIX98_PTY_LAST_MAJOR))
        return FILE_TERMINAL;
    return FILE_CHAR;
}

static __always_inline u8 kind_of_file(struct file *file, struct inode *inode)
{
    u64 magic = BPF_CORE_READ(inode, i_sb, s_magic);
    if (magic == ANON_INODE_FS_MAGIC || magic == PID_FS_MAGIC)
        return FILE_OTHER;
    switch (BPF_CORE_READ(inode, i_mode) & KIND_MASK) {
    case KIND_FIFO:
        return FILE_PIPE;
    case KIND_REGULAR:
    case KIND_DIR:
        return FILE_FILE;
    case KIND_BLOCK:
        return FILE_BLOCK;
    case KIND_CHAR:
        return char_kind(BPF_CORE_READ(inode, i_rdev));
    case KIND_SOCKET: {
        struct socket *socket = BPF_CORE_READ(file, private_data);
        return BPF_CORE_READ(socket, sk, __sk_common.skc_family) == AF_UNIX ? FILE_UNIX : FILE_SOCKET;
    }
    default:
        return FILE_OTHER;
    }
}

static __always_inline struct file *file_of(struct task_struct *task, u32 descriptor)
{
    /* What a task points to is read as plainly as the task; what a pointer to a pointer leads to takes a helper. */
    struct fdtable *table = task->files->fdt;
    struct file **files = table->fd;
    struct file *file = 0;
    if (descriptor < table->max_fds && files)
        bpf_probe_read_kernel(&file, sizeof(file), files + descriptor);
    return file;
}

/* Other files may be behind its descriptors from now on. */
static __always_inline void forget_files(struct task_state *t)
{
    t->kinds = 0;
    t->inode_of[0] = t->inode_of[1] = 0;
}

/* What is behind a descriptor is kept for the low ones of a task that alone has them, until it makes a call that may
 * put another file there: looking it up takes up to seven reads of the kernel's memory, longer than counting the call. */
static __always_inline bool keeps(struct task_state *t, u32 descriptor)
{
    return !t->shares && descriptor < 16;
}

static __always_inline u8 kept_kind(struct task_state *t, u32 descriptor)
{
    return t->kinds >> descriptor * 4 & 15;
}

static __always_inline void keep_kind(struct task_state *t, u32 descriptor, u8 kind)
{
    t->kinds = (t->kinds & ~(15ull << descriptor * 4)) | (u64)kind << descriptor * 4;
}

static __always_inline u8 kind_at(struct task_struct *task, struct task_state *t, u32 descriptor)
{
    bool keep = keeps(t, descriptor);
    if (keep && kept_kind(t, descriptor))
        return kept_kind(t, descriptor);
    struct file *file = file_of(task, descriptor);
    if (!file)
        return FILE_NONE;
    u8 kind = kind_of_file(file, BPF_CORE_READ(file, f_inode));
    if (keep)
        keep_kind(t, descriptor, kind);
    return kind;
}

/* The number of the file too, for a task that blocks on it. A stage of a pipeline blocks on two descriptors all the time. */
static __always_inline void look_up_file(struct blocked_record *r, struct task_struct *task, struct task_state *t,
                                         u32 descriptor)
{
    bool keep = keeps(t, descriptor);
    if (keep && t->inode_of[descriptor & 1] == descriptor + 1) {
        r->file = kept_kind(t, descriptor);
        r->inode = t->inodes[descriptor & 1];
        return;
    }
    struct file *file = file_of(task, descriptor);
    if (!file)
        return;
    struct inode *inode = BPF_CORE_READ(file, f_inode);
    r->file = kind_of_file(file, inode);
    r->inode = BPF_CORE_READ(inode, i_ino);
    if (keep) {
        keep_kind(t, descriptor, r->file);
        t->inodes[descriptor & 1] = r->inode;
        t->inode_of[descriptor & 1] = descriptor + 1;
    }
}

static __always_inline u64 pipe_at(struct task_struct *task, u32 descriptor)
{
    struct file *file = file_of(task, descriptor);
    if (!file)
        return 0;
    struct inode *inode = BPF_CORE_READ(file, f_inode);
    return (BPF_CORE_READ(inode, i_mode) & KIND_MASK) == KIND_FIFO ? BPF_CORE_READ(inode, i_ino) : 0;
}

/* Its place in a pipeline, whether or not it ever waits for another. */
static __always_inline void look_up_pipes(struct pipes *pipes, struct task_struct *task)
{
    pipes->input = pipe_at(task, 0);
    pipes->output = pipe_at(task, 1);
}
