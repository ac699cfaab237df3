// Lets a program fail to sync the file or folder UNSYNCED, as on a disk with errors.

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int fsync(int file) {
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  const char *end = getenv("UNSYNCED");
  if (end && length > 0) {
    path[length] = 0;
    if (strcmp(path, end) == 0) {
      errno = EIO;
      return -1;
    }
  }
  return syscall(SYS_fsync, file);
}
