/* Any 64-bit chip. */
#define SEARCH search_portable
#include "words.h"
#include "kernel.h"
