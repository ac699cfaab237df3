import Database

/// A linked identity at another provider, used to sign in to an account.
public struct ProviderLink: Sendable, Equatable {
  /// The provider ID: `google.com`, or a name with the prefix `oidc.` or `saml.`.
  public let provider: String
  public let rawID: String
  public let email: String?
  public let displayName: String?
  public let photoURL: String?
  /// Whether the provider, an administrator, or a program vouches for the email address.
  let isEmailVerified: Bool

  /// The maximum length of a provider ID, in bytes; it's the limit for identifiers in tokens.
  public static let longestProvider = 128
  /// The maximum length of a user ID at a provider, in bytes.
  public static let longestRawID = 512
  /// The maximum length of each other field, in bytes.
  public static let longestField = 2_048

  /// An empty string is stored as nil.
  public init(
    provider: String, rawID: String, email: String? = nil, displayName: String? = nil,
    photoURL: String? = nil
  ) {
    self.init(
      provider: provider, rawID: rawID, email: email, displayName: displayName, photoURL: photoURL,
      isEmailVerified: true)
  }

  init(
    provider: String, rawID: String, email: String?, displayName: String?, photoURL: String?,
    isEmailVerified: Bool
  ) {
    func given(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
    self.provider = provider
    self.rawID = rawID
    self.email = given(email)
    self.displayName = given(displayName)
    self.photoURL = given(photoURL)
    self.isEmailVerified = isEmailVerified
  }

  /// The description of the link in the audit log.
  var words: String { "\(provider) (\(rawID))" }

  /// The sign-in provider names of built-in first factors, which no other provider can use.
  private static let own: Set<String> = [
    "password", "emailLink", "email", "phone", "anonymous", "custom", "firebase",
  ]

  func check() throws(AccountError) {
    guard
      (1...Self.longestProvider).contains(provider.utf8.count), !Self.own.contains(provider),
      provider.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw .invalidProvider }
    guard
      (1...Self.longestRawID).contains(rawID.utf8.count),
      !rawID.unicodeScalars.contains(where: { $0.value < 32 || (127...159).contains($0.value) })
    else { throw .invalidRawID }
    guard [email, displayName, photoURL].allSatisfy({ ($0 ?? "").utf8.count <= Self.longestField })
    else { throw .invalidProvider }
  }
}

extension Pool {
  /// What the column `hosted` has: nil for what's mirrored, which needn't be unique.
  var hostedMark: Int? { kind == .hosted ? 1 : nil }
}

extension ProviderLink {
  static func all(of account: Int64, _ connection: borrowing Connection) throws -> [ProviderLink] {
    try all("account_key = \(account) ORDER BY provider_id", connection)
  }

  static func all(
    _ condition: SQL, _ connection: borrowing Connection
  ) throws -> [ProviderLink] {
    try connection.all(
      """
      SELECT provider_id, raw_id, email, display_name, photo_url, email_verified
      FROM account_provider WHERE \(condition)
      """
    ) { row in
      ProviderLink(
        provider: try row.next(), rawID: try row.next(), email: try row.next(),
        displayName: try row.next(), photoURL: try row.next(), isEmailVerified: try row.next())
    }
  }

  /// Links the identity to an account, replacing any other identity from the same provider.
  ///
  /// - Throws: ``AccountError/federatedIDAlreadyLinked`` if it's linked to another account.
  func store(
    for account: Int64, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    do {
      try connection.run(
        """
        INSERT INTO account_provider (account_key, scope_key, provider_id, raw_id, email,
          display_name, photo_url, email_verified, hosted)
        VALUES (\(account), \(pool.key), \(provider), \(rawID), \(email), \(displayName),
          \(photoURL), \(isEmailVerified), \(pool.hostedMark))
        ON CONFLICT (account_key, provider_id) DO UPDATE SET raw_id = excluded.raw_id,
          email = excluded.email, display_name = excluded.display_name,
          photo_url = excluded.photo_url, email_verified = excluded.email_verified
        """)
    } catch {
      throw AccountRecord.conflict(error) ?? error
    }
    try AccountRecord.set("has_providers = 1, anonymous = 0", of: account, connection)
  }

  /// Unlinks an account's identities; nil unlinks all of them.
  static func remove(
    _ providers: [String]?, of account: Account, _ connection: borrowing Connection
  ) throws {
    let gone = account.providers.filter { providers?.contains($0.provider) ?? true }
    guard !gone.isEmpty else { return }
    for link in gone {
      try connection.run(
        """
        DELETE FROM account_provider
        WHERE account_key = \(account.key) AND provider_id = \(link.provider)
        """)
    }
    let left = account.providers.count - gone.count
    try AccountRecord.set("has_providers = \(left > 0)", of: account.key, connection)
  }
}

extension AccountRecord {
  static func find(
    _ pool: Pool, provider: String, rawID: String, _ connection: borrowing Connection
  ) throws -> Account? {
    let key = try connection.first(
      """
      SELECT account_key FROM account_provider
      WHERE scope_key = \(pool.key) AND provider_id = \(provider) AND raw_id = \(rawID)
      """
    ) { try $0.next() as Int64 }
    guard let key else { return nil }
    return try find(key: key, connection)
  }
}
