import Database

/// Queries of a transaction that are sent along with its next one, and their results until they're
/// asked for.
///
/// All queries of a read see the same snapshot, so it doesn't matter when they run.
struct Prefetches {
  /// A query with what identifies it.
  struct Query: Equatable {
    let sql: SQL
    let key: StatementKey
    let values: [SQLValue]

    init(_ sql: SQL) {
      self.sql = sql
      key = StatementKey(sql, in: .postgreSQL)
      values = sql.values
    }

    /// Compares texts by their bytes: equal characters can be different texts.
    static func == (one: Query, other: Query) -> Bool {
      one.key == other.key
        && one.values.elementsEqual(other.values) { value, other in
          if case .text(let text) = value, case .text(let other) = other {
            return text.utf8.elementsEqual(other.utf8)
          }
          return value == other
        }
    }
  }

  private var queries: [Query] = []
  private var results: [(query: Query, result: PostgreSQLResult)] = []

  /// Adds queries to send.
  mutating func add(_ new: [SQL]) {
    for query in new.map(Query.init) where !queries.contains(query) { queries.append(query) }
  }

  /// Returns the queries to send along with another one, once.
  mutating func takeQueries(except query: Query) -> [Query] {
    defer { queries = [] }
    return queries.filter { $0 != query }
  }

  /// Keeps the results of queries that were sent.
  mutating func keep(_ new: some Sequence<PostgreSQLResult>, of queries: [Query]) {
    results += zip(queries, new).map { (query: $0, result: $1) }
  }

  /// Returns the result of a query that was sent, once.
  mutating func takeResult(of query: Query) -> PostgreSQLResult? {
    guard let index = results.firstIndex(where: { $0.query == query }) else { return nil }
    return results.remove(at: index).result
  }
}
