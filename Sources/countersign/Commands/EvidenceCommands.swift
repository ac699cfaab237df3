import Crypto
import Foundation
import Identity

/// Prints the public key that verifies evidence files.
enum EvidenceKeyCommand: Command {
  static let name = "evidence key"
  static let summary = "prints the public key that verifies evidence, and creates it if needed"
  static let options = [
    Instance.dataOption,
    Option(
      "rotate", variable: false,
      help: "Replace the key first. Files of earlier keys can still be verified with those keys."),
    Option(
      "all", variable: false, help: "Print retired keys too, after the current one."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let keys = instance.identity.evidenceKeys
      if arguments.has("rotate") {
        _ = try await keys.rotate(by: Author(actor: .commandLine))
      }
      let current = try await keys.current()
      for key in arguments.has("all") ? try await keys.list() : [current] {
        let retired = key.retiredAt.map { ", retired \($0.rfc3339Milliseconds)" } ?? ""
        // Text around the PEM block is ignored by programs that read it (RFC 7468 section 2).
        Terminal.say("SHA-256 \(key.id), created \(key.createdAt.rfc3339Milliseconds)\(retired)")
        Terminal.say(key.publicKey.pem.trimmingCharacters(in: .newlines))
      }
      return 0
    }
  }
}

/// Verifies an evidence file without a server.
enum EvidenceVerifyCommand: Command {
  static let name = "evidence verify"
  static let summary = """
    verifies an evidence file offline; exits 0 if it's valid, 1 if it was altered, 2 if it was \
    signed with another key, and 3 if it isn't evidence
    """
  static let operands = "FILE"
  static let options = [
    Option(
      "key", "FILE", variable: false,
      help: "The public key in PEM format, as printed by countersign evidence key.")
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.operand("the evidence file")
    guard let keyPath = arguments.value("key") else {
      throw UsageError(message: "--key is missing")
    }
    guard let key = Ed25519PublicKey(pem: String(decoding: try read(keyPath), as: UTF8.self)) else {
      throw ConfigurationError("\(keyPath) isn't an Ed25519 public key in PEM format.")
    }
    switch EvidenceFile.verify(try read(path), with: key) {
    case .valid(let project, let moment):
      Terminal.say("Valid: evidence of project \(project), gathered \(moment).")
      return 0
    case .altered:
      Terminal.complain("Altered: the file was changed after it was signed.")
      return 1
    case .wrongKey(let fingerprint):
      Terminal.complain(
        "Wrong key: the file names the key \(fingerprint), but \(keyPath) is \(key.fingerprint).")
      return 2
    case .notEvidence:
      Terminal.complain("Not evidence: \(path) isn't a signed evidence file.")
      return 3
    }
  }

  private static func read(_ path: String) throws -> [UInt8] {
    do { return Array(try Data(contentsOf: URL(filePath: path))) } catch {
      throw ConfigurationError("\(path) can't be read.")
    }
  }
}
