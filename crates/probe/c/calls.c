/* Setups that the probes of single calls share. */
#include "kernel.h"

int call_setup(struct run *r)
{
    return is_variant(r, "raw") && RAW_MISSING ? unavailable(r, ENOSYS, RAW_MISSING) : 0;
}

int vdso_setup(struct run *r, const char *name)
{
    if (is_variant(r, "vdso") && !(r->state = vdso_symbol(name)))
        return unavailable(r, ENOSYS, "no vDSO here offers it");
    return call_setup(r);
}
