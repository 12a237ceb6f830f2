/**
 * The parts of macOS' headers that the addon needs, because Apple's SDK may not be used elsewhere. Names, types and
 * numbers are those that Apple documents, which the compiler cannot check here.
 */
export const MACOS_HEADERS: Readonly<Record<string, string>> = {
  'errno.h': `
    int *__error(void);
    #define errno (*__error())
    #define EINVAL 22
    #define ENOSYS 78`,
  'pthread.h': '',
  'pthread/qos.h': `
    typedef enum { QOS_CLASS_DEFAULT = 0x15, QOS_CLASS_UTILITY = 0x11 } qos_class_t;
    #define QOS_MIN_RELATIVE_PRIORITY (-15)
    int pthread_set_qos_class_self_np(qos_class_t, int);`,
  'stdio.h': `
    #include <stddef.h>
    int snprintf(char *, size_t, const char *, ...) __attribute__((format(printf, 3, 4)));`,
  // clang's own headers for SSE4.1 need this file.
  'stdlib.h': `
    #include <stddef.h>
    void *malloc(size_t);
    void free(void *);
    int posix_memalign(void **, size_t, size_t);`,
  'string.h': 'char *strerror(int);',
  'sys/sysctl.h': `
    #include <stddef.h>
    int sysctlbyname(const char *, void *, size_t *, void *, size_t);`,
  'time.h': `
    struct timespec { long tv_sec, tv_nsec; };
    typedef enum { CLOCK_THREAD_CPUTIME_ID = 16 } clockid_t;
    int clock_gettime(clockid_t, struct timespec *);`,
};
