// Kills a program right before its KILL_AT_RENAME-th call to rename.

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int rename(const char *from, const char *to) {
  static int count = 0;
  const char *last = getenv("KILL_AT_RENAME");
  if (last && ++count == atoi(last)) kill(getpid(), SIGKILL);
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
