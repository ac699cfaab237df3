import Testing

@testable import DatabasePostgreSQL

struct OutageTests {
  private let failure = PostgreSQLError(.connection("no answer"), isLoss: true)

  @Test func `without an outage, every caller may open a connection`() throws {
    let outage = Outage()
    for _ in 0..<3 { try outage.check() }
  }

  @Test func `during an outage, one caller at a time finds out whether it is over`() throws {
    let outage = Outage()
    outage.begin(failure)
    for _ in 0..<2 {
      try outage.check()
      for _ in 0..<3 { #expect(throws: PostgreSQLError.self) { try outage.check() } }
      outage.begin(failure)
    }
    try outage.check()
    outage.end()
    for _ in 0..<3 { try outage.check() }
  }
}
