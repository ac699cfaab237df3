import Foundation
import Identity
import Testing

/// Verifies that `docs/logs.md` lists every event of the log, and no other.
struct LogEventTableTests {
  @Test func `docs/logs.md lists the names of all events, and no other`() throws {
    let names = try Self.names()
    #expect(names.contains("request.failed") && names.contains("sms.paused"))
    let listed = try Self.listed()
    #expect(names.subtracting(listed).sorted() == [], "not in docs/logs.md")
    #expect(listed.subtracting(names).sorted() == [], "never logged")
  }

  /// Returns the names in the source, which are literals; those of emails and text messages begin
  /// with the channel.
  private static func names() throws -> Set<String> {
    let folder = "\(packageFolder)/Sources/countersign/Log"
    let channel = #"\(channel.rawValue)"#
    var names: Set<String> = []
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      let literals = text.matches(of: #/\bLogRecord\(\s*"([^"\s]+)"/#).map { String($0.1) }
      #expect(literals.count == text.matches(of: #/\bLogRecord\(/#).count, "\(file)")
      for literal in literals where literal.contains(channel) {
        for one in [OutboxEntry.Channel.mail, .sms] {
          names.insert(literal.replacing(channel, with: one.rawValue))
        }
      }
      names.formUnion(literals.filter { !$0.contains(channel) })
    }
    return names
  }

  /// Returns the names in the first column of the table.
  private static func listed() throws -> Set<String> {
    let page = try String(contentsOfFile: "\(packageFolder)/docs/logs.md", encoding: .utf8)
    let section = page[try #require(page.range(of: "\n## Events\n")).upperBound...]
    var names: Set<String> = []
    for row in section.matches(of: #/\n\| (`[^|]+) \|/#) {
      names.formUnion(row.1.matches(of: #/`([^`]+)`/#).map { String($0.1) })
    }
    return names
  }
}
