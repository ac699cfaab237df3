import Foundation
import HTTPClient
import Synchronization
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

  @Test func `a file that can't be written, or is locked, has no part of the lines`() async throws {
    try await withFolder { folder in
      let file = LineFile(path: folder + "/heads.jsonl")
      try file.append([Array("one".utf8)])
      let other = try FolderLock(path: file.path, isShared: false)
      #expect(throws: ConfigurationError.self) { try file.append([Array("two".utf8)]) }
      other?.release()
      let full = try #require(throws: ConfigurationError.self) {
        try LineFile(path: "/dev/full").append([Array("two".utf8)])
      }
      #expect("\(full)" == "/dev/full can't be written: No space left on device")
      #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "one\n")
    }
  }

  @Test func `a failed export of heads is logged once, until it works again`() async throws {
    try await withFolder { folder in
      let lines = Mutex<[String]>([])
      let log = Log(
        .text,
        write: { line, _ in
          lines.withLock { $0.append(line) }
          return true
        })
      let file = AuditHeadFile(path: folder + "/none/heads.jsonl")
      let export = try #require(AuditHeadExport(to: file, log: log))
      for _ in 0..<2 {
        #expect(export.attempt { (file) throws(ConfigurationError) in try file.lines() } == nil)
      }
      #expect(export.isFailing)
      try FileManager.default.createDirectory(
        atPath: folder + "/none", withIntermediateDirectories: false)
      let created: Void? = export.attempt { (file) throws(ConfigurationError) in try file.create() }
      #expect(created != nil && !export.isFailing)
      let said = lines.withLock { $0 }
      #expect(said.count == 2)
      #expect(said.first?.contains("\(file.path) can't be read: No such file or directory") == true)
      #expect(said.last?.contains("are exported to \(file.path) again") == true)
    }
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
