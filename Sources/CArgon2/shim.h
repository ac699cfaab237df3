#pragma once
#include <argon2.h>
#include <string.h>

/* Hashes with Argon2. In C, since Swift would need nested closures to keep the context's pointers
   valid. One thread computes all lanes: the result is the same, and PasswordHasher already
   distributes the cores. */

static inline int countersign_argon2(
    int type, uint32_t version, uint32_t passes, uint32_t memory, uint32_t lanes,
    const uint8_t *password, size_t password_length, const uint8_t *salt, size_t salt_length,
    const uint8_t *data, size_t data_length, uint8_t *output, size_t output_length) {
  argon2_context context;
  memset(&context, 0, sizeof context);
  context.out = output;
  context.outlen = (uint32_t)output_length;
  context.pwd = (uint8_t *)password;
  context.pwdlen = (uint32_t)password_length;
  context.salt = (uint8_t *)salt;
  context.saltlen = (uint32_t)salt_length;
  context.ad = data_length ? (uint8_t *)data : NULL;
  context.adlen = (uint32_t)data_length;
  context.t_cost = passes;
  context.m_cost = memory;
  context.lanes = lanes;
  context.threads = 1;
  context.version = version;
  context.flags = ARGON2_DEFAULT_FLAGS;
  return argon2_ctx(&context, (argon2_type)type);
}
