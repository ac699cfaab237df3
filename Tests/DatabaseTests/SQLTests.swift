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
    let scope: SQL = "project_id = \(7)"
    let sql: SQL = "SELECT \(1.5) FROM person WHERE \(scope) AND name = \("Ada")"
    #expect(sql.text == "SELECT $1 FROM person WHERE project_id = $2 AND name = $3")
    #expect(sql.values == [.real(1.5), .integer(7), .text("Ada")])
    var longer = sql + " LIMIT \(10)"
    longer += " OFFSET \(0)"
    #expect(longer.text.hasSuffix("name = $3 LIMIT $4 OFFSET $5"))
  }

  @Test func `a list has one parameter per value`() {
    let sql: SQL = "SELECT 1 WHERE 2 IN (\(list: [1, 2, 3]))"
    #expect(sql.text == "SELECT 1 WHERE 2 IN ($1, $2, $3)")
    let conditions: [SQL] = ["a = \(true)", "b = \([1, 2] as [UInt8])"]
    #expect(conditions.joined(separator: " OR ").text == "a = $1 OR b = $2")
    #expect(conditions.joined(separator: " OR ").values == [.integer(1), .blob([1, 2])])
  }
}
