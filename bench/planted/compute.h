/* Computing: so many turns of an empty loop, the same instructions in every program, no memory. */
static inline void compute(unsigned long turns) {
    for (; turns > 0; turns--) __asm__ volatile("");
}
