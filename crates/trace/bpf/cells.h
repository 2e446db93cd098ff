/* Where the calls of a group are counted. */
#pragma once

#include "state.h"

/* All memory is there before it is needed: what is allocated from a tracepoint may fail, and then a call is not counted.
 * A cell is found by its index, which the kernel's compiler turns into a few instructions. Counted by process this becomes
 * a plain array of more cells, which the CPUs share. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, CELLS);
    __type(key, u32);
    __type(value, struct cell);
} cells SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, CELLS);
    __type(key, struct cell_key);
    __type(value, u32);
} cell_indices SEC(".maps");

/* Where a call of a group was counted last, by the low bits of both. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, GUESSES);
    __type(key, u32);
    __type(value, u32);
} guesses SEC(".maps");

/* Cells that were in use and are not any more. */
struct {
    __uint(type, BPF_MAP_TYPE_STACK);
    __uint(max_entries, CELLS);
    __type(value, u32);
} free_cells SEC(".maps");

/* The index of a cell that nobody has; false: all are taken. */
static __always_inline bool take_index(u32 *index)
{
    if (!bpf_map_pop_elem(&free_cells, index))
        return true;
    if (tree.cells >= settings.cells)
        return false;
    *index = __sync_fetch_and_add(&tree.cells, 1);
    return *index < settings.cells;
}

/* Cells of single files are made only while half of all cells were never in use: the others count calls that would be lost else. */
static __always_inline bool is_without_room(u32 call)
{
    return call >> FILE_SHIFT & 15 && call & NUMBER_BITS && tree.cells >= settings.cells / 2;
}

/* Neither inlined nor static, so that the verifier looks at it once. */
__attribute__((noinline)) int index_of(u32 group, u32 call)
{
    struct cell_key key = { .group = group, .call = call };
    u32 *known = bpf_map_lookup_elem(&cell_indices, &key);
    if (known)
        return *known;
    if (is_without_room(call)) {
        key.call &= ~NUMBER_BITS;
        known = bpf_map_lookup_elem(&cell_indices, &key);
        if (known)
            return *known;
    }
    u32 index = 0;
    if (!take_index(&index))
        return -1;
    if (!bpf_map_update_elem(&cell_indices, &key, &index, BPF_NOEXIST))
        return index;
    /* Another CPU was faster. */
    bpf_map_push_elem(&free_cells, &index, BPF_ANY);
    known = bpf_map_lookup_elem(&cell_indices, &key);
    return known ? (int)*known : -1;
}

/* `call`: with the kind of file, CALL_AND_FILE. The guess is another's where two share its place; the cell itself says
 * whose it is. */
static __always_inline struct cell *cell_of(u32 group, u32 call)
{
    u64 owner = (u64)group << 32 | call | CELL_USED;
    u32 file = (call & NUMBER_BITS) >> NUMBER_SHIFT;
    u32 place = (group << 9 ^ file * 1021 ^ call >> FILE_SHIFT << 5 ^ call) & (GUESSES - 1);
    u32 *guess = bpf_map_lookup_elem(&guesses, &place);
    if (!guess)
        return 0;
    u32 index = *guess;
    struct cell *cell = bpf_map_lookup_elem(&cells, &index);
    if (cell && cell->owner == owner)
        return cell;
    index = index_of(group, call);
    cell = bpf_map_lookup_elem(&cells, &index);
    if (!cell) {
        LOST(map);
        return 0;
    }
    *guess = index;
    cell->owner = owner;
    return cell;
}
