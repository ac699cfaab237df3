#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

/* Macros and variadic functions that Swift can't call. */

static inline EVP_PKEY *countersign_rsa_generate(size_t bits) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

/* Sets the digest of a MAC. In C, since an OSSL_PARAM keeps the address of its name: a C literal
   stays valid, but a Swift string only during the call that creates the parameter. */
static inline int countersign_mac_digest(EVP_MAC_CTX *context, const char *digest) {
  OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
    OSSL_PARAM_construct_end(),
  };
  return EVP_MAC_CTX_set_params(context, parameters);
}

static inline long countersign_bio_bytes(BIO *bio, char **bytes) {
  return BIO_get_mem_data(bio, bytes);
}
