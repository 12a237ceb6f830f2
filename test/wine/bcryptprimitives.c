/*
 * A library of Windows 10 that Wine 8 lacks. Programs written in Go, such as the TypeScript compiler, take random numbers from it.
 */

#include <windows.h>

/* The name under which advapi32 exports RtlGenRandom. */
BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
