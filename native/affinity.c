#define _GNU_SOURCE /* sched_setaffinity is of Linux, not of POSIX */
#include "affinity.h"

#include <errno.h>

#ifdef __linux__
#include <sched.h>

int check_pinning(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 && sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

int pin_thread(uint32_t cpu) {
  if (cpu >= CPU_SETSIZE) return EINVAL;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno; /* 0: the calling thread */
}

#else

int check_pinning(void) { return ENOSYS; }

int pin_thread(uint32_t cpu) {
  (void)cpu;
  return ENOSYS;
}

#endif
