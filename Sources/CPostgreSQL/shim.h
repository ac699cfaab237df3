#pragma once
#include <libpq-fe.h>
#include <string.h>

// By default, libpq prints the server's notices to standard error. The error with which a server
// ends an idle connection arrives as a notice too, before the end of the connection.

static void countersign_postgresql_receive_notice(void *is_ended, const PGresult *notice) {
  const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity && (!strcmp(severity, "FATAL") || !strcmp(severity, "PANIC"))) *(int *)is_ended = 1;
}

// `is_ended` has to exist as long as the connection.
static inline void countersign_postgresql_watch_notices(PGconn *connection, int *is_ended) {
  PQsetNoticeReceiver(connection, countersign_postgresql_receive_notice, is_ended);
}
