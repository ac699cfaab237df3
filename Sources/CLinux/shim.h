#pragma once
#include <sys/prctl.h>
#include <sys/timex.h>

// prctl is variadic, so Swift can't call it.

/// Sets whether the kernel may dump this process's memory; returns 0, or -1 with errno.
static inline int linux_set_dumpable(int dumpable) {
  return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
}
