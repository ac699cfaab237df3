// Gives one program a different clock: CLOCK_AHEAD seconds ahead, as many seconds ahead as the file
// CLOCK_FILE says at that moment, in eight bytes, or stopped at the Unix time CLOCK_AT. Monotonic clocks and their timers are unchanged, unlike with libfaketime.

#define _GNU_SOURCE
#include <fcntl.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *seconds_ahead;

// Maps the file, so that a change of it is a jump of the clock in the running program.
__attribute__((constructor)) static void map_file(void) {
  const char *path = getenv("CLOCK_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *found = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (found != MAP_FAILED) seconds_ahead = found;
  close(file);
}

static void adjust(time_t *seconds, long *fraction) {
  const char *ahead = getenv("CLOCK_AHEAD"), *at = getenv("CLOCK_AT");
  if (ahead) *seconds += atoll(ahead);
  if (seconds_ahead) *seconds += *seconds_ahead;
  if (at) {
    *seconds = atoll(at);
    *fraction = 0;
  }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    adjust(&now->tv_sec, &now->tv_nsec);
  }
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  int result = (int)syscall(SYS_gettimeofday, now, zone);
  if (result == 0) adjust(&now->tv_sec, &now->tv_usec);
  return result;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

// Converts the deadline from the program's clock to the kernel's.
int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
  struct timespec ours, real;
  clock_gettime(CLOCK_REALTIME, &ours);
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - ours.tv_sec;
  real.tv_nsec += until->tv_nsec - ours.tv_nsec;
  if (real.tv_nsec < 0) real.tv_sec -= 1, real.tv_nsec += 1000000000;
  if (real.tv_nsec >= 1000000000) real.tv_sec += 1, real.tv_nsec -= 1000000000;
  return sem_clockwait(semaphore, CLOCK_REALTIME, &real);
}
