import Foundation
import Identity
import JSON
import Testing

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

  @Test func `an error names the file and the line, or the member and its pool`() {
    func lines(_ text: String) -> [String] {
      do throws(PolicyFileError) {
        _ = try PolicyFile(parsing: Array(text.utf8))
        return []
      } catch {
        return error.messages(of: "p.json").map(OperatorText.string)
      }
    }
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
    #expect(lines(hostile).first?.hasPrefix("p.json: pools[0].\u{FFFD}x\u{FFFD}") == true)
    let twice = #"{"\u001b[31m": 1, "\u001b[31m": 2}"#
    for line in lines(hostile) + lines(twice) {
      #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }
  }
}
