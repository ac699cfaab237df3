#pragma once
#include <crypt.h>
#include <stdlib.h>
#include <string.h>

/* The working memory is 32 KiB, with a password in it for a while: it is wiped, and not on a stack. */

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
