/* Stands between the program and the C library (LD_PRELOAD), and between it and the kernel, for four kinds of tests.
 *
 * Records: every change of a file whose path begins with PRELOAD_WATCH, with its bytes, goes to the file PRELOAD_LOG, and
 * so does what the program says on stderr. A record is a line `KIND OFFSET LENGTH NAME` and then LENGTH bytes.
 *
 * Faults: of the calls pread and pwrite of files under PRELOAD_TARGET, one in PRELOAD_ONE_IN (drawn from a fixed seed)
 * meets PRELOAD_FAULT: eio, enospc, eintr, eagain, short. With PRELOAD_READS_ONLY no write does. The engines make these
 * calls without the C library, so a seccomp filter sends the thread that makes one here (SIGSYS).
 *
 * Trespasses: with the fault trespass, such a transfer first tries to make the files PRELOAD_ALLOWED and
 * PRELOAD_FORBIDDEN: what a mistake of the program could do at this moment.
 *
 * No process: with the fault fork the system gives none, and the file PRELOAD_ALLOWED says that it was asked for one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static int log_fd = -1;
static const char *watch, *target, *fault;
static unsigned long one_in = 1;
static int reads_only;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void trap(void);

__attribute__((constructor)) static void begin(void) {
    watch = getenv("PRELOAD_WATCH");
    target = getenv("PRELOAD_TARGET");
    fault = getenv("PRELOAD_FAULT");
    if (getenv("PRELOAD_ONE_IN")) one_in = strtoul(getenv("PRELOAD_ONE_IN"), 0, 10);
    reads_only = getenv("PRELOAD_READS_ONLY") != 0;
    if (fault && target) trap();
    if (getenv("PRELOAD_LOG")) log_fd = open(getenv("PRELOAD_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int under(const char *prefix, const char *path) { return prefix && !strncmp(prefix, path, strlen(prefix)); }

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlink, link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static void all(const void *bytes, size_t length) {
    while (length > 0) {
        long done = syscall(SYS_write, log_fd, bytes, length);
        if (done <= 0) abort();
        bytes = (const char *)bytes + done;
        length -= done;
    }
}

static void record(char kind, long long offset, const void *bytes, size_t length, const char *path) {
    char head[PATH_MAX + 64];
    const char *name = strrchr(path, '/');
    int size = snprintf(head, sizeof head, "%c %lld %zu %s\n", kind, offset, length, name ? name + 1 : path);
    pthread_mutex_lock(&lock);
    all(head, size);
    all(bytes, length);
    pthread_mutex_unlock(&lock);
}

static void changed(int fd, char kind, long long offset, const void *bytes, size_t length) {
    char path[PATH_MAX];
    if (log_fd < 0) return;
    if (kind == 'W' && fd == 2) record('S', 0, bytes, length, "stderr");
    else if (path_of(fd, path) && under(watch, path)) record(kind, offset, bytes, length, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The fault that this transfer meets: 0 for none, else an errno; it may also shorten it. */
static int meets(int fd, size_t *length) {
    static unsigned long long state = 88172645463325252ULL;
    char path[PATH_MAX];
    if (!path_of(fd, path) || !under(target, path)) return 0;
    pthread_mutex_lock(&lock);
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    int hit = state % one_in == 0;
    pthread_mutex_unlock(&lock);
    if (!hit) return 0;
    if (!strcmp(fault, "eio")) return EIO;
    if (!strcmp(fault, "enospc")) return ENOSPC;
    if (!strcmp(fault, "eintr")) return EINTR;
    if (!strcmp(fault, "eagain")) return EAGAIN;
    if (!strcmp(fault, "short")) *length /= 2;
    if (!strcmp(fault, "trespass")) {
        close(open(getenv("PRELOAD_FORBIDDEN"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        close(open(getenv("PRELOAD_ALLOWED"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    return 0;
}

#if defined(__x86_64__)
#define ARGUMENT(context, n) ((context)->uc_mcontext.gregs[(int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10}[n]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARGUMENT(context, n) ((context)->uc_mcontext.regs[n])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#endif

/* A sixth argument, of which these calls have none: with it the filter lets the call pass. */
#define OURS 0x10D0DE

static void trapped(int signal, siginfo_t *call, void *state) {
    ucontext_t *context = state;
    int before = errno, fd = ARGUMENT(context, 0), spared = reads_only && call->si_syscall == SYS_pwrite64;
    size_t length = ARGUMENT(context, 2);
    int error = spared ? 0 : meets(fd, &length);
    (void)signal;
    if (!error) {
        long done = syscall(call->si_syscall, fd, ARGUMENT(context, 1), length, ARGUMENT(context, 3), 0, OURS);
        if (done < 0) error = errno;
        else RESULT(context) = done;
    }
    if (error) RESULT(context) = -error;
    errno = before;
}

static void trap(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OURS, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("preload: no seccomp filter");
        abort();
    }
}

ssize_t write(int fd, const void *bytes, size_t length) {
    off_t at = fd == 2 ? 0 : lseek(fd, 0, SEEK_CUR);
    ssize_t done = REAL(write)(fd, bytes, length);
    if (done > 0) changed(fd, 'W', at, bytes, done);
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    ssize_t done = REAL(pwrite64)(fd, bytes, length, at);
    if (done > 0) changed(fd, 'W', at, bytes, done);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return pwrite64(fd, bytes, length, at); }

int ftruncate64(int fd, off64_t length) {
    int done = REAL(ftruncate64)(fd, length);
    if (done == 0) changed(fd, 'T', length, "", 0);
    return done;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int fsync(int fd) {
    int done = REAL(fsync)(fd);
    if (done == 0) changed(fd, 'F', 0, "", 0);
    return done;
}

int fdatasync(int fd) {
    int done = REAL(fdatasync)(fd);
    if (done == 0) changed(fd, 'F', 0, "", 0);
    return done;
}

int unlink(const char *path) {
    int done = REAL(unlink)(path);
    if (done == 0 && log_fd >= 0 && under(watch, path)) record('U', 0, "", 0, path);
    return done;
}

pid_t fork(void) {
    if (!fault || strcmp(fault, "fork")) return REAL(fork)();
    close(open(getenv("PRELOAD_ALLOWED"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return errno = EAGAIN, -1;
}
