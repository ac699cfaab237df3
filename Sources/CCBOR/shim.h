#pragma once
#include <cbor.h>

// The library's variables aren't visible to Swift 6 as safe; this copies its constant.
static inline struct cbor_callbacks countersign_cbor_callbacks(void) { return cbor_empty_callbacks; }
