import Crypto
import Foundation
import Identity

/// Registers a public key that signs a project's custom tokens.
enum TrustedTokenKeyAddCommand: Command {
  static let name = "signer add"
  static let summary = "registers a custom token signing key, whose holder can sign in users"
  static let options = [
    Instance.dataOption,
    Option("project", "P", variable: false, help: "The project."),
    Option(
      "issuer", "EMAIL", variable: false,
      help: "The service account in the tokens' iss and sub claims."),
    Option(
      "key", "FILE", variable: false,
      help: "Its RSA public key or certificate in PEM (default: standard input)."),
    Option("key-id", "ID", variable: false, help: "The tokens' kid, if they have one."),
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
        throw ConfigurationError(message(error))
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
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw ConfigurationError("The file \(path) can't be read.")
    }
    return String(decoding: try file.read(upToCount: most) ?? Data(), as: UTF8.self)
  }

  private static func message(_ error: TrustedTokenKeyError) -> String {
    switch error {
    case .projectNotFound: "Project not found."
    case .invalidIssuer: "The issuer must be an email address."
    case .invalidKeyID: "The key ID must be at most 128 characters long, without spaces."
    case .invalidKey(.isPrivate): "This is a private key. Use its public key instead."
    case .invalidKey(.unreadable): "This isn't a public key or certificate in PEM format."
    case .invalidKey(.unusable): "The RSA key must be 2048 to 8192 bits long."
    case .invalidKey(.otherKind): "Custom tokens are signed with RS256, which requires an RSA key."
    case .exists: "This key is already registered for this issuer."
    case .tooMany: "The project has \(TrustedTokenKeys.most) active keys. Revoke one first."
    case .notFound: "Key not found in this project."
    case .unavailable(let failure): "Database error: \(failure)"
    }
  }
}

/// Lists a project's custom token signing keys.
enum TrustedTokenKeyListCommand: ProjectList {
  static let name = "signer list"
  static let summary = "lists a project's custom token signing keys"

  static func list(_ project: ID<Project>, _ identity: Identity) async throws {
    for signer in try await identity.signers.list(project) {
      say(
        signer.id.text, signer.issuer, signer.keyID ?? "-", signer.label,
        revokedAt: signer.revokedAt)
    }
  }
}

/// Revokes a custom token signing key.
enum TrustedTokenKeyRevokeCommand: ProjectRevocation {
  static let name = "signer revoke"
  static let summary = "revokes a custom token signing key immediately"
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
