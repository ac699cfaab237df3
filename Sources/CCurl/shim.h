#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, so Swift can't call them.

/// The options for sending one email. Strings must stay valid while the handle is in use.
struct smtp_settings {
  const char *url;
  const char *user;
  const char *password;
  const char *authority;
  const char *sender;
  struct curl_slist *recipients;
  int tls;
  int verifies;
  long connect_seconds;
  long whole_seconds;
  curl_off_t size;
  char *error;
  void *context;
  curl_read_callback read;
  curl_write_callback reply;
  curl_xferinfo_callback progress;
};

static inline CURLcode smtp_prepare(CURL *handle, const struct smtp_settings *settings) {
  CURLcode code = CURLE_OK;
#define SET(option, value) \
  if (code == CURLE_OK) code = curl_easy_setopt(handle, option, value)
  SET(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  SET(CURLOPT_URL, settings->url);
  SET(CURLOPT_PROXY, "");
  SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_USE_SSL, settings->tls ? (long)CURLUSESSL_ALL : (long)CURLUSESSL_TRY);
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  SET(CURLOPT_SSL_VERIFYPEER, settings->verifies ? 1L : 0L);
  SET(CURLOPT_SSL_VERIFYHOST, settings->verifies ? 2L : 0L);
  if (settings->authority != NULL) SET(CURLOPT_CAINFO, settings->authority);
  if (settings->user != NULL) SET(CURLOPT_USERNAME, settings->user);
  if (settings->password != NULL) SET(CURLOPT_PASSWORD, settings->password);
  SET(CURLOPT_CONNECTTIMEOUT, settings->connect_seconds);
  SET(CURLOPT_TIMEOUT, settings->whole_seconds);
  SET(CURLOPT_SERVER_RESPONSE_TIMEOUT, settings->whole_seconds);
  SET(CURLOPT_MAIL_FROM, settings->sender);
  SET(CURLOPT_MAIL_RCPT, settings->recipients);
  SET(CURLOPT_UPLOAD, 1L);
  SET(CURLOPT_INFILESIZE_LARGE, settings->size);
  SET(CURLOPT_READFUNCTION, settings->read);
  SET(CURLOPT_READDATA, settings->context);
  SET(CURLOPT_HEADERFUNCTION, settings->reply);
  SET(CURLOPT_HEADERDATA, settings->context);
  SET(CURLOPT_NOPROGRESS, 0L);
  SET(CURLOPT_XFERINFOFUNCTION, settings->progress);
  SET(CURLOPT_XFERINFODATA, settings->context);
  SET(CURLOPT_ERRORBUFFER, settings->error);
#undef SET
  return code;
}

/// Returns the server's last reply code; 0 when there's none.
static inline long smtp_reply_code(CURL *handle) {
  long code = 0;
  return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code) == CURLE_OK ? code : 0;
}
