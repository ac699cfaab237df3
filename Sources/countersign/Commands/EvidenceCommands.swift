import Crypto
import Foundation
import Host
import Identity
import Localization

enum EvidenceKeyCommand: Command {
  static let name = "evidence key"
  static let summary = Message("cli.summary-prints-the-key-that-verifies-evidence")
  static let options =
    Instance.options + [
      Option(
        "rotate", variable: false,
        help: Message("cli.help-replace-the-evidence-key-first")),
      Option("all", variable: false, help: Message("cli.help-print-retired-evidence-keys-too")),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let keys = instance.identity.evidenceKeys
      if arguments.has("rotate") {
        _ = try await keys.rotate(by: Author(actor: .commandLine))
      }
      let current = try await keys.current()
      for key in arguments.has("all") ? try await keys.list() : [current] {
        // Text around the PEM block is ignored by programs that read it (RFC 7468 section 2).
        Terminal.say(heading(key))
        Terminal.say(document: key.publicKey.pem.trimmingCharacters(in: .newlines))
      }
      return 0
    }
  }

  private static func heading(_ key: EvidenceKey) -> Message {
    let created = Message.Value.text(key.createdAt.rfc3339Milliseconds)
    guard let retiredAt = key.retiredAt else {
      return Message("cli.evidence-key", ["fingerprint": .text(key.id), "created": created])
    }
    return Message(
      "cli.evidence-key-retired",
      [
        "fingerprint": .text(key.id), "created": created,
        "retired": .text(retiredAt.rfc3339Milliseconds),
      ])
  }
}

/// Verifies an evidence file without a server.
enum EvidenceVerifyCommand: Command {
  static let name = "evidence verify"
  static let summary = Message("cli.summary-verifies-an-evidence-file-offline")
  static let operands = "FILE"
  static let options = [
    Option(
      "key", "FILE", variable: false,
      help: Message("cli.help-the-public-key-in-pem-format"))
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.operand(Message("cli.the-evidence-file"))
    let keyPath = try arguments.required("key")
    let keys = try EvidenceKeyFile(path: keyPath).keys()
    switch EvidenceFile.verify(try read(path), with: keys) {
    case .valid(let project, let moment):
      Terminal.say(
        Message("cli.evidence-valid", ["project": .text(project), "time": .text(moment)]))
      return 0
    case .altered:
      Terminal.complain(Message("cli.evidence-altered"))
      return 1
    case .wrongKey(let fingerprint):
      Terminal.complain(
        Message(
          "cli.evidence-wrong-key",
          [
            "named": .text(fingerprint), "path": .text(keyPath),
            "fingerprints": .text(keys.map(\.fingerprint).joined(separator: ", ")),
          ]))
      return 2
    case .notEvidence:
      Terminal.complain(Message("cli.evidence-none", ["path": .text(path)]))
      return 3
    }
  }

  private static func read(_ path: String) throws(ConfigurationError) -> [UInt8] {
    do { return try ReadableFile.contents(path) } catch {
      throw ConfigurationError(reading: path, error)
    }
  }
}
