import Foundation
import Identity
import Testing

@testable import countersign

/// Every state that needs a person has an alert, with metrics and a runbook.
struct AlertTableTests {
  private enum Cover {
    /// Alerts of ops/prometheus/alerts.yml.
    case alerts(Set<String>)
    /// No one has to be called, for a reason.
    case no(String)
  }

  /// What covers each event of the log whose level is a warning or an error.
  private static let events: [String: Cover] = [
    "server.failed": .alerts(["CountersignDown"]),
    "server.setup_code": .no("it's for the person who starts the server"),
    "server.upgraded": .no("owners see what was dropped in the console"),
    "server.connections_limited": .alerts(["CountersignFilesExhausted"]),
    "server.access_log_not_reopened": .no("it answers a signal, and nothing is lost"),
    "certificate.not_reloaded": .alerts(["CountersignCertificateExpires"]),
    "certificate.warning": .alerts(["CountersignCertificateExpires"]),
    "policy_file.unusable": .alerts(["CountersignPolicyFileUnreadable"]),
    "readiness.changed": .alerts(["CountersignNotReady", "CountersignReadyWithWarnings"]),
    "clock.doubted": .alerts(["CountersignClockNotTrusted"]),
    "clock.jumped": .alerts(["CountersignClockJumped"]),
    "clock.differs": .alerts(["CountersignReadyWithWarnings"]),
    "search.slow": .no("it's the state of an installation, which doctor finds"),
    "master_key.refused": .alerts(["CountersignKeyFileUnusable"]),
    "master_key.previous_removable": .no("nothing is wrong until it's done"),
    "mail.failed": .alerts(["CountersignMailDelayed"]),
    "sms.failed": .alerts(["CountersignTextMessagesDelayed"]),
    "mail.paused": .alerts(["CountersignMailDelayed"]),
    "sms.paused": .alerts(["CountersignTextMessagesDelayed"]),
    "connection.failed": .no("the console says it, and the age of the copy is measured"),
    "connection.paused": .no("an owner decides, whom the console asks"),
    "audit.fault": .alerts(["CountersignAuditLogFaulty"]),
    "audit.not_sealed": .alerts(["CountersignAuditLogNotSealed", "CountersignAuditFileLags"]),
    "audit_file.not_written": .alerts(["CountersignAuditFileLags"]),
    "backup.warning": .alerts(["CountersignBackupOld"]),
    "integrity.too_long": .alerts(["CountersignReadyWithWarnings"]),
    "integrity.damaged": .alerts(["CountersignNotReady"]),
    "database.file_lost": .alerts(["CountersignNotReady"]),
    "database.slow": .alerts(["CountersignDatabaseSlow", "CountersignSlow"]),
    "database.waited": .alerts(["CountersignDatabaseWaits", "CountersignConnectionsRefused"]),
    "tasks.lost": .alerts(["CountersignTasksNotHeld"]),
    "request.failed": .alerts(["CountersignServerErrors"]),
    "request.denied": .no("the request was refused"),
    "provider.failed": .no("the administrator who couldn't sign in knows"),
    "task.failed": .alerts(["CountersignErrorsLogged"]),
    "log.suppressed": .no("the first lines were logged"),
  ]

  /// States that only metrics show.
  private static let states: [String: Set<String>] = [
    "a kernel that doesn't keep the clock": ["CountersignClockInaccurate"],
    "text messages that a limit refuses": ["CountersignTextMessagesRefused"],
    "writes that wait for the disk": ["CountersignWritesQueued"],
    "lines of a log that are lost": ["CountersignLogLinesLost"],
    "passwords that aren't checked for lack of cores": ["CountersignHashesRejected"],
    "passwords that are blocked after too many": ["CountersignPasswordsBlocked"],
    "codes that are guessed": ["CountersignIncorrectCodes"],
    "a write-ahead log that grows": ["CountersignWriteAheadLogLarge"],
    "a disk that fills": ["CountersignDiskSpaceLow"],
  ]

  @Test func `each event that isn't information has an alert, or a reason for none`() throws {
    let folder = "\(packageFolder)/Sources/countersign/Log"
    var found: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      for match in text.matches(of: #/\bLogRecord\(\s*"([^"]+)",\s*\.?(\w+)/#)
      where match.2 != "info" {
        let name = String(match.1)
        let channels = [OutboxEntry.Channel.mail, .sms].map(\.rawValue)
        found.formUnion(channels.map { name.replacing(#"\(channel.rawValue)"#, with: $0) })
      }
    }
    #expect(found.count > 25)
    #expect(found.subtracting(Self.events.keys).sorted() == [], "without an alert or a reason")
    #expect(Set(Self.events.keys).subtracting(found).sorted() == [], "never logged")
  }

  @Test func `each alert is for a state, and measures what docs/monitoring.md describes`() throws {
    let rules = try rules()
    var used = Self.states.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    for case .alerts(let names) in Self.events.values { used.formUnion(names) }
    #expect(used.subtracting(rules.keys).sorted() == [], "there's no such alert")
    #expect(Set(rules.keys).subtracting(used).sorted() == [], "for no state")
    let page = try text("docs/monitoring.md")
    for (alert, expression) in rules {
      let metrics = expression.matches(of: /(countersign|process)_\w+/).map { String($0.0) }
      #expect(!metrics.isEmpty || expression.hasPrefix("up{"), "\(alert)")
      for metric in metrics where metric.hasPrefix("countersign_") {
        #expect(page.contains("`\(metric.replacing("_bucket", with: ""))`"), "\(alert): \(metric)")
      }
    }
  }

  @Test(arguments: Readiness.Check.allCases)
  func `each check of readiness has an alert, also when it warns`(check: Readiness.Check) throws {
    let rules = try rules()
    #expect(rules["CountersignNotReady"] == "last_over_time(countersign_ready[1m]) == 0")
    let others = try #require(rules["CountersignReadyWithWarnings"])
    let excluded = try #require(others.firstMatch(of: /check!~"([^"]+)"/)).1.split(separator: "|")
    guard excluded.contains(where: { $0 == check.rawValue }) else { return }
    let own = "countersign_check_warning{check=\"\(check.rawValue)\"}"
    #expect(rules.values.contains { $0.contains(own) })
  }

  /// Returns the expressions of the alerts by name.
  private func rules() throws -> [String: String] {
    let blocks = try text("ops/prometheus/alerts.yml").split(separator: "- alert: ").dropFirst()
    return Dictionary(
      uniqueKeysWithValues: try blocks.map { block in
        let expression = try #require(block.firstMatch(of: /expr: (?s:(.+?))\n +(?:for|labels):/)).1
        let name = try #require(block.split(separator: "\n").first)
        return (String(name), String(expression))
      })
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(packageFolder)/\(path)", encoding: .utf8)
  }
}
