/* Where threads run. */
#pragma once
#include <stdint.h>

/* Whether this process may place its threads at all: sandboxes can forbid it. Returns 0 or an errno; changes nothing. */
int check_pinning(void);

/* Pins the calling thread to one CPU. Returns 0 or an errno: ENOSYS where the system has no way to do it, EINVAL for a
   CPU that is not there or that the process may not use. */
int pin_thread(uint32_t cpu);
