import Foundation
import HTTPClient
import Testing

@testable import countersign

struct EventCarrierTests {
  @Test(arguments: [
    (200, "delivered"), (202, "delivered"), (204, "delivered"),
    // About the events: they're left out after some attempts.
    (400, "refused"), (413, "refused"), (415, "refused"), (422, "refused"), (500, "refused"),
    // About the address, the signature, or the receiver: nothing is left out.
    (301, "postponed"), (401, "postponed"), (403, "postponed"), (404, "postponed"),
    (408, "postponed"), (410, "postponed"), (429, "postponed"), (502, "postponed"),
    (503, "postponed"), (504, "postponed"),
  ])
  func `a status says whether a receiver has the events, refuses them, or is unavailable`(
    _ status: Int, _ expected: String
  ) {
    let response = ClientResponse(
      status: status, fields: [:], body: Array("no\r\nforged: line".utf8))
    let words: (String, String) =
      switch WebhookCarrier.attempt(response) {
      case .delivered: ("delivered", "")
      case .refused(let text): ("refused", text)
      case .postponed(let text): ("postponed", text)
      case .interrupted: ("interrupted", "")
      }
    #expect(words.0 == expected)
    if expected != "delivered" { #expect(words.1 == "HTTP \(status): no forged: line") }
  }

  @Test func `lines are appended, and a line that a crash cut off ends first`() async throws {
    try await withFolder { folder in
      let file = LineFile(path: folder + "/siem.jsonl")
      try file.append([Array("one".utf8)])
      let handle = try #require(FileHandle(forWritingAtPath: file.path))
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("{\"cut".utf8))
      try handle.close()
      try file.append([Array("two".utf8), Array("three".utf8)])
      let text = try String(contentsOfFile: file.path, encoding: .utf8)
      #expect(text == "one\n{\"cut\ntwo\nthree\n")
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o640)
    }
  }
}
