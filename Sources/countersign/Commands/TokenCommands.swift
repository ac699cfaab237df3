import Crypto
import Foundation
import Host
import Identity
import Localization

enum TokenCreateCommand: Command {
  static let name = "token create"
  static let summary = Message(
    "creates a service token for Authorization: Bearer and prints it once")
  static let options =
    Instance.options + [
      Option(
        "project", "P", variable: false,
        help: Message("The project the token can access.")),
      Option(
        "tenant", "T", variable: false,
        help: Message("Limit the token to this tenant of the project.")),
      Option(
        "role", "ROLE", variable: false,
        help: Message("{roles} (for an application's backend).", ["roles": roles])),
      Option(
        "name", "NAME", variable: false, help: Message("Name in the audit log (default: the role).")
      ),
    ]

  private static var roles: Message.Value {
    .choice(ServiceTokenRole.allCases.map { .verbatim($0.rawValue) })
  }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let word = try arguments.required("role")
    guard let role = ServiceTokenRole(rawValue: word) else {
      throw UsageError(
        Message("unknown role {role}; use {roles}", ["role": .text(word), "roles": roles]))
    }
    let tenant = arguments.value("tenant")
    return try await Instance.use(arguments) { instance in
      do {
        _ = try await instance.pool(project, tenant: tenant)
        let created = try await instance.identity.serviceTokens.create(
          project: ID(project), tenant: tenant.map { ID($0) }, role: role,
          name: arguments.value("name") ?? word, by: .program(Author(actor: .commandLine))
        ).value
        Terminal.say(document: created.secret.revealedText)
        Terminal.complain(
          Message(
            "Token {id} ({role}). It won't be shown again.",
            ["id": .text("\(created.token.id)"), "role": .text(word)]))
        return 0
      } catch is PoolLookupError {
        throw ConfigurationError(Instance.notFound(project, tenant: tenant))
      } catch ServiceTokenError.invalidName {
        throw ConfigurationError(Message("The name must be 1 to 100 characters long."))
      }
    }
  }
}

enum TokenListCommand: ProjectList {
  static let name = "token list"
  static let summary = Message("lists the service tokens of a project")

  static func list(_ project: ID<Project>, _ identity: Identity) async throws -> Bool {
    let tokens = try await identity.serviceTokens.list(project)
    for token in tokens {
      let pool = token.tenant.map { "\(token.project)/\($0)" } ?? token.project.text
      say(
        token.id.text, token.role.rawValue, pool, token.name, revokedAt: token.revokedAt)
    }
    return !tokens.isEmpty
  }
}

enum TokenRevokeCommand: ProjectRevocation {
  static let name = "token revoke"
  static let summary = Message("revokes a service token immediately")
  static let operand = Message("the ID of a token")
  static let unknown = Message("The project has no active token with this ID.")

  static func revoke(
    _ id: String, of project: ID<Project>, _ identity: Identity
  ) async throws {
    try await identity.serviceTokens.revoke(
      ID(id), of: project, by: .program(Author(actor: .commandLine)))
  }
}

enum TrustedTokenKeyAddCommand: Command {
  static let name = "token-key add"
  static let summary = Message(
    """
    registers a custom token signing key; anyone with its private key can sign in as any user of \
    the project
    """)
  static let options =
    Instance.options + [
      Option("project", "P", variable: false, help: Message("The project.")),
      Option(
        "issuer", "EMAIL", variable: false,
        help: Message("The service account in the tokens' iss and sub claims.")),
      Option(
        "key", "FILE", variable: false,
        help: Message("Its RSA public key or certificate in PEM (default: standard input).")),
      Option(
        "key-id", "ID", variable: false, help: Message("The tokens' kid, if they have one.")),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let issuer = try arguments.required("issuer")
    let key = try read(arguments.value("key"))
    return try await Instance.use(arguments) { instance in
      do {
        let added = try await instance.identity.trustedTokenKeys.add(
          to: ID(project), issuer: issuer, keyID: arguments.value("key-id"), key: key,
          by: .program(Author(actor: .commandLine))
        ).value
        Terminal.say(
          Message(
            "Registered {id}, SHA-256 {fingerprint}.",
            ["id": .text("\(added.id)"), "fingerprint": .text(added.fingerprint)]))
        return 0
      } catch is PoolLookupError {
        throw ConfigurationError(Instance.notFound(project, tenant: nil))
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
    do {
      return String(decoding: try ReadableFile.contents(path, atMost: most), as: UTF8.self)
    } catch {
      throw ConfigurationError(reading: path, error)
    }
  }

  private static func message(_ error: TrustedTokenKeyError) -> Message {
    switch error {
    case .invalidIssuer: Message("The issuer must be an email address.")
    case .invalidKeyID: Message("The key ID must be at most 128 characters long, without spaces.")
    case .invalidKey(.isPrivate): Message("This is a private key. Use its public key instead.")
    case .invalidKey(.unreadable): Message("This isn't a public key or certificate in PEM format.")
    case .invalidKey(.unusable): Message("The RSA key must be 2048 to 8192 bits long.")
    case .invalidKey(.otherKind):
      Message("Custom tokens are signed with RS256, which requires an RSA key.")
    case .exists: Message("This key is already registered for this issuer.")
    case .tooMany:
      Message(
        one: "The project has {count} active key. Revoke one first.",
        other: "The project has {count} active keys. Revoke one first.",
        ["count": .number(TrustedTokenKeys.most)])
    }
  }
}

enum TrustedTokenKeyListCommand: ProjectList {
  static let name = "token-key list"
  static let summary = Message("lists a project's custom token signing keys")

  static func list(_ project: ID<Project>, _ identity: Identity) async throws -> Bool {
    let keys = try await identity.trustedTokenKeys.list(project)
    for key in keys {
      say(key.id.text, key.issuer, key.keyID ?? "-", key.label, revokedAt: key.revokedAt)
    }
    return !keys.isEmpty
  }
}

enum TrustedTokenKeyRevokeCommand: ProjectRevocation {
  static let name = "token-key revoke"
  static let summary = Message("revokes a custom token signing key immediately")
  static let operand = Message("the ID of a key")
  static let unknown = Message("The project has no active key with this ID.")

  static func revoke(
    _ id: String, of project: ID<Project>, _ identity: Identity
  ) async throws {
    try await identity.trustedTokenKeys.revoke(
      ID(id), of: project, by: .program(Author(actor: .commandLine)))
  }
}
