import Database
import Identity
import Testing

@testable import countersign

struct ImportRetryTests {
  /// Stores a batch with errors at the first attempts; returns the number of attempts.
  private func attempts(_ code: DatabaseError.Code, failures: Int) async -> (
    count: Int, stored: Bool
  ) {
    var count = 0
    do {
      try await ImportCommand.retryingWhileBusy {
        count += 1
        guard count > failures else {
          throw DatabaseError(code, "database is locked")
        }
      }
      return (count, true)
    } catch {
      return (count, false)
    }
  }

  @Test func `a batch is stored again while the database is busy`() async {
    #expect(await attempts(.busy, failures: 3) == (4, true))
  }

  @Test func `a database that stays busy ends the import`() async {
    #expect(await attempts(.busy, failures: 100) == (6, false))
  }

  @Test(arguments: [DatabaseError.Code.full, .outcomeUnknown, .ioError])
  func `a batch that failed for another reason isn't stored again`(code: DatabaseError.Code) async {
    #expect(await attempts(code, failures: 1) == (1, false))
  }
}
