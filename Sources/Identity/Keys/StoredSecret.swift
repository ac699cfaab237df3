import Crypto

/// A stored sealed secret, as the audit log and alerts identify it.
struct StoredSecret: Sendable, Equatable {
  typealias Kind = UnreadableSecrets.Group.Kind

  let kind: Kind
  let object: AuditResource
  /// The resource ID: a user, an administrator, a provider, a key, or a message.
  let objectID: String
  /// Which of the resource's secrets, if it can have several.
  var part = ""
  var project = ""
  var tenant = ""

  static func userTOTP(
    _ factor: String, of account: String, project: String, tenant: String
  ) -> StoredSecret {
    StoredSecret(
      kind: .userTOTP, object: .account, objectID: account, part: factor, project: project,
      tenant: tenant)
  }

  static func administratorTOTP(_ id: String) -> StoredSecret {
    StoredSecret(kind: .administratorTOTP, object: .administrator, objectID: id)
  }

  static func signingKey(_ id: String) -> StoredSecret {
    StoredSecret(kind: .signingKey, object: .signingKey, objectID: id)
  }

  static func evidenceKey(_ id: String) -> StoredSecret {
    StoredSecret(kind: .evidenceKey, object: .signingKey, objectID: id)
  }

  static func clientSecret(_ provider: String, project: String, tenant: String) -> StoredSecret {
    StoredSecret(
      kind: .clientSecret, object: .provider, objectID: provider, project: project,
      tenant: tenant)
  }

  static let consoleProvider = StoredSecret(
    kind: .clientSecret, object: .instance, objectID: "sign-in-provider")

  static func userCodes(
    _ kind: String, of account: String, project: String, tenant: String
  ) -> StoredSecret {
    StoredSecret(
      kind: .userCodes, object: .account, objectID: account, part: kind, project: project,
      tenant: tenant)
  }

  static func message(_ id: Int64, project: String, tenant: String) -> StoredSecret {
    StoredSecret(
      kind: .message, object: .message, objectID: String(id), project: project,
      tenant: tenant)
  }

  init(
    kind: Kind, object: AuditResource, objectID: String, part: String = "", project: String = "",
    tenant: String = ""
  ) {
    (self.kind, self.object, self.objectID, self.part) = (kind, object, objectID, part)
    (self.project, self.tenant) = (project, tenant)
  }

  init(
    _ kind: Kind, _ object: AuditResource, _ objectID: String, part: String = "", in pool: Pool
  ) {
    self.init(
      kind: kind, object: object, objectID: objectID, part: part,
      project: pool.project.text, tenant: pool.tenant?.text ?? "")
  }

  /// Runs the closure that opens this secret, and identifies the secret in the error if it doesn't
  /// open.
  ///
  /// - Throws: ``UnreadableSecret``, and any other error that `body` throws.
  func opening<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch CryptoError.notAuthentic {
      throw UnreadableSecret(secret: self, key: nil)
    } catch CryptoError.unknownKey(let key) {
      throw UnreadableSecret(secret: self, key: key)
    }
  }
}

/// A stored secret couldn't be opened.
///
/// The use case that needed it fails, and ``Store`` records the failure.
struct UnreadableSecret: Error, CustomStringConvertible {
  let secret: StoredSecret
  /// The master key that sealed the secret, if that key isn't in the key ring; nil if the sealed
  /// bytes were changed or moved from another row.
  let key: UInt32?

  var description: String { "unreadable \(secret.kind.rawValue): \(reason)" }

  var keyName: String? {
    guard let key else { return nil }
    let digits = String(key, radix: 16)
    let padding = String(repeating: "0", count: max(0, 8 - digits.utf8.count))
    return padding + digits
  }

  /// Why the secret can't be opened, for the server's log.
  private var reason: String {
    guard let keyName else { return "changed" }
    return "unknown-key \(keyName)"
  }
}
