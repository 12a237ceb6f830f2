#define _GNU_SOURCE /* sched_setaffinity belongs to Linux, not to POSIX. */
#include "affinity.h"

#include <errno.h>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>

/* Sets the CPUs of the calling thread to those that it may use already. */
static void *try_pinning(void *fault) {
  cpu_set_t set;
  *(int *)fault =
      sched_getaffinity(0, sizeof set, &set) == 0 && sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
  return NULL;
}

int check_pinning(void) {
  pthread_t thread; /* A new thread is used, because a thread whose CPUs were set does not follow later changes. */
  int fault;
  int refused = pthread_create(&thread, NULL, try_pinning, &fault);
  if (refused != 0) return refused;
  pthread_join(thread, NULL);
  return fault;
}

int pin_thread(uint32_t cpu) {
  if (cpu >= CPU_SETSIZE) return EINVAL;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno; /* 0 stands for the calling thread. */
}

#else

int check_pinning(void) { return ENOSYS; }

int pin_thread(uint32_t cpu) {
  (void)cpu;
  return ENOSYS;
}

#endif
