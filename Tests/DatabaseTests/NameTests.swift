import Database
import DatabaseSQLite
import Testing

struct NameTests {
  @Test func `a name is quoted, and identifies a statement`() throws {
    let (one, other) = (try SQLName.named("person"), try SQLName.named("pet_2"))
    func count(_ table: SQLName) -> SQL { "SELECT count(*) FROM \(table) WHERE a = \(1)" }
    #expect(count(one).text == "SELECT count(*) FROM \"person\" WHERE a = $1")
    #expect(try SQLName.named("person") == one)
    #expect(count(one) == count(try .named("person")))
    #expect(count(one) != count(other))
    #expect(StatementKey(count(one), in: .sqlite) == StatementKey(count(one), in: .sqlite))
    #expect(StatementKey(count(one), in: .sqlite) != StatementKey(count(other), in: .sqlite))
    let list: SQL = "SELECT \(names: [one, other])"
    #expect(list.text == "SELECT \"person\", \"pet_2\"")
    #expect([other, one].sorted() == [one, other])
  }

  @Test(
    arguments: [
      "", "Person", "a b", "a\"b", "a;b", "é", "a\u{301}", "a\0", "a-b",
      String(repeating: "a", count: 64),
    ])
  func `other text is no name`(text: String) {
    #expect(throws: DatabaseError.self) { try SQLName.named(text) }
  }
}
