import Database
import Testing

@testable import DatabasePostgreSQL

struct SQLTextTests {
  @Test(arguments: [
    ("SELECT 1", ["SELECT 1"]), ("SELECT 1;", ["SELECT 1"]), (";; ;", []), ("", []),
    ("a; b", ["a", "b"]), ("-- x; y\na", ["a"]), ("/* x; /* y; */ z; */ a; b", ["a", "b"]),
    ("SELECT 'a;b''c;d'; e", ["SELECT 'a;b''c;d'", "e"]),
    ("SELECT E'a\\';b' ; c", ["SELECT E'a\\';b' ", "c"]),
    ("SELECT E'a''\\';b'; c", ["SELECT E'a''\\';b'", "c"]),
    ("SELECT 'a\\'; b", ["SELECT 'a\\'", "b"]),
    ("SELECT value'a\\'; b", ["SELECT value'a\\'", "b"]),
    ("SELECT \"a;\"\"b\"; c", ["SELECT \"a;\"\"b\"", "c"]),
    ("DO $$ a; $x$ b; $$; c", ["DO $$ a; $x$ b; $$", "c"]),
    ("DO $x$ a; $$ b; $x$; c", ["DO $x$ a; $$ b; $x$", "c"]),
    ("SELECT $1; SELECT $2", ["SELECT $1", "SELECT $2"]),
    ("SELECT a$b; c$d", ["SELECT a$b", "c$d"]),
    ("SELECT 'open; x", ["SELECT 'open; x"]), ("/* open; x", []),
  ])
  func `a script is split between its statements`(text: String, expected: [String]) throws {
    let found = try SQLText.statements(of: text).map { String(decoding: $0, as: UTF8.self) }
    #expect(found == expected)
  }

  @Test(arguments: ["SET x = 1", "copy t from stdin", "Start transaction", "listen a", "RESET x"])
  func `statements about the session are reserved`(text: String) {
    #expect(throws: DatabaseError.self) { try SQLText.checkSingle(text) }
  }

  @Test func `a detail names the columns before the values`() {
    #expect(SQLState.columns(in: "Key (a, b)=(1, x)=(2) already exists.") == ["a", "b"])
    #expect(SQLState.columns(in: "Key (lower(a))=(x) already exists.") == ["lower(a)"])
    #expect(SQLState.columns(in: "something else") == nil)
  }

  @Test func `the statement not used for the longest time is forgotten`() {
    var cache = StatementCache()
    let keys = (0...StatementCache.limit).map { number in
      StatementKey(
        (0..<number).map { _ in "x" as SQL }.joined(separator: ","), in: .postgreSQL)
    }
    for (number, key) in keys.dropLast().enumerated() { _ = cache.add("s\(number)", [], for: key) }
    #expect(cache.find(keys[0])?.name == "s0")
    _ = cache.add("new", [], for: keys[StatementCache.limit])
    #expect(cache.takeRemoved() == ["s1"])
    #expect(cache.takeRemoved() == [])
    #expect(cache.find(keys[1]) == nil)
    #expect(cache.find(keys[0]) != nil)
  }

  @Test func `waiting before another run is random, grows, and is limited`() {
    let policy = RetryPolicy()
    for conflicts in 1...40 { #expect(policy.pause(after: conflicts) <= 64_000) }
    #expect((0..<100).allSatisfy { _ in policy.pause(after: 1) <= 1000 })
  }

  @Test(arguments: [
    ("53300", DatabaseError.Code.busy), ("57P03", .busy), ("53200", .unreachable),
    ("57P01", .unreachable), ("08006", .unreachable), ("55000", .unreachable),
    ("28000", .cannotOpen), ("28P01", .cannotOpen), ("3D000", .cannotOpen),
    ("42501", .cannotOpen),
  ])
  func `a refused connection is temporary, unless it's about the user or the database`(
    state: String, expected: DatabaseError.Code
  ) {
    let code = SQLState.refusal(of: state)
    #expect(code == expected)
    #expect(DatabaseError(code, "").isTemporary == (expected != .cannotOpen))
  }
}
