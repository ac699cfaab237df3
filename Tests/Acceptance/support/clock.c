// Gives one program another time of day: its clock is CLOCK_AHEAD seconds ahead, or stands still at
// the second CLOCK_AT. Clocks that nobody sets stay as they are, and so do timers on them, which
// libfaketime moves.

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void adjust(time_t *seconds, long *fraction) {
  const char *ahead = getenv("CLOCK_AHEAD"), *at = getenv("CLOCK_AT");
  if (ahead) *seconds += atoll(ahead);
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
