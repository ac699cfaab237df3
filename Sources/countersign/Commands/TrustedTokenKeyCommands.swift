import Crypto
import Foundation
import Host
import Identity
import Localization

enum TrustedTokenKeyAddCommand: Command {
  static let name = "signer add"
  static let summary = Message("cli.summary-registers-a-custom-token-signing-key")
  static let options =
    Instance.options + [
      Option("project", "P", variable: false, help: Message("cli.help-the-project")),
      Option(
        "issuer", "EMAIL", variable: false,
        help: Message("cli.help-the-service-account-in-the-tokens")),
      Option(
        "key", "FILE", variable: false,
        help: Message("cli.help-its-rsa-public-key-or-certificate")),
      Option(
        "key-id", "ID", variable: false, help: Message("cli.help-the-tokens-kid-if-they-have")),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let issuer = try arguments.required("issuer")
    let key = try read(arguments.value("key"))
    return try await Instance.use(arguments) { instance in
      do {
        let signer = try await instance.identity.trustedTokenKeys.add(
          to: ID(project), issuer: issuer, keyID: arguments.value("key-id"), key: key,
          by: Author(actor: .commandLine))
        Terminal.say(
          Message(
            "cli.registered-sha-256",
            ["id": .text("\(signer.id)"), "fingerprint": .text(signer.fingerprint)]))
        return 0
      } catch let error as TrustedTokenKeyError {
        throw ConfigurationError(message(error, project))
      }
    }
  }

  private static func read(_ path: String?) throws -> String {
    // In bytes; a key has a few thousand.
    let most = 100_000
    guard let path else {
      let data = try FileHandle.standardInput.read(upToCount: most) ?? Data()
      return String(decoding: data, as: UTF8.self)
    }
    do {
      return String(decoding: try ReadableFile.contents(path, atMost: most), as: UTF8.self)
    } catch {
      throw ConfigurationError(reading: path, error)
    }
  }

  private static func message(_ error: TrustedTokenKeyError, _ project: String) -> Message {
    switch error {
    case .projectNotFound: Instance.notFound(project, tenant: nil)
    case .invalidIssuer: Message("cli.the-issuer-must-be-an-email")
    case .invalidKeyID: Message("cli.the-key-id-must-have-at")
    case .invalidKey(.isPrivate): Message("cli.this-is-a-private-key-use")
    case .invalidKey(.unreadable): Message("cli.this-isnt-a-public-key-or")
    case .invalidKey(.unusable): Message("cli.the-rsa-key-must-have-2048")
    case .invalidKey(.otherKind): Message("cli.custom-tokens-are-signed-with-rs256")
    case .exists: Message("cli.this-key-is-already-registered-for")
    case .tooMany:
      Message("cli.the-project-has-active-keys-revoke", ["count": .number(TrustedTokenKeys.most)])
    case .notFound: Message("cli.key-not-found-in-this-project")
    case .unavailable(let failure): Message("cli.database-error", ["failure": .text("\(failure)")])
    }
  }
}

enum TrustedTokenKeyListCommand: ProjectList {
  static let name = "signer list"
  static let summary = Message("cli.summary-lists-a-projects-custom-token-signing")

  static func list(_ project: ID<Project>, _ identity: Identity) async throws -> Bool {
    let signers = try await identity.trustedTokenKeys.list(project)
    for signer in signers {
      say(
        signer.id.text, signer.issuer, signer.keyID ?? "-", signer.label,
        revokedAt: signer.revokedAt)
    }
    return !signers.isEmpty
  }
}

enum TrustedTokenKeyRevokeCommand: ProjectRevocation {
  static let name = "signer revoke"
  static let summary = Message("cli.summary-revokes-a-custom-token-signing-key")
  static let operand = Message("cli.the-id-of-a-key")
  static let unknown = Message("cli.the-project-has-no-active-key")

  static func revoke(
    _ id: String, of project: ID<Project>, _ identity: Identity
  ) async throws -> Bool {
    do {
      try await identity.trustedTokenKeys.revoke(
        ID(id), of: project, by: Author(actor: .commandLine))
      return true
    } catch TrustedTokenKeyError.notFound {
      return false
    }
  }
}
