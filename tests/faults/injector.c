/* Loaded into a process by LD_PRELOAD: faults at an exact byte of what it writes, and clocks that jump.

   FAULT_UNDER=FOLDER     only files below it count, and sockets
   FAULT_KILL_AFTER=N     SIGKILL once N bytes are written; the last write is cut short
   FAULT_KILL_PID=PID     another process is killed instead
   FAULT_FULL_AFTER=N     writes to files fail with ENOSPC once N bytes are written
   FAULT_CLOCK=SECONDS    the wall clock is wrong by so much
   FAULT_CLOCK_EVERY=N    … and jumps ahead, back and behind at each Nth reading of it
   FAULT_REPORT=FILE      the number of bytes is written there at the end */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic long long written, readings;
static long long kill_after = -1, full_after = -1, clock_wrong, clock_every;
static pid_t kill_pid;
static const char *under, *report;

static long long number(const char *name, long long otherwise) {
  const char *text = getenv(name);
  return text ? atoll(text) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
  kill_after = number("FAULT_KILL_AFTER", -1);
  full_after = number("FAULT_FULL_AFTER", -1);
  kill_pid = (pid_t)number("FAULT_KILL_PID", 0);
  clock_wrong = number("FAULT_CLOCK", 0);
  clock_every = number("FAULT_CLOCK_EVERY", 0);
  under = getenv("FAULT_UNDER");
  report = getenv("FAULT_REPORT");
}

__attribute__((destructor)) static void end(void) {
  FILE *file = report ? fopen(report, "w") : NULL;
  if (!file) return;
  fprintf(file, "%lld\n", (long long)written);
  fclose(file);
}

enum { NOT_COUNTED, OF_FILE, OF_SOCKET };

static int kind_of(int fd) {
  struct stat found;
  char link[64], path[4096];
  if (fd <= 2 || (kill_after < 0 && full_after < 0 && !report) || fstat(fd, &found)) return NOT_COUNTED;
  if (S_ISSOCK(found.st_mode)) return OF_SOCKET;
  if (!S_ISREG(found.st_mode)) return NOT_COUNTED;
  if (!under) return OF_FILE;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return NOT_COUNTED;
  path[length] = 0;
  return strncmp(path, under, strlen(under)) ? NOT_COUNTED : OF_FILE;
}

/* Return how many of these bytes may be written; below zero: the disk is full. */
static ssize_t allowed(int kind, size_t size, int *last) {
  *last = 0;
  if (kind == NOT_COUNTED) return (ssize_t)size;
  long long before = atomic_fetch_add(&written, (long long)size), after = before + (long long)size;
  if (kind == OF_FILE && full_after >= 0 && after > full_after) return -1;
  if (kill_after >= 0 && before <= kill_after && after > kill_after) {
    *last = 1;
    return (ssize_t)(kill_after - before);
  }
  return (ssize_t)size;
}

static void now_kill(void) {
  kill(kill_pid ? kill_pid : getpid(), SIGKILL);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRITING(call)                                     \
  int last;                                               \
  ssize_t may = allowed(kind_of(fd), size, &last), done;  \
  if (may < 0) {                                          \
    errno = ENOSPC;                                       \
    return -1;                                            \
  }                                                       \
  if (last && kill_pid) {                                 \
    now_kill();                                           \
    last = 0, may = (ssize_t)size;                        \
  }                                                       \
  done = call;                                            \
  if (last) now_kill();                                   \
  return done;

ssize_t write(int fd, const void *data, size_t size) {
  WRITING(REAL(write)(fd, data, (size_t)may))
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  WRITING(REAL(pwrite)(fd, data, (size_t)may, at))
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  WRITING(REAL(pwrite64)(fd, data, (size_t)may, at))
}
ssize_t send(int fd, const void *data, size_t size, int flags) {
  WRITING(REAL(send)(fd, data, (size_t)may, flags))
}

static time_t wrong_by(void) {
  if (!clock_every) return (time_t)clock_wrong;
  long long turn = atomic_fetch_add(&readings, 1) / clock_every % 4;
  return (time_t)(turn == 1 ? clock_wrong : turn == 3 ? -clock_wrong : 0);
}

int clock_gettime(clockid_t id, struct timespec *now) {
  int result = REAL(clock_gettime)(id, now);
  if (!result && clock_wrong && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += wrong_by();
  return result;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int result = REAL(gettimeofday)(now, zone);
  if (!result && clock_wrong) now->tv_sec += wrong_by();
  return result;
}
time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
