import Crypto
import Foundation
import Identity
import Synchronization
import Testing

@testable import countersign

struct ReadinessChangeTests {
  @Test(arguments: Readiness.Check.allCases)
  func `each check that fails or warns is logged with its word and cause`(
    _ check: Readiness.Check
  ) {
    for (state, level) in [
      (Readiness.State(failed: [check]), LogLevel.error),
      (Readiness.State(warnings: [check]), .warning),
    ] {
      let record = LogEvent.readiness(state).record
      #expect(record.level == level)
      #expect(OperatorText.string(record.message).contains("\(check.rawValue) ("))
    }
  }

  @Test func `a change is logged once`() async throws {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      let instance = try await Instance.existing(folder, migrates: true)
      let lines = Mutex<[String]>([])
      let log = Log(
        .text,
        write: { line, _ in
          lines.withLock { $0.append(line) }
          return true
        })
      let readiness = Readiness(
        instance.identity, folder, environment: [:], certificate: nil, mail: nil, auditFile: nil,
        file: nil, isDamaged: { false }, hasSpace: { true }, log: log)
      try folder.store(KeyRing(random: .system))
      for _ in 0..<3 { #expect(await readiness.state().warnings == [.keys]) }
      #expect(lines.withLock { $0.count } == 1)
      #expect(lines.withLock { $0.first?.contains("keys (") } == true)
      await instance.database.close()
    }
  }
}
