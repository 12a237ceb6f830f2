/* Plain C, for any 64-bit chip: 1 nonce a step. */
#define SEARCH search_portable
#include "words.h"
#include "kernel.h"
