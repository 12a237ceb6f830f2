/* Chooses the CPUs on which threads run. */
#pragma once
#include <stdint.h>

/* Checks whether this process may pin its threads, which sandboxes can forbid. Returns 0 or an errno; changes nothing. */
int check_pinning(void);

/* Pins the calling thread to one CPU. Returns 0 or an errno: ENOSYS when the system has no function for it, EINVAL when the
   CPU does not exist or the process may not use it. */
int pin_thread(uint32_t cpu);
