/* The kernels that were compiled in. */
#pragma once
#include "search.h"

struct kernel {
  const char *name;
  search_function *search;
  int supported; /* whether this chip and operating system run it */
};

#define MAX_KERNELS 8

/* Lists the kernels, best first; returns how many there are. */
uint32_t list_kernels(struct kernel kernels[MAX_KERNELS]);
