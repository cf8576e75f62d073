/* Adds an offset, the nanoseconds in a mapped file, to the time of day of the process it is preloaded into. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *offset;

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("MUTEX_CLOCK_OFFSET");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *mapped = file < 0 ? MAP_FAILED : mmap(0, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  offset = mapped;
  close(file);
}

int clock_gettime(clockid_t id, struct timespec *now) {
  int result = syscall(SYS_clock_gettime, id, now);
  if (result == 0 && offset && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
    long long nanos = now->tv_sec * 1000000000LL + now->tv_nsec + *offset;
    now->tv_sec = nanos / 1000000000;
    now->tv_nsec = nanos % 1000000000;
  }
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (seconds) *seconds = precise.tv_sec;
  return precise.tv_sec;
}
