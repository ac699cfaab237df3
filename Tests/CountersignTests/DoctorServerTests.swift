import Database
import Testing

@testable import countersign

/// What `countersign doctor` says about the server of a database.
struct DoctorServerTests {
  private func severities(_ findings: [Finding]) -> [Finding.Severity] { findings.map(\.severity) }

  private func text(_ findings: [Finding]) -> String {
    findings.map { OperatorText.string($0.message) }.joined(separator: "\n")
  }

  @Test func `each setting of a database's server that matters is examined`() {
    let fine = ServerSettings(
      connections: 80, preparedTransactions: 1_000, turnedOff: [], losesOnFailover: false)
    func found(_ change: (inout ServerSettings) -> Void, nodes: Int = 3) -> [Finding] {
      var settings = fine
      change(&settings)
      return Finding.findings(settings, nodes: nodes)
    }
    #expect(severities(found { _ in }) == [.ok])
    #expect(severities(found({ $0.connections = 40 }, nodes: 0)) == [.ok])
    #expect(severities(found { $0.preparedTransactions = 999 }) == [.warning])
    #expect(severities(found { $0.losesOnFailover = true }) == [.warning])
    #expect(severities(found { $0.turnedOff = ["fsync"] }) == [.error])
    let few = found { $0.connections = 79 }
    #expect(severities(few) == [.warning])
    #expect(text(few).contains("allows 79 connections (max_connections), but its servers need 80"))
    let all = found {
      $0 = ServerSettings(
        connections: 1, preparedTransactions: 0, turnedOff: ["fsync", "full_page_writes"],
        losesOnFailover: true)
    }
    #expect(severities(all) == [.warning, .warning, .error, .warning])
    #expect(text(all).contains("are off: fsync, full_page_writes."))
    #expect(all.allSatisfy { $0.check == .server && $0.advice != nil })
  }
}
