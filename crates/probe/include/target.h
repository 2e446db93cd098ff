/* The program that the process probes start: this one, told so by its first argument. */
#ifndef WHYFASTER_TARGET_H
#define WHYFASTER_TARGET_H

#define STAMP_FD 3 /* where the target writes */

#define TARGET_STAMP "--stamp" /* write the time of main's first act to descriptor 3, end */
#define TARGET_WHO "--who"     /* write the number of its process instead, end */
#define TARGET_CHAIN "--chain" /* replace itself N times, end */
#define TARGET_TOLD "--told"   /* the same, and write a byte to descriptor 3 each time */

int is_target(const char *first_argument);
int target_main(int argc, char **argv);
#endif
