/* Lists the kernels of this build. */
#pragma once
#include "search.h"

struct kernel {
  const char *name;
  search_function *search;
  int supported; /* Whether this chip and operating system can run the kernel. */
};

#define MAX_KERNELS 9

/* Fills in the kernels, the usually fastest first. Returns how many there are. */
uint32_t list_kernels(struct kernel kernels[MAX_KERNELS]);
