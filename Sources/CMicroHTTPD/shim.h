#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef RTLD_NEXT
#define RTLD_NEXT ((void *)-1l)
#endif

// MHD_start_daemon and MHD_get_connection_info are variadic, so Swift can't call them.

/// The options for starting the engine. Strings must stay valid as long as the daemon.
struct engine_settings {
  unsigned int flags;
  unsigned int connections;
  size_t memory;
  const char *certificate;
  const char *key;
  const char *priorities;
  void *context;
  MHD_AccessHandlerCallback handle;
  void *(*begin)(void *context, const char *uri, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback complete;
  MHD_NotifyConnectionCallback notice;
};

/// Leaves text encoded: the raw target is decoded later, after it was split.
static size_t engine_leave_coded(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

/// Starts the engine; returns NULL if it can't, with the system's error or 0 in errno.
static inline struct MHD_Daemon *engine_start(const struct engine_settings *settings) {
  struct MHD_OptionItem options[] = {
      {MHD_OPTION_CONNECTION_LIMIT, settings->connections, NULL},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)settings->memory, NULL},
      {MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL},
      {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)&engine_leave_coded, NULL},
      {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)settings->begin, settings->context},
      {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)settings->complete, settings->context},
      {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)settings->notice, settings->context},
      {MHD_OPTION_END, 0, NULL},
      {MHD_OPTION_END, 0, NULL},
      {MHD_OPTION_END, 0, NULL},
      {MHD_OPTION_END, 0, NULL},
  };
  if (settings->certificate != NULL) {
    options[7] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)settings->certificate};
    options[8] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)settings->key};
    options[9] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)settings->priorities};
  }
  errno = 0;
  return MHD_start_daemon(settings->flags, 0, NULL, NULL, settings->handle, settings->context,
                          MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static inline int engine_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

static inline const struct sockaddr *engine_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}

static inline void *engine_connection_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}

static inline size_t engine_header_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info == NULL ? 0 : info->header_size;
}

// The program overrides MHD_queue_response and MHD_lookup_connection_value_n, so that the library's
// own calls reach the program (EngineHooks.swift). These functions call the library's versions.

static inline enum MHD_Result engine_queue(struct MHD_Connection *connection, unsigned int status,
                                           struct MHD_Response *response) {
  typedef enum MHD_Result (*function)(struct MHD_Connection *, unsigned int, struct MHD_Response *);
  static void *kept;
  void *found = __atomic_load_n(&kept, __ATOMIC_RELAXED);
  if (found == NULL) {
    found = dlsym(RTLD_NEXT, "MHD_queue_response");
    __atomic_store_n(&kept, found, __ATOMIC_RELAXED);
  }
  return found == NULL ? MHD_NO : ((function)found)(connection, status, response);
}

static inline enum MHD_Result engine_lookup(struct MHD_Connection *connection,
                                            enum MHD_ValueKind kind, const char *key,
                                            size_t key_size, const char **value,
                                            size_t *value_size) {
  typedef enum MHD_Result (*function)(struct MHD_Connection *, enum MHD_ValueKind, const char *,
                                      size_t, const char **, size_t *);
  static void *kept;
  void *found = __atomic_load_n(&kept, __ATOMIC_RELAXED);
  if (found == NULL) {
    found = dlsym(RTLD_NEXT, "MHD_lookup_connection_value_n");
    __atomic_store_n(&kept, found, __ATOMIC_RELAXED);
  }
  return found == NULL ? MHD_NO
                       : ((function)found)(connection, kind, key, key_size, value, value_size);
}

/// Returns whether the library's calls of a function reach the program's definition.
static inline int engine_is_hooked(const char *name, const void *definition) {
  return dlsym(RTLD_DEFAULT, name) == definition && dlsym(RTLD_NEXT, name) != NULL;
}

/// Returns a static string as the result of a lookup.
static inline void engine_give(const char *text, const char **value, size_t *value_size) {
  if (value != NULL) *value = text;
  if (value_size != NULL) *value_size = strlen(text);
}

/// The largest length that the engine can parse, used for a body whose length is unknown.
static inline const char *engine_endless(void) { return "9223372036854775807"; }
static inline const char *engine_zero(void) { return "0"; }

/// Sets the number of remaining bytes of a body, including those of the current part.
static inline void engine_set_remaining(struct MHD_Connection *connection, size_t offset,
                                        uint64_t bytes) {
  memcpy((char *)connection + offset, &bytes, sizeof bytes);
}

#define ENGINE_PROBE_LENGTH 0x123456789ABCDEF0

struct engine_probe {
  size_t offset;
  int calls;
  int is_done;
};

/// Finds the offset of the engine's count of remaining body bytes, and tests ending a body with it.
static enum MHD_Result engine_probe_handle(void *context, struct MHD_Connection *connection,
                                           const char *url, const char *method,
                                           const char *version, const char *data, size_t *size,
                                           void **slot) {
  struct engine_probe *probe = (struct engine_probe *)context;
  (void)url;
  (void)slot;
  probe->calls++;
  if (probe->calls == 1) {
    const size_t end = malloc_usable_size(connection);
    size_t found = 0;
    for (size_t at = 0; at + sizeof(uint64_t) <= end; at += sizeof(uint64_t)) {
      uint64_t word;
      memcpy(&word, (const char *)connection + at, sizeof word);
      if (word == ENGINE_PROBE_LENGTH) {
        probe->offset = at;
        found++;
      }
    }
    // The request line is contiguous in memory, with its spaces replaced by NUL.
    return found == 1 && version == method + 7 ? MHD_YES : MHD_NO;
  }
  if (probe->calls == 2 && *size > 5 && memcmp(data, "hello", 5) == 0) {
    engine_set_remaining(connection, probe->offset, 5);
    *size -= 5;
    return MHD_YES;
  }
  if (probe->calls == 3 && *size == 0) {
    // The body ended after 5 of its 0x123456789ABCDEF0 bytes.
    probe->is_done = 1;
  }
  return MHD_NO;
}

/// Returns the offset of the count of remaining body bytes in a connection; 0 when it isn't found,
/// with the system's error if there were too few resources to look for it.
static inline size_t engine_find_remaining(int *error) {
  static const char request[] =
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1311768467463790320\r\n\r\n"
      "helloGET / HTTP/1.1\r\n";
  struct engine_probe probe = {0, 0, 0};
  struct sockaddr_in address = {.sin_family = AF_INET};
  int pair[2];
  *error = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) {
    *error = errno;
    return 0;
  }
  errno = 0;
  struct MHD_Daemon *daemon =
      MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
                       engine_probe_handle, &probe, MHD_OPTION_END);
  if (daemon == NULL) {
    *error = errno;
    close(pair[0]);
    close(pair[1]);
    return 0;
  }
  if (write(pair[1], request, sizeof request - 1) == (ssize_t)(sizeof request - 1) &&
      MHD_add_connection(daemon, pair[0], (const struct sockaddr *)&address, sizeof address) ==
          MHD_YES) {
    for (int round = 0; round < 20 && !probe.is_done; round++) MHD_run(daemon);
  } else {
    close(pair[0]);
  }
  MHD_stop_daemon(daemon);
  close(pair[1]);
  return probe.is_done ? probe.offset : 0;
}
