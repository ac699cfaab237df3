import Foundation
import Identity

/// Registers the public key of a back end.
enum TrustedTokenKeyAddCommand: Command {
  static let name = "signer add"
  static let summary = "registers a public key whose owner may sign a project's users in"
  static let options = [
    Instance.dataOption,
    Option("project", "P", variable: false, help: "The project."),
    Option(
      "issuer", "EMAIL", variable: false,
      help: "The service account, as it stands in the tokens (iss and sub)."),
    Option(
      "key", "FILE", variable: false,
      help: "Its public RSA key or its certificate (PEM); standard input when left out."),
    Option("key-id", "ID", variable: false, help: "The kid of its tokens, if they have one."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let issuer = try arguments.required("issuer")
    let key = try read(arguments.value("key"))
    return try await Instance.use(arguments) { instance in
      do {
        let signer = try await instance.identity.signers.add(
          to: ID(project), issuer: issuer, keyID: arguments.value("key-id"), key: key,
          by: Author(actor: .commandLine))
        Terminal.say("Registered \(signer.id), SHA-256 \(signer.fingerprint).")
        return 0
      } catch let error as TrustedTokenKeyError {
        throw ConfigurationError(words(error))
      }
    }
  }

  private static func read(_ path: String?) throws -> String {
    // A key has a few thousand bytes.
    let most = 100_000
    guard let path else {
      let data = try FileHandle.standardInput.read(upToCount: most) ?? Data()
      return String(decoding: data, as: UTF8.self)
    }
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw ConfigurationError("The file \(path) cannot be read.")
    }
    return String(decoding: try file.read(upToCount: most) ?? Data(), as: UTF8.self)
  }

  private static func words(_ error: TrustedTokenKeyError) -> String {
    switch error {
    case .projectNotFound: "There is no such project."
    case .invalidIssuer: "The issuer must be an email address."
    case .invalidKeyID: "The key id has at most 128 characters, without spaces."
    case .invalidKey(.isPrivate): "That is a private key. Give the public key that belongs to it."
    case .invalidKey(.unreadable): "That is no public key and no certificate as PEM."
    case .invalidKey(.unusable): "The RSA key must have 2048 to 8192 bits."
    case .invalidKey(.otherKind): "Custom tokens are signed with RS256, which needs an RSA key."
    case .exists: "This key of this issuer is registered already."
    case .tooMany: "The project has \(TrustedTokenKeys.most) keys in force. Revoke one first."
    case .notFound: "The project has no such key."
    case .unavailable(let failure): "The database cannot be used: \(failure)"
    }
  }
}

/// Lists the keys of a project's back ends.
enum TrustedTokenKeyListCommand: ProjectList {
  static let name = "signer list"
  static let summary = "lists the keys that sign a project's custom tokens"

  static func list(_ project: ID<Project>, _ identity: Identity) async throws {
    for signer in try await identity.signers.list(project) {
      say(
        signer.id.text, signer.issuer, signer.keyID ?? "-", signer.label,
        revokedAt: signer.revokedAt)
    }
  }
}

/// Revokes the key of a back end.
enum TrustedTokenKeyRevokeCommand: ProjectRevocation {
  static let name = "signer revoke"
  static let summary = "revokes a key that signs custom tokens, at once"
  static let noun = "key"

  static func revoke(
    _ id: String, of project: ID<Project>, _ identity: Identity
  ) async throws -> Bool {
    do {
      try await identity.signers.revoke(ID(id), of: project, by: Author(actor: .commandLine))
      return true
    } catch TrustedTokenKeyError.notFound {
      return false
    }
  }
}
