// Lets a program wait for its disk, as for one that hangs, as long as the file HUNG exists.

#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void hang(void) {
  const char *path = getenv("HUNG");
  while (path && access(path, F_OK) == 0) usleep(20000);
}

int fsync(int file) {
  hang();
  return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  hang();
  return syscall(SYS_fdatasync, file);
}
