#pragma once
#include <libpq-fe.h>
#include <string.h>

// What the server's notices say about a connection. By default, libpq prints them to standard error.
typedef struct {
  // Not 0 after the error with which a server ends an idle connection, which arrives as a notice,
  // before the end of the connection.
  int is_ended;
  // The number of warnings.
  int warnings;
} countersign_postgresql_notices;

static void countersign_postgresql_receive_notice(void *context, const PGresult *notice) {
  countersign_postgresql_notices *notices = context;
  const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (!severity) return;
  if (!strcmp(severity, "FATAL") || !strcmp(severity, "PANIC")) notices->is_ended = 1;
  if (!strcmp(severity, "WARNING")) notices->warnings++;
}

// `notices` has to exist as long as the connection.
static inline void countersign_postgresql_watch_notices(
    PGconn *connection, countersign_postgresql_notices *notices) {
  PQsetNoticeReceiver(connection, countersign_postgresql_receive_notice, notices);
}
