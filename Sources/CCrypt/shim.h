#pragma once
#include <crypt.h>
#include <stdlib.h>
#include <string.h>

/* Hashes with crypt(3). Its 32 KiB of working memory contain the password, so they're allocated on
   the heap and wiped afterwards. Returns 0 on failure. */

static inline int countersign_crypt(
    const char *phrase, const char *setting, char *output, size_t capacity) {
  struct crypt_data *data = calloc(1, sizeof *data);
  if (!data) return 0;
  const char *made = crypt_rn(phrase, setting, data, sizeof *data);
  int fits = made && strlen(made) < capacity;
  if (fits) strcpy(output, made);
  explicit_bzero(data, sizeof *data);
  free(data);
  return fits;
}
