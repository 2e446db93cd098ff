/* Finds a function in the vDSO, the library that the kernel maps into every process (vdso(7)), by its name in the ELF symbol table. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "kernel.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

struct image {
    const char *base, *strings;
    const ElfW(Sym) * symbols;
    size_t count;
};

/* How many symbols there are only the hash tables say; the classic one says it outright, the GNU one by its longest chain. */
static size_t gnu_count(const uint32_t *hash)
{
    const uint32_t *buckets = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / 4), *chains = buckets + hash[0];
    uint32_t last = 0;

    for (uint32_t i = 0; i < hash[0]; i++)
        if (buckets[i] > last)
            last = buckets[i];
    while (last >= hash[1] && !(chains[last - hash[1]] & 1))
        last++;
    return last + 1;
}

static void read_dynamic(struct image *image, const ElfW(Dyn) * entry, const char *bias)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *at = bias + entry->d_un.d_ptr;
        if (entry->d_tag == DT_STRTAB)
            image->strings = at;
        else if (entry->d_tag == DT_SYMTAB)
            image->symbols = at;
        else if (entry->d_tag == DT_HASH)
            image->count = ((const uint32_t *)at)[1];
        else if (entry->d_tag == DT_GNU_HASH && image->count == 0)
            image->count = gnu_count(at);
    }
}

void *vdso_symbol(const char *name)
{
    const char *base = (const char *)getauxval(AT_SYSINFO_EHDR); // NOLINT: the kernel passes an address as a number
    const ElfW(Ehdr) *header = (const void *)base;
    const ElfW(Phdr) * part;
    const ElfW(Dyn) *dynamic = NULL;
    struct image image = {base, NULL, NULL, 0};
    const char *bias = NULL;

    if (!base)
        return NULL;
    part = (const void *)(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (part[i].p_type == PT_LOAD && !bias)
            bias = base + part[i].p_offset - part[i].p_vaddr;
        else if (part[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(base + part[i].p_offset);
    }
    if (!dynamic || !bias)
        return NULL;
    read_dynamic(&image, dynamic, bias);
    for (size_t i = 0; image.symbols && image.strings && i < image.count; i++)
        if (image.symbols[i].st_shndx != SHN_UNDEF && strcmp(image.strings + image.symbols[i].st_name, name) == 0)
            return (void *)(bias + image.symbols[i].st_value);
    return NULL;
}
