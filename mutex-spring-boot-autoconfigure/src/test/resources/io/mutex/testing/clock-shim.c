/* Moves the time of day of the process it is preloaded into, and lets its clocks run too fast or too slowly.
   A mapped file says by how many nanoseconds the time of day is off, and since when on the monotonic clock, in
   nanoseconds, all clocks gain how many parts in a million. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define MILLION 1000000LL

static volatile struct { long long offset, since, gain; } *shift;

static int (*timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void map(void) {
  const char *path = getenv("MUTEX_CLOCK_OFFSET");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *mapped = file < 0 ? MAP_FAILED : mmap(0, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  shift = mapped;
  close(file);
}

static long long nanos(const struct timespec *time) { return time->tv_sec * SECOND + time->tv_nsec; }

static struct timespec timespec(long long nanos) {
  return (struct timespec){.tv_sec = nanos / SECOND, .tv_nsec = nanos % SECOND};
}

static long long gained(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return (nanos(&now) - shift->since) / 1000 * shift->gain / (MILLION / 1000);
}

int clock_gettime(clockid_t id, struct timespec *now) {
  int result = syscall(SYS_clock_gettime, id, now);
  if (result == 0 && shift) {
    int day = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    if (day || id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE)
      *now = timespec(nanos(now) + (day ? shift->offset : 0) + (shift->gain ? gained() : 0));
  }
  return result;
}

/* The kernel waits by its own clock. Only a deadline on the monotonic clock is so early. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline) {
  struct timespec until = *deadline;
  if (!timedwait) {
    void *found = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    timedwait = found ? found : dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  }
  if (shift && shift->gain && until.tv_sec < SECOND) {
    long long since = shift->since;
    until = timespec(since + (nanos(deadline) - since) / 1000 * MILLION / (MILLION + shift->gain) * 1000);
  }
  return timedwait(condition, mutex, &until);
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
