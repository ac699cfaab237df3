import Foundation
import Identity
import JSON
import Testing
import Text

@testable import countersign

struct PolicyFileTests {
  @Test func `the published schema is the one the program prints`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let published = try String(
      contentsOf: root.appending(path: "docs/policy.schema.json"), encoding: .utf8)
    #expect(published == PolicyFileSchema.jsonSchema + "\n")
    #expect(throws: Never.self) { try JSON.parse(Array(published.utf8)) }
  }

  @Test func `the schema allows the members that policy files have`() throws {
    let schema = try JSON.parse(Array(PolicyFileSchema.jsonSchema.utf8))
    let pool = try #require(schema["$defs"]?["pool"]?["properties"])
    for member in PolicyFileMember.allCases {
      let path = member.rawValue.split(separator: ".").map(String.init)
      let outer = try #require(pool[path[0]])
      #expect(path.count == 1 || outer["properties"]?[path[1]] != nil, "\(member.rawValue)")
    }
    #expect(schema["properties"]?["format"]?["const"] == .string(PolicyFile.format))
  }

  @Test func `the schema has the ranges of the parser`() throws {
    let schema = try JSON.parse(Array(PolicyFileSchema.jsonSchema.utf8))
    let pool = try #require(schema["$defs"]?["pool"]?["properties"])
    func faults(_ id: Int, _ version: String, _ day: String) -> [String] {
      let id = String(repeating: "a", count: id)
      return lines(
        """
        {"format": "countersign-policy/1", "pools": [{"project": "\(id)", "tenant": "\(id)",
          "policyVersion": \(version), "mandatoryFrom": "\(day)",
          "enforcement": {"mode": "claim", "from": "\(day)", "graceDays": 0}}]}
        """)
    }
    let version = try #require(pool["policyVersion"]?["maximum"]?.numberValue?.int64)
    for member in ["project", "tenant"] {
      #expect(pool[member]?["minLength"]?.numberValue?.int64 == 1)
      #expect(pool[member]?["maxLength"]?.numberValue?.int64 == 128)
    }
    #expect(faults(128, "\(version)", "\(Day.first)") == [])
    #expect(faults(1, "0", "\(Day.last)") == [])
    let long = faults(129, "\(version + 1)", "1969-12-31")
    #expect(long.count == 5)
    #expect(long.filter { $0.hasSuffix("must be 1 to 128 bytes long.") }.count == 2)
    let day = "must be a date from 1970-01-01 to 9999-12-31, such as 2026-12-01."
    #expect(long.filter { $0.hasSuffix(day) }.count == 2)
    #expect(faults(0, "0", "0001-01-01").filter { $0.hasSuffix("1 to 128 bytes long.") }.count == 2)
    let text = try #require(pool["mandatoryFrom"]?["pattern"]?.textValue?.text)
    let from = pool["enforcement"]?["properties"]?["from"]?["pattern"]?.textValue?.text
    let pattern = try Regex(text)
    #expect(from == text)
    for (day, isValid) in [
      ("1969-12-31", false), ("0001-01-01", false), ("1970-01-01", true), ("2026-12-01", true),
      ("9999-12-31", true),
    ] {
      let matches = try pattern.wholeMatch(in: day) != nil
      #expect((Day(day) != nil) == isValid && matches == isValid, "\(day)")
    }
  }

  private func lines(_ text: String) -> [String] {
    do throws(PolicyFileError) {
      _ = try PolicyFile(parsing: Array(text.utf8))
      return []
    } catch {
      return error.messages(of: "p.json").map(OperatorText.string)
    }
  }

  @Test func `an error names the file and the line, or the member and its pool`() {
    #expect(lines("{\n,").first?.hasPrefix("p.json:2: ") == true)
    let text = """
      {"format": "countersign-policy/1", "pools": [
        {"project": "a", "tenant": "b", "policyVersion": 0, "sms": 1}]}
      """
    #expect(lines(text) == ["p.json: pools[0].sms (a/b): must be of type boolean."])
    let hostile = """
      {"format": "countersign-policy/1", "pools": [
        {"project": "a\\u001b[31m", "tenant": "b\\nc", "policyVersion": 0, "sms": 1,
         "\\u202ex\\n": 1}]}
      """
    #expect(lines(hostile).first?.hasPrefix(#"p.json: pools[0].\u202Ex\u000A"#) == true)
    let twice = #"{"\u001b[31m": 1, "\u001b[31m": 2}"#
    for line in lines(hostile) + lines(twice) {
      #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
  }
}
