import Foundation
import Testing

@testable import Identity
@testable import TestIdentity

/// Tests the documentation of exported files, which is generated.
struct UserDataDocumentTests {
  @Test func `docs/reference/user-data.md describes each member of an exported file`() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../docs/reference/user-data.md").standardized
    let text = Self.text()
    if IndexUses.isRecording {
      try text.write(to: path, atomically: true, encoding: .utf8)
      Issue.record("recorded docs/reference/user-data.md; run again without recording")
      return
    }
    let kept = try String(contentsOf: path, encoding: .utf8)
    #expect(kept == text, "run with COUNTERSIGN_RECORD_SNAPSHOTS=1 to regenerate it")
  }

  private static let introduction = """
    # Members of an exported file

    The members of the file with [the data of one user](../user-data.md#export), and the tables that
    aren't in it. A test generates this page from the export.
    """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

  private static func text() -> String {
    var lines = introduction
    lines += [
      "", "Times are in RFC 3339 format, in UTC. A value that isn't there is `null`.", "",
      "| Member | Value | Members of each item |", "|---|---|---|",
      "| `format` | `\(UserData.format)` | |", "| `createdAt` | time of the export | |",
      "| `projectId`, `tenantId`, `uid` | text | |",
    ]
    for table in UserDataTable.all {
      let members = table.columns.map { "`\($0.name)` \(word($0.kind))" }.joined(separator: ", ")
      let kind = table.name == "account" ? "object; `null` if deleted" : "list"
      lines.append("| `\(table.section)` | \(kind) | \(members) |")
    }
    let entry = UserData.entryMembers.map { "`\($0)`" }.joined(separator: ", ")
    lines.append("| `auditLog` | list | \(entry); a field has `field`, `old`, and `new` |")
    lines += [
      "", "## Not exported", "", "| Table | Why |", "|---|---|",
    ]
    let reasons = Dictionary(grouping: UserDataTable.excluded.keys.sorted()) {
      UserDataTable.excluded[$0].map(Self.reason) ?? ""
    }
    for (reason, tables) in reasons.sorted(by: { $0.value[0] < $1.value[0] }) {
      lines.append("| \(tables.map { "`\($0)`" }.joined(separator: ", ")) | \(reason) |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func word(_ kind: UserDataColumn.Kind) -> String {
    switch kind {
    case .text: "(text)"
    case .number: "(number)"
    case .flag, .presence: "(true or false)"
    case .time, .seconds: "(time)"
    case .lines: "(list of texts)"
    }
  }

  private static func reason(_ exclusion: UserDataExclusion) -> String {
    switch exclusion {
    case .settings: "settings, and what administrators wrote about them"
    case .administrators: "administrators, and what they do in the console"
    case .keys: "keys and tokens of servers and applications"
    case .counts: "counts that name no user"
    case .accountNumbers: "the account's number, meaningless once the account is deleted"
    case .index: "made from the account, for searches"
    case .auditLog: "exported as `auditLog`, or the chain over it"
    case .server: "the state of the server and its tasks"
    case .counters: "digests, networks, and phone numbers with counts of attempts, for a day"
    case .steps: "steps of a sign-in or a form, encrypted or random, for minutes"
    case .bulkRemovals: "what they say about a user is in `bulkRemovals`"
    case .secrets: "digests of codes"
    }
  }
}
