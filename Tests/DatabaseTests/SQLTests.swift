import Database
import Testing

struct SQLTests {
  @Test func `an interpolated value becomes a parameter`() {
    let name = "'; DROP TABLE person; --"
    let sql: SQL = "SELECT \(1) FROM person WHERE name = \(name) AND age = \(nil as Int?)"
    #expect(sql.text == "SELECT $1 FROM person WHERE name = $2 AND age = $3")
    #expect(sql.values == [.integer(1), .text(name), .null])
  }

  @Test func `an interpolated string literal becomes a parameter too`() {
    let sql: SQL = "SELECT \("text")"
    #expect(sql.text == "SELECT $1")
    #expect(sql.values == [.text("text")])
  }

  @Test func `combined pieces renumber their parameters`() {
    let pool: SQL = "project_id = \(7)"
    let sql: SQL = "SELECT \(1.5) FROM person WHERE \(pool) AND name = \("Ada")"
    #expect(sql.text == "SELECT $1 FROM person WHERE project_id = $2 AND name = $3")
    #expect(sql.values == [.real(1.5), .integer(7), .text("Ada")])
    var longer = sql + " LIMIT \(10)"
    longer += " OFFSET \(0)"
    #expect(longer.text.hasSuffix("name = $3 LIMIT $4 OFFSET $5"))
  }

  @Test func `a fragment has a text for each dialect`() {
    let sql: SQL = """
      SELECT \(SQL.greatest)(a, \(1)) FROM b \(index: "b_by_c") \(SQL.orderedJoin) d ON d.e = \(2)
      """
    #expect(
      sql.text(in: .sqlite)
        == "SELECT max(a, $1) FROM b INDEXED BY b_by_c CROSS JOIN d ON d.e = $2")
    #expect(sql.text(in: .postgreSQL) == "SELECT greatest(a, $1) FROM b  JOIN d ON d.e = $2")
    #expect(sql.values == [.integer(1), .integer(2)])
    var number = 0
    sql.forEachPart(in: .postgreSQL) { if case .value = $0 { number += 1 } }
    #expect(number == 2)
    #expect((SQL.greatest + "(a, b)") != SQL.least + "(a, b)")
  }

  @Test func `searched parts are quoted in each dialect`() {
    let index = TextIndex(table: "found", of: "texts", key: "id", text: "folded")
    let parts = [["a\"\u{301}b", "50%_\\"], ["123"]]
    let (one, other) = (
      index.query(containing: parts, in: 1...9, limit: 5, .sqlite),
      index.query(containing: parts, in: 1...9, limit: 5, .postgreSQL)
    )
    #expect(one.values.first == .text("(\"a\"\"\u{301}b\" AND \"50%_\\\") OR (\"123\")"))
    #expect(
      other.text(in: .postgreSQL)
        == """
        SELECT id FROM texts
        WHERE (folded LIKE $1 AND folded LIKE $2 OR folded LIKE $3)
          AND id BETWEEN $4 AND $5
        ORDER BY id DESC LIMIT $6
        """)
    #expect(
      other.values.prefix(3)
        == [.text("%a\"\u{301}b%"), .text("%50\\%\\_\\\\%"), .text("%123%")])
  }

  @Test func `an empty list has no value`() {
    let sql: SQL = "SELECT 1 WHERE 2 IN (\(list: [] as [Int]))"
    #expect(sql.text == "SELECT 1 WHERE 2 IN (NULL)")
  }

  @Test func `a list has one parameter per value`() {
    let sql: SQL = "SELECT 1 WHERE 2 IN (\(list: [1, 2, 3]))"
    #expect(sql.text == "SELECT 1 WHERE 2 IN ($1, $2, $3)")
    let conditions: [SQL] = ["a = \(true)", "b = \([1, 2] as [UInt8])"]
    #expect(conditions.joined(separator: " OR ").text == "a = $1 OR b = $2")
    #expect(conditions.joined(separator: " OR ").values == [.integer(1), .blob([1, 2])])
  }
}
