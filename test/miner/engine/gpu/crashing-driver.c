// A Vulkan driver that kills the process that loads it, the first CRASHES times. After that it is no longer a driver,
// and the loader ignores it. Each time adds a byte to the file LOADED. pretend-driver.ts compiles it.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((constructor)) static void load(void) {
    struct stat status;
    int file = open(LOADED, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0 || write(file, "!", 1) != 1 || fstat(file, &status) != 0) _exit(1);
    close(file);
    if (status.st_size <= CRASHES) raise(SIGKILL); // a signal of its own would leave a core behind
}
