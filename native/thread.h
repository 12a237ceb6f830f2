/*
 * What the addon does with threads and cores in the system's own terms. Each system has a file: thread-linux.c,
 * thread-macos.c and thread-windows.c.
 *
 * A function that can fail returns 0 or the system's number of the fault, which `explain_fault` puts into words.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Checks whether this process may pin its threads, which sandboxes can forbid. Changes nothing. */
int check_pinning(void);

/* Confines the calling thread to these CPUs, of which there is at least one. */
int pin_thread(const uint32_t *cpus, size_t count);

/* Gives the calling thread the priority that the system has for a niceness of 0 (normal) to 19 (all others go first). */
int set_thread_priority(uint32_t niceness);

/*
 * Stores the processor time of the calling thread in milliseconds, exact to 0.1 ms; fails where the system does not
 * report it that exactly.
 */
int read_thread_cpu_ms(double *ms);

/* A physical core; on macOS all cores of one kind. */
struct core {
  uint32_t efficiency_class; /* Cores of a higher class are faster. */
  const uint32_t *cpus;      /* Ascending; valid during the call that receives it. */
  size_t count;
};

typedef void add_core_function(void *context, const struct core *core);

/* Calls `add` for each core that this process may use: for none on Linux, where /sys lists them. */
int list_cores(add_core_function *add, void *context);

/* Writes the system's text for a fault as UTF-8, cut off where there is no more room. */
void explain_fault(int fault, char *text, size_t bytes);
