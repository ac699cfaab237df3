#pragma once
#include <errno.h>
#include <microhttpd.h>
#include <stdint.h>

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

/// Starts the engine; returns NULL if it can't, with the system's error or 0 in errno.
static inline struct MHD_Daemon *engine_start(const struct engine_settings *settings) {
  struct MHD_OptionItem options[] = {
      {MHD_OPTION_CONNECTION_LIMIT, settings->connections, NULL},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)settings->memory, NULL},
#if MHD_VERSION >= 0x01000000
      {MHD_OPTION_CLIENT_DISCIPLINE_LVL, 1, NULL},
#else
      {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
#endif
      {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)settings->begin, settings->context},
      {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)settings->complete, settings->context},
      {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)settings->notice, settings->context},
      {MHD_OPTION_END, 0, NULL},
      {MHD_OPTION_END, 0, NULL},
      {MHD_OPTION_END, 0, NULL},
      {MHD_OPTION_END, 0, NULL},
  };
  if (settings->certificate != NULL) {
    options[6] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)settings->certificate};
    options[7] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)settings->key};
    options[8] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)settings->priorities};
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
