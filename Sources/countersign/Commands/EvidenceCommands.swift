import Crypto
import Foundation
import Host
import Identity
import Localization

enum EvidenceKeyCommand: Command {
  static let name = "evidence key"
  static let summary = Message(
    "prints the public key that verifies evidence, and creates it if needed")
  static let options =
    Instance.options + [
      Option(
        "rotate", variable: false,
        help: Message(
          "Replace the key first. Files of earlier keys can still be verified with those keys.")),
      Option(
        "all", variable: false, help: Message("Print retired keys too, after the current one.")),
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
      return Message(
        "SHA-256 {fingerprint}, created {created}",
        ["fingerprint": .text(key.id), "created": created])
    }
    return Message(
      "SHA-256 {fingerprint}, created {created}, retired {retired}",
      [
        "fingerprint": .text(key.id), "created": created,
        "retired": .text(retiredAt.rfc3339Milliseconds),
      ])
  }
}

enum EvidenceVerifyCommand: Command {
  static let name = "evidence verify"
  static let summary = Message(
    """
    verifies an evidence file offline; exits 0 if it's valid, 1 if it was altered, 2 if it was \
    signed with another key, and 3 if it isn't evidence
    """)
  static let operands = "FILE"
  static let options = [
    Option(
      "key", "FILE", variable: false,
      help: Message(
        """
        The public keys in PEM format, as printed by countersign evidence key --all; the file \
        names one of them.
        """))
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.operand(Message("the evidence file"))
    let keyPath = try arguments.required("key")
    let keys = try EvidenceKeyFile(path: keyPath).keys()
    switch EvidenceFile.verify(try read(path), with: keys) {
    case .valid(let project, let moment):
      Terminal.say(
        Message(
          "Valid: evidence of project {project}, created {time}.",
          ["project": .text(project), "time": .text(moment)]))
      return 0
    case .altered:
      Terminal.complain(Message("Altered: the file was changed after it was signed."))
      return 1
    case .wrongKey(let fingerprint):
      Terminal.complain(
        Message(
          """
          Wrong key: the file names the key {named}, which isn't in {path}. Keys there: \
          {fingerprints}.
          """,
          [
            "named": .text(fingerprint), "path": .text(keyPath),
            "fingerprints": .text(keys.map(\.fingerprint).joined(separator: ", ")),
          ]))
      return 2
    case .notEvidence:
      Terminal.complain(
        Message("Not evidence: {path} isn't a signed evidence file.", ["path": .text(path)]))
      return 3
    }
  }

  private static func read(_ path: String) throws(ConfigurationError) -> [UInt8] {
    do { return try ReadableFile.contents(path) } catch {
      throw ConfigurationError(reading: path, error)
    }
  }
}

/// A file with public evidence keys, as `evidence key --all` prints them.
struct EvidenceKeyFile {
  /// The maximum size, in bytes: room for thousands of keys.
  static let mostBytes = 1 << 20

  let path: String

  func keys() throws(ConfigurationError) -> [Ed25519PublicKey] {
    let data: [UInt8]
    do { data = try ReadableFile.contents(path, atMost: Self.mostBytes + 1) } catch {
      throw ConfigurationError(reading: path, error)
    }
    guard data.count <= Self.mostBytes else {
      throw ConfigurationError(
        Message(
          "{path} is larger than {limit}\u{A0}MiB. A file of evidence keys is much smaller.",
          ["path": .text(path), "limit": .number(Self.mostBytes >> 20)]))
    }
    let keys = Ed25519PublicKey.all(pem: String(decoding: data, as: UTF8.self))
    guard !keys.isEmpty else {
      throw ConfigurationError(
        Message("{path} isn't an Ed25519 public key in PEM format.", ["path": .text(path)]))
    }
    return keys
  }
}
