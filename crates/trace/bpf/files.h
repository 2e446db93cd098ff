/* What is behind a descriptor of a task, and the paths of the files that its calls take longest on. */
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

/* Pipes, sockets and anonymous files have none. */
static __always_inline bool has_path(u8 kind)
{
    return kind == FILE_FILE || kind == FILE_BLOCK || kind == FILE_TERMINAL || kind == FILE_CHAR;
}

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, FILES);
    __type(key, struct file_key);
    __type(value, u32);
} file_numbers SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, FILES);
    __type(key, u32);
    __type(value, struct file_path);
} file_paths SEC(".maps");

static __always_inline struct file_key key_of_file(struct inode *inode)
{
    struct file_key key = {
        .inode = (u64)inode,
        .number = BPF_CORE_READ(inode, i_ino),
        .generation = BPF_CORE_READ(inode, i_generation),
    };
    return key;
}

/* 0: it has none so far. */
static __always_inline u8 number_of_file(struct inode *inode, u8 kind)
{
    if (!has_path(kind))
        return 0;
    struct file_key key = key_of_file(inode);
    u32 *number = bpf_map_lookup_elem(&file_numbers, &key);
    return number ? *number : 0;
}

/* From the file upwards, through the mounts, without a lock: a rename meanwhile makes a component that is wrong or cut. */
static __always_inline void note_path(struct file_path *to, struct vfsmount *mount, struct dentry *at)
{
    /* Read back, so that its value is unknown to the verifier: see state.h. */
    to->bytes = 0;
    u64 bytes = *(volatile u32 *)&to->bytes;
    u32 whole = 0;
    for (u32 i = 0; i < COMPONENTS && bytes <= FILE_PATH_BYTES - COMPONENT_BYTES; i++) {
        if (at == BPF_CORE_READ(mount, mnt_root)) {
            if (!bpf_core_field_exists(struct mount, mnt_mountpoint))
                break;
            struct mount *here = (void *)mount - bpf_core_field_offset(struct mount, mnt);
            struct mount *above = BPF_CORE_READ(here, mnt_parent);
            if (above == here) {
                whole = 1;
                break;
            }
            at = BPF_CORE_READ(here, mnt_mountpoint);
            mount = (void *)above + bpf_core_field_offset(struct mount, mnt);
            continue;
        }
        const unsigned char *name = BPF_CORE_READ(at, d_name.name);
        /* Masked here: up to Linux 6.12 at least, the verifier loses the bounds of an index that lies on the stack. */
        u64 place = bytes;
        barrier_var(place);
        place &= FILE_PATH_BYTES - 1;
        long n = bpf_probe_read_kernel_str(to->components + place, COMPONENT_BYTES, name);
        if (n <= 0)
            break;
        bytes += n;
        struct dentry *above = BPF_CORE_READ(at, d_parent);
        if (above == at) {
            whole = 1;
            break;
        }
        at = above;
    }
    to->bytes = bytes;
    to->whole = whole;
}

/* The number of a file, a new one where it had none; 0: all are taken. Neither inlined nor static, so that the verifier looks at it
 * once. */
__attribute__((noinline)) int number_for(u64 address)
{
    struct file *file = (void *)address;
    struct file_key key = key_of_file(BPF_CORE_READ(file, f_inode));
    u32 *known = bpf_map_lookup_elem(&file_numbers, &key);
    if (known)
        return *known;
    if (tree.files >= FILES - 1)
        return 0;
    u32 number = __sync_fetch_and_add(&tree.files, 1) + 1;
    struct file_path *path = bpf_map_lookup_elem(&file_paths, &number);
    if (!path)
        return 0;
    note_path(path, BPF_CORE_READ(file, f_path.mnt), BPF_CORE_READ(file, f_path.dentry));
    if (!bpf_map_update_elem(&file_numbers, &key, &number, BPF_NOEXIST))
        return number;
    /* Another CPU was faster. */
    known = bpf_map_lookup_elem(&file_numbers, &key);
    return known ? *known : 0;
}

static __always_inline struct file *file_of(struct task_struct *task, u32 descriptor)
{
    struct fdtable *table = BPF_CORE_READ(task, files, fdt);
    struct file **files = BPF_CORE_READ(table, fd);
    struct file *file = 0;
    if (descriptor < BPF_CORE_READ(table, max_fds) && files)
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
    return !t->shares && descriptor < KEPT_FILES;
}

