import Database
import Identity
import Testing

@testable import TestIdentity

struct AuditCompletenessTests {
  @Test(arguments: UseCase.all)
  func `C12: each use case writes exactly its audit entries`(useCase: UseCase) async throws {
    try await withInstance { instance in
      let act = try await useCase.prepare(instance)
      let before = try await instance.wholeLog().count
      await expect(useCase.ending, act)
      let rows = try await instance.wholeLog()
      #expect(rows.prefix(rows.count - before).reversed().map(\.action) == useCase.auditActions)
    }
  }

  @Test(arguments: UseCase.all)
  func `C13: an action that can't be audited is rolled back`(useCase: UseCase) async throws {
    try await withInstance { instance in
      let act = try await useCase.prepare(instance)
      try await instance.database.write { connection in
        try connection.addTrigger("no_audit", before: "INSERT ON audit")
      }
      let before = try await instance.contents()
      let result = await outcome(act)
      let failures = ["unavailable", "failed"]
      #expect(
        useCase.auditActions.isEmpty ? result == "done" : failures.contains(result), "\(result)")
      let after = try await instance.contents()
      for (table, rows) in after where !useCase.auditActions.isEmpty {
        if ["ticket", "intent"].contains(table), useCase.spendsTicket { continue }
        #expect(rows == before[table], "\(table)")
      }
    }
  }

  @Test(arguments: UseCase.all)
  func `a write that's run twice has the effect of one`(useCase: UseCase) async throws {
    var repeated: RepeatedWrites?
    try await withInstance(on: { base in
      let database = RepeatedWrites(base)
      repeated = database
      return database
    }) { instance in
      let act = try await useCase.prepare(instance)
      let writes = try #require(repeated)
      let differences = await writes.repeating { await expect(useCase.ending, act) }
      #expect(differences == [])
    }
  }

  @Test(arguments: AuditAction.allCases)
  func `each audit action is covered by a use case`(action: AuditAction) {
    #expect(UseCase.all.contains { $0.auditActions.contains(action) })
  }
}
