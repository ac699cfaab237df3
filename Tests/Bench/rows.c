/* Inserts users into a database with SQLite alone: the baseline of `script/bench --only import`. It
 * takes the rows from a filled database, a batch at a time and outside of the measured time, and
 * stores what an import stores: the account, its text, its entry in the text index, and its word
 * prefixes, with USERS users per transaction.
 *
 *   cc -O2 rows.c -lsqlite3 -o rows && ./rows FROM TO USERS
 *
 * It prints the number of rows and the seconds to store them.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void fail(sqlite3 *database, const char *what) {
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void run(sqlite3 *database, const char *text) {
  if (sqlite3_exec(database, text, NULL, NULL, NULL) != SQLITE_OK) fail(database, text);
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *text) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
    fail(database, text);
  return statement;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

/* Rows of one table. */
struct rows {
  sqlite3_value **values;
  int columns, count, room;
};

static void keep(struct rows *rows, sqlite3_stmt *from) {
  rows->columns = sqlite3_column_count(from);
  if (rows->count == rows->room) {
    rows->room = rows->room ? rows->room * 2 : 1024;
    rows->values = realloc(rows->values, sizeof(sqlite3_value *) * rows->room * rows->columns);
  }
  for (int column = 0; column < rows->columns; column++)
    rows->values[rows->count * rows->columns + column] =
        sqlite3_value_dup(sqlite3_column_value(from, column));
  rows->count++;
}

static void forget(struct rows *rows) {
  for (int index = 0; index < rows->count * rows->columns; index++)
    sqlite3_value_free(rows->values[index]);
  rows->count = 0;
}

static void store(sqlite3 *database, sqlite3_stmt *into, struct rows *rows) {
  for (int row = 0; row < rows->count; row++) {
    for (int column = 0; column < rows->columns; column++)
      sqlite3_bind_value(into, column + 1, rows->values[row * rows->columns + column]);
    if (sqlite3_step(into) != SQLITE_DONE) fail(database, "insert");
    sqlite3_reset(into);
  }
}

#define ACCOUNT \
  "account_key, scope_key, uid, email, email_folded, email_verified, display_name, photo_url," \
  " phone, password_hash, password_updated_at, custom_auth, disabled, custom_attributes," \
  " valid_since_s, created_at, last_login_at, last_login_day, name_folded, has_totp, has_phone"

/* Reads the rows of a table in a range of keys. */
static void take(sqlite3_stmt *from, sqlite3_int64 after, sqlite3_int64 last, struct rows *rows) {
  forget(rows);
  sqlite3_bind_int64(from, 1, after);
  sqlite3_bind_int64(from, 2, last);
  while (sqlite3_step(from) == SQLITE_ROW) keep(rows, from);
  sqlite3_reset(from);
}

int main(int count, char **words) {
  if (count != 4) return 64;
  sqlite3_int64 batch = atoi(words[3]);
  sqlite3 *source, *target;
  /* A temporary database with the source attached, in which word prefixes are sorted by account. */
  if (sqlite3_open("", &source)) fail(source, "temporary database");
  char text[4096];
  snprintf(text, sizeof text,
           "ATTACH '%s' AS source; CREATE TABLE beginnings AS"
           " SELECT account_key, beginning FROM source.account_beginning ORDER BY account_key;"
           " CREATE INDEX by_account ON beginnings (account_key)", words[1]);
  run(source, text);
  if (sqlite3_open_v2(words[2], &target, SQLITE_OPEN_READWRITE, NULL)) fail(target, words[2]);
  run(target, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
              "PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 67108864");
  sqlite3_stmt *begin = prepare(target, "BEGIN IMMEDIATE"), *commit = prepare(target, "COMMIT");
  sqlite3_stmt *read[3] = {
      prepare(source, "SELECT " ACCOUNT " FROM source.account"
                      " WHERE account_key > ?1 AND account_key <= ?2 ORDER BY account_key"),
      prepare(source, "SELECT account_key, folded FROM source.account_text"
                      " WHERE account_key > ?1 AND account_key <= ?2 ORDER BY account_key"),
      prepare(source, "SELECT beginning, account_key FROM beginnings"
                      " WHERE account_key > ?1 AND account_key <= ?2"),
  };
  sqlite3_stmt *write[3] = {
      prepare(target, "INSERT INTO account (" ACCOUNT ") VALUES"
                      " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      prepare(target, "INSERT INTO account_text (account_key, folded) VALUES (?,?)"),
      prepare(target, "INSERT INTO account_beginning (beginning, account_key) VALUES (?,?)"),
  };
  sqlite3_stmt *search = prepare(target, "INSERT INTO account_search (rowid, folded) VALUES (?,?)");
  sqlite3_stmt *counts = prepare(target, "UPDATE scope SET users = users + ?1,"
                                         " next_account = next_account + ?1 WHERE scope_key = ?2");
  /* The last key of each batch. */
  sqlite3_stmt *ends = prepare(source, "SELECT max(account_key), max(scope_key), count(*) FROM"
                                       " (SELECT account_key, scope_key FROM source.account"
                                       " WHERE account_key > ?1 ORDER BY account_key LIMIT ?2)");
  struct rows rows[3] = {0};
  double seconds = 0;
  /* Both databases start with the same few users, which aren't copied. */
  sqlite3_stmt *there = prepare(target, "SELECT max(account_key) FROM account");
  sqlite3_step(there);
  sqlite3_int64 after = sqlite3_column_int64(there, 0), total = 0;
  sqlite3_finalize(there);
  while (1) {
    sqlite3_bind_int64(ends, 1, after);
    sqlite3_bind_int64(ends, 2, batch);
    sqlite3_step(ends);
    sqlite3_int64 last = sqlite3_column_int64(ends, 0), scope = sqlite3_column_int64(ends, 1);
    sqlite3_int64 number = sqlite3_column_int64(ends, 2);
    sqlite3_reset(ends);
    if (number == 0) break;
    for (int table = 0; table < 3; table++) take(read[table], after, last, &rows[table]);
    double start = now();
    sqlite3_step(begin), sqlite3_reset(begin);
    for (int table = 0; table < 3; table++) store(target, write[table], &rows[table]);
    store(target, search, &rows[1]);
    sqlite3_bind_int64(counts, 1, number);
    sqlite3_bind_int64(counts, 2, scope);
    sqlite3_step(counts), sqlite3_reset(counts);
    if (sqlite3_step(commit) != SQLITE_DONE) fail(target, "commit");
    sqlite3_reset(commit);
    seconds += now() - start;
    after = last;
    total += number;
  }
  printf("%lld %f\n", total, seconds);
  return 0;
}
