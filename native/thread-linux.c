/* Threads on Linux, and on every system that has no file of its own. */
#if !defined(_WIN32) && !defined(__APPLE__)
#define _GNU_SOURCE /* sched_setaffinity belongs to Linux, not to POSIX. */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef __linux__
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

int pin_thread(const uint32_t *cpus, size_t count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (size_t i = 0; i < count; i++) {
    if (cpus[i] >= CPU_SETSIZE) return EINVAL;
    CPU_SET(cpus[i], &set);
  }
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno; /* 0 stands for the calling thread. */
}
#else
int check_pinning(void) { return ENOSYS; }

int pin_thread(const uint32_t *cpus, size_t count) {
  (void)cpus, (void)count;
  return ENOSYS;
}
#endif

/* On Linux, Node.js's own os.setPriority sets the niceness of the calling thread. */
int set_thread_priority(uint32_t niceness) {
  (void)niceness;
  return ENOSYS;
}

int read_thread_cpu_ms(double *ms) {
  struct timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return errno;
  *ms = (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
  return 0;
}

int list_cores(add_core_function *add, void *context) {
  (void)add, (void)context;
  return 0;
}

void explain_fault(int fault, char *text, size_t bytes) { snprintf(text, bytes, "%s", strerror(fault)); }
#endif
