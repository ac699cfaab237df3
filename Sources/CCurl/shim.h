#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, so Swift can't call them.

#define SET(option, value) \
  if (code == CURLE_OK) code = curl_easy_setopt(handle, option, value)

/// The options of every kind of connection. Strings must stay valid while the handle is in use.
struct common_settings {
  const char *protocols;
  const char *url;
  const char *authority;
  int verifies;
  long connect_seconds;
  char *error;
  void *context;
  curl_xferinfo_callback progress;
  // Opens the socket; NULL for libcurl's own.
  curl_opensocket_callback open;
};

static inline CURLcode common_prepare(CURL *handle, struct common_settings settings) {
  CURLcode code = CURLE_OK;
  SET(CURLOPT_PROTOCOLS_STR, settings.protocols);
  SET(CURLOPT_URL, settings.url);
  SET(CURLOPT_PROXY, "");
  SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  SET(CURLOPT_SSL_VERIFYPEER, settings.verifies ? 1L : 0L);
  SET(CURLOPT_SSL_VERIFYHOST, settings.verifies ? 2L : 0L);
  if (settings.authority != NULL) {
    SET(CURLOPT_CAINFO, settings.authority);
    // libcurl is built with a folder of the system's certificates, too.
    SET(CURLOPT_CAPATH, NULL);
  }
  SET(CURLOPT_CONNECTTIMEOUT, settings.connect_seconds);
  SET(CURLOPT_NOPROGRESS, 0L);
  SET(CURLOPT_XFERINFOFUNCTION, settings.progress);
  SET(CURLOPT_XFERINFODATA, settings.context);
  if (settings.open != NULL) {
    SET(CURLOPT_OPENSOCKETFUNCTION, settings.open);
    SET(CURLOPT_OPENSOCKETDATA, settings.context);
  }
  SET(CURLOPT_ERRORBUFFER, settings.error);
  return code;
}

/// Runs a transfer that was prepared; afterward, libcurl no longer writes to the error buffer, also
/// not when it closes the connection.
static inline CURLcode perform_prepared(CURL *handle, CURLcode prepared) {
  CURLcode code = prepared == CURLE_OK ? curl_easy_perform(handle) : prepared;
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, NULL);
  return code;
}

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
  long reply_seconds;
  curl_off_t size;
  char *error;
  void *context;
  curl_read_callback read;
  curl_write_callback reply;
  curl_xferinfo_callback progress;
};

static inline CURLcode smtp_prepare(CURL *handle, const struct smtp_settings *settings) {
  CURLcode code = common_prepare(
      handle, (struct common_settings){
                  .protocols = "smtp,smtps", .url = settings->url, .authority = settings->authority,
                  .verifies = settings->verifies, .connect_seconds = settings->connect_seconds,
                  .error = settings->error, .context = settings->context,
                  .progress = settings->progress, .open = NULL});
  SET(CURLOPT_USE_SSL, settings->tls ? (long)CURLUSESSL_ALL : (long)CURLUSESSL_TRY);
  if (settings->user != NULL) SET(CURLOPT_USERNAME, settings->user);
  if (settings->password != NULL) SET(CURLOPT_PASSWORD, settings->password);
  // For each reply. Without CURLOPT_TIMEOUT, which limits the replies on a connection that's used again by
  // its age: the progress callback ends the transfer.
  SET(CURLOPT_SERVER_RESPONSE_TIMEOUT, settings->reply_seconds);
  SET(CURLOPT_MAIL_FROM, settings->sender);
  SET(CURLOPT_MAIL_RCPT, settings->recipients);
  SET(CURLOPT_UPLOAD, 1L);
  SET(CURLOPT_INFILESIZE_LARGE, settings->size);
  SET(CURLOPT_READFUNCTION, settings->read);
  SET(CURLOPT_READDATA, settings->context);
  SET(CURLOPT_HEADERFUNCTION, settings->reply);
  SET(CURLOPT_HEADERDATA, settings->context);
  return code;
}

/// Returns the server's last reply code; 0 when there's none.
static inline long smtp_reply_code(CURL *handle) {
  long code = 0;
  return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code) == CURLE_OK ? code : 0;
}

/// Ends the connection, so that curl_easy_cleanup() sends no QUIT, whose reply it would wait for.
static inline void smtp_break(CURL *handle) {
  curl_socket_t connection = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &connection) == CURLE_OK &&
      connection != CURL_SOCKET_BAD)
    shutdown(connection, SHUT_RDWR);
}

/// The options for one HTTP request. Strings must stay valid while the handle is in use.
struct http_settings {
  const char *url;
  const char *protocols;
  const char *method;
  struct curl_slist *headers;
  const char *authority;
  // The proxy to open a tunnel through; NULL for none.
  const char *proxy;
  // Where to connect to instead of to the URL's host; NULL for there.
  struct curl_slist *connect_to;
  const void *body;
  curl_off_t size;
  long connect_seconds;
  long whole_seconds;
  char *error;
  void *context;
  curl_write_callback head;
  curl_write_callback content;
  curl_xferinfo_callback progress;
  curl_opensocket_callback open;
};

static inline CURLcode http_prepare(CURL *handle, const struct http_settings *settings) {
  CURLcode code = common_prepare(
      handle, (struct common_settings){
                  .protocols = settings->protocols, .url = settings->url, .authority = settings->authority,
                  .verifies = 1, .connect_seconds = settings->connect_seconds,
                  .error = settings->error, .context = settings->context,
                  .progress = settings->progress, .open = settings->open});
  if (settings->proxy != NULL) {
    SET(CURLOPT_PROXY, settings->proxy);
    // Otherwise, the variable no_proxy of the environment would name hosts to connect to without it.
    SET(CURLOPT_NOPROXY, "");
    SET(CURLOPT_HTTPPROXYTUNNEL, 1L);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    // The proxy gets no header fields of the request.
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
  }
  SET(CURLOPT_CONNECT_TO, settings->connect_to);
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CURLOPT_TIMEOUT, settings->whole_seconds);
  if (settings->body != NULL) {
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDS, settings->body);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, settings->size);
  }
  SET(CURLOPT_CUSTOMREQUEST, settings->method);
  SET(CURLOPT_HTTPHEADER, settings->headers);
  SET(CURLOPT_HEADERFUNCTION, settings->head);
  SET(CURLOPT_HEADERDATA, settings->context);
  SET(CURLOPT_WRITEFUNCTION, settings->content);
  SET(CURLOPT_WRITEDATA, settings->context);
  return code;
}

/// Opens the socket for an address that libcurl has resolved.
static inline curl_socket_t http_open_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// The options for a connection on which bytes are sent. Strings must stay valid while it's opened.
#undef SET
