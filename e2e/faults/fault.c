/* A disk that fails, for a program that is started with this library preloaded (LD_PRELOAD).
 *
 *   FAULT_PLACES=/a:/b   only what lies below these folders is counted and fails
 *   FAULT_SKIP=x:y       not what has one of these words in its path
 *   FAULT_AT=N           the operation that fails, counted from 1
 *   FAULT_KIND=          kill   the program is killed before it
 *                        torn   the same, but half of a write is made first
 *                        eio    it fails, once
 *                        gone   it fails, and every later one: the disk was pulled
 *                        full   from it on nothing new can be written
 *                        rot    a read of it fails, once
 *   FAULT_LOG=FILE       how many operations there were is written there in the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FDS = 4096 };
static _Atomic char ours[FDS];
static atomic_long operations;
static long at;
static const char *kind = "", *places = "", *skip = "", *log_file;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("FAULT_AT");
    at = text ? atol(text) : 0;
    if ((text = getenv("FAULT_KIND"))) kind = text;
    if ((text = getenv("FAULT_PLACES"))) places = text;
    if ((text = getenv("FAULT_SKIP"))) skip = text;
    log_file = getenv("FAULT_LOG");
}

__attribute__((destructor)) static void end(void) {
    if (!log_file) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", (long)operations);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return;
    syscall(SYS_write, fd, text, length);
    syscall(SYS_close, fd);
}

/* Whether one of the words of a list, divided by colons, fits a path: at its start, or anywhere. */
static int fits(const char *path, const char *list, int at_start) {
    while (*list) {
        size_t length = strcspn(list, ":");
        char word[1024];
        if (length && length < sizeof word) {
            memcpy(word, list, length);
            word[length] = 0;
            if (at_start ? !strncmp(path, word, length) : strstr(path, word) != NULL) return 1;
        }
        list += length + (list[length] == ':');
    }
    return 0;
}

static int is_ours(const char *path) { return path && fits(path, places, 1) && !fits(path, skip, 0); }
static int is_open(int fd) { return fd >= 0 && fd < FDS && ours[fd]; }
static void die(void) { syscall(SYS_kill, getpid(), SIGKILL); }

enum what { NAMES, ROOM, READ };

/* Counts an operation and says whether it fails. */
static int fails(enum what what) {
    int is_read = what == READ;
    if (is_read != !strcmp(kind, "rot")) return 0;
    long number = ++operations;
    if (!at || number < at) return 0;
    if (number == at && (!strcmp(kind, "kill") || !strcmp(kind, "torn"))) die();
    if (!strcmp(kind, "full")) {
        errno = ENOSPC;
        return what == ROOM;
    }
    errno = EIO;
    return number == at || !strcmp(kind, "gone");
}

/* Like the above; of a write that is torn, half is on the disk. */
static int fails_to_write(int fd, const void *bytes, size_t count) {
    if (!strcmp(kind, "torn") && at && operations + 1 == at) syscall(SYS_write, fd, bytes, count / 2);
    return fails(ROOM);
}

static int opened(int fd, const char *path) {
    if (fd >= 0 && fd < FDS) ours[fd] = (char)is_ours(path);
    return fd;
}

static int may_open(const char *path, int flags) {
    int makes = (flags & O_CREAT) || (flags & O_TRUNC);
    return !(makes && is_ours(path) && fails(ROOM));
}

#define OPEN(name)                                        \
    int name(const char *path, int flags, ...) {          \
        va_list rest;                                     \
        va_start(rest, flags);                            \
        mode_t mode = va_arg(rest, mode_t);               \
        va_end(rest);                                     \
        if (!may_open(path, flags)) return -1;            \
        return opened(REAL(name)(path, flags, mode), path); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                            \
    int name(int folder, const char *path, int flags, ...) {    \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        mode_t mode = va_arg(rest, mode_t);                     \
        va_end(rest);                                           \
        if (!may_open(path, flags)) return -1;                  \
        return opened(REAL(name)(folder, path, flags, mode), path); \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int fd) {
    if (fd >= 0 && fd < FDS) ours[fd] = 0;
    return REAL(close)(fd);
}

ssize_t read(int fd, void *bytes, size_t count) {
    return is_open(fd) && fails(READ) ? -1 : REAL(read)(fd, bytes, count);
}
ssize_t write(int fd, const void *bytes, size_t count) {
    return is_open(fd) && fails_to_write(fd, bytes, count) ? -1 : REAL(write)(fd, bytes, count);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    return is_open(fd) && fails(ROOM) ? -1 : REAL(pwrite64)(fd, bytes, count, offset);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    return is_open(fd) && fails(ROOM) ? -1 : REAL(writev)(fd, parts, count);
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t count, unsigned flags) {
    return is_open(out) && fails(ROOM) ? -1 : REAL(copy_file_range)(in, from, out, to, count, flags);
}
int fsync(int fd) { return is_open(fd) && fails(NAMES) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return is_open(fd) && fails(NAMES) ? -1 : REAL(fdatasync)(fd); }
int ftruncate64(int fd, off64_t size) { return is_open(fd) && fails(NAMES) ? -1 : REAL(ftruncate64)(fd, size); }
int fchmod(int fd, mode_t mode) { return is_open(fd) && fails(NAMES) ? -1 : REAL(fchmod)(fd, mode); }
int futimens(int fd, const struct timespec times[2]) {
    return is_open(fd) && fails(NAMES) ? -1 : REAL(futimens)(fd, times);
}
int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
    return is_ours(path) && fails(NAMES) ? -1 : REAL(utimensat)(folder, path, times, flags);
}
int chmod(const char *path, mode_t mode) { return is_ours(path) && fails(NAMES) ? -1 : REAL(chmod)(path, mode); }
int rename(const char *from, const char *to) {
    return (is_ours(from) || is_ours(to)) && fails(NAMES) ? -1 : REAL(rename)(from, to);
}
int link(const char *from, const char *to) {
    return (is_ours(from) || is_ours(to)) && fails(ROOM) ? -1 : REAL(link)(from, to);
}
int unlink(const char *path) { return is_ours(path) && fails(NAMES) ? -1 : REAL(unlink)(path); }
int mkdir(const char *path, mode_t mode) { return is_ours(path) && fails(ROOM) ? -1 : REAL(mkdir)(path, mode); }
int rmdir(const char *path) { return is_ours(path) && fails(NAMES) ? -1 : REAL(rmdir)(path); }