static __always_inline u8 kept_kind(struct task_state *t, u32 descriptor)
{
    return t->kinds >> descriptor * 4 & 15;
}

/* Shifts, not an index: up to Linux 6.12 at least, the verifier loses the bounds of one that lies on the stack. */
static __always_inline u8 kept_number(struct task_state *t, u32 descriptor)
{
    u64 numbers = descriptor < 8 ? t->low_file_numbers : t->high_file_numbers;
    return numbers >> (descriptor & 7) * 8;
}

static __always_inline void keep_file(struct task_state *t, u32 descriptor, u8 kind, u8 number)
{
    t->kinds = (t->kinds & ~(15ull << descriptor * 4)) | (u64)kind << descriptor * 4;
    u64 others = ~(255ull << (descriptor & 7) * 8), put = (u64)number << (descriptor & 7) * 8;
    if (descriptor < 8)
        t->low_file_numbers = (t->low_file_numbers & others) | put;
    else
        t->high_file_numbers = (t->high_file_numbers & others) | put;
}

/* Notes the file that a call transfers data of. */
static __always_inline void note_file(struct task_struct *task, struct task_state *t, u32 descriptor)
{
    bool keep = keeps(t, descriptor);
    if (keep && kept_kind(t, descriptor)) {
        t->file = kept_kind(t, descriptor);
        t->file_number = kept_number(t, descriptor);
        return;
    }
    struct file *file = file_of(task, descriptor);
    if (!file)
        return;
    struct inode *inode = BPF_CORE_READ(file, f_inode);
    t->file = kind_of_file(file, inode);
    t->file_number = number_of_file(inode, t->file);
    t->shared_inode = t->shares ? (u64)inode : 0;
    if (keep)
        keep_file(t, descriptor, t->file, t->file_number);
}

/* A file gets a number after calls on files without one have taken this long on a CPU. After every so many numbers it is twice as long:
 * the numbers last, and what is not told by file stays a small part of the time. */
#define NUMBERED_FROM_NS 100000
#define DOUBLED_AFTER 16

/* A call on a file without a number has ended, after some time that leads to a number. The file of the call that completes this time
 * gets it: the longer the calls on a file last, the sooner one of them does. */
__attribute__((noinline)) int may_give_number(u64 lasted)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = state_of(task);
    struct cpu_state *cpu = this_cpu();
    if (!t || !cpu)
        return 0;
    cpu->unnumbered += lasted;
    if (cpu->unnumbered < (u64)NUMBERED_FROM_NS << tree.files / DOUBLED_AFTER)
        return 0;
    cpu->unnumbered = 0;
    u32 descriptor = t->args[0];
    struct file *file = file_of(task, descriptor);
    if (!file || (t->shares && (u64)BPF_CORE_READ(file, f_inode) != t->shared_inode))
        return 0;
    t->file_number = number_for((u64)file);
    if (keeps(t, descriptor))
        keep_file(t, descriptor, t->file, t->file_number);
    return 0;
}

/* Looks up the file of the running task, which blocks on it, with its inode. Neither inlined nor static: see state.h. */
__attribute__((noinline)) int look_up_file(u32 descriptor)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = state_of(task);
    struct file *file = file_of(task, descriptor);
    if (!t || !file)
        return FILE_NONE;
    bool keep = keeps(t, descriptor);
    struct inode *inode = BPF_CORE_READ(file, f_inode);
    u8 kind = kind_of_file(file, inode);
    if (keep)
        keep_file(t, descriptor, kind, number_of_file(inode, kind));
    t->inodes[descriptor & 1] = BPF_CORE_READ(inode, i_ino);
    t->inode_of[descriptor & 1] = keep ? descriptor + 1 : 0;
    return kind;
}

/* Notes the file that a task blocks on. A stage of a pipeline blocks on two descriptors all the time. */
static __always_inline void note_blocking_file(struct blocked_record *r, struct task_state *t, u32 descriptor)
{
    bool known = keeps(t, descriptor) && t->inode_of[descriptor & 1] == descriptor + 1;
    r->file = known ? kept_kind(t, descriptor) : look_up_file(descriptor);
    r->inode = r->file == FILE_NONE ? 0 : t->inodes[descriptor & 1];
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
