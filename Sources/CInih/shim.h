#pragma once
#include <ini.h>

// The library's variables aren't visible to Swift 6 as safe; the limit is set once, before parsing.
static inline void countersign_ini_set_longest_line(int bytes) { ini_max_line = bytes; }
