/* Threads on macOS, which pins none: the class of a thread decides on which cores it may run. */
#if defined(__APPLE__)
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <pthread/qos.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysctl.h>
#include <time.h>

int check_pinning(void) { return ENOSYS; }

int pin_thread(const uint32_t *cpus, size_t count) {
  (void)cpus, (void)count;
  return ENOSYS;
}

/*
 * `utility` yields to the programs that somebody uses, and still runs on fast cores where they are free. `background` would
 * never leave the efficiency cores. Within a class, a relative priority goes down to QOS_MIN_RELATIVE_PRIORITY (-15).
 */
int set_thread_priority(uint32_t niceness) {
  if (niceness == 0) return pthread_set_qos_class_self_np(QOS_CLASS_DEFAULT, 0);
  const int relative = (int)(niceness - 1) * QOS_MIN_RELATIVE_PRIORITY / 18;
  return pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, relative);
}

int read_thread_cpu_ms(double *ms) {
  struct timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return errno;
  *ms = (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
  return 0;
}

/* Returns 0 when the system does not know the name. */
static uint32_t system_number(const char *name) {
  uint32_t number = 0;
  size_t bytes = sizeof number;
  return sysctlbyname(name, &number, &bytes, NULL, 0) == 0 ? number : 0;
}

/* More hardware threads of one kind than any Mac has. */
#define MOST_CPUS 256

/* Level 0 has the fastest cores. Before macOS 12 the names are unknown, and there are no levels. */
int list_cores(add_core_function *add, void *context) {
  const uint32_t levels = system_number("hw.nperflevels");
  for (uint32_t level = 0, next = 0; level < levels; level++) {
    char name[64];
    uint32_t cpus[MOST_CPUS];
    snprintf(name, sizeof name, "hw.perflevel%u.logicalcpu", (unsigned)level);
    const uint32_t count = system_number(name);
    if (count == 0 || count > MOST_CPUS) return EINVAL;
    for (uint32_t i = 0; i < count; i++) cpus[i] = next++;
    add(context, &(struct core){levels - 1 - level, cpus, count});
  }
  return 0;
}

void explain_fault(int fault, char *text, size_t bytes) { snprintf(text, bytes, "%s", strerror(fault)); }
#endif
