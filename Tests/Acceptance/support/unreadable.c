// Lets a program fail to open files whose path ends with UNREADABLE, as on a disk with errors.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int open_file(const char *path, int flags, va_list more) {
  const char *end = getenv("UNREADABLE");
  size_t length = strlen(path);
  if (end && length >= strlen(end) && strcmp(path + length - strlen(end), end) == 0) {
    errno = EIO;
    return -1;
  }
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  return openat(AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int file = open_file(path, flags, more);
  va_end(more);
  return file;
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int file = open_file(path, flags, more);
  va_end(more);
  return file;
}
