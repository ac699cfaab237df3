#pragma once
#include <libpq-fe.h>

// By default, libpq prints the server's notices to standard error.

static void countersign_postgresql_ignore_notice(void *context, const PGresult *notice) {
  (void)context;
  (void)notice;
}

static inline void countersign_postgresql_ignore_notices(PGconn *connection) {
  PQsetNoticeReceiver(connection, countersign_postgresql_ignore_notice, (void *)0);
}
