public import Crypto

/// A user from an import, parsed but not yet validated.
public struct ImportedUser: Sendable {
  /// The uid; required.
  public var localID = ""
  /// The email address.
  public var email: String?
  /// Whether the email is verified.
  public var emailVerified = false
  /// The display name.
  public var displayName: String?
  /// The URL of a photo.
  public var photoURL: String?
  /// The phone number in E.164 format.
  public var phoneNumber: String?
  /// The password.
  public var password: ImportedPassword?
  /// When the password was set; nil for the time of the import.
  public var passwordUpdatedAt: Instant?
  /// Whether the account is disabled.
  public var disabled = false
  /// Whether the account was created with a custom token.
  public var isCustomAuth = false
  /// Whether the user has signed in with an email link.
  public var signsInByLink = false
  /// The custom claims as JSON text, already validated.
  public var customAttributes: String?
  /// Sessions that began earlier than this are invalid, in seconds since 1970; nil for the time of
  /// the import.
  public var validSince: Int64?
  /// When the account was created; nil for the time of the import.
  public var createdAt: Instant?
  /// When the user last signed in.
  public var lastLoginAt: Instant?
  /// The tenant that the row names, which must be the tenant of the call; nil if the row names
  /// none.
  public var tenant: ID<Tenant>?
  /// The identities at other providers.
  public var providers: [ProviderLink] = []
  /// The second factors, in order.
  public var factors: [ImportedFactor] = []

  /// Creates an empty user.
  public init() {}
}

/// The password of an imported user.
public enum ImportedPassword: Sendable {
  /// A password hash, which is kept until the user signs in.
  case hash(PasswordHash)
  /// The text that Google's emulator exports in place of a hash; only for the emulator profile.
  case emulatorText(String)
  /// The plaintext password, which is hashed immediately.
  case plain(Secret)
}

/// A second factor of an imported user.
public struct ImportedFactor: Sendable {
  /// The kind of factor, with what its codes depend on.
  public enum Kind: Sendable {
    /// A phone, by its number in E.164 format.
    case phone(String)
    /// An authenticator app, by its secret; nil if the row has no secret.
    case totp(Secret?)
    /// An unsupported kind.
    case unknown
  }

  /// The enrollment ID; nil to generate one.
  public var id: String?
  /// The name that the user chose.
  public var displayName: String?
  /// When the factor was enrolled; nil for the time of the import.
  public var enrolledAt: Instant?
  /// The kind of factor.
  public var kind: Kind
  /// The name of the hash function of an app's codes, such as `SHA1`; nil if the row has none.
  public var codeAlgorithm: String?
  /// The number of digits of an app's codes; nil if the row has none.
  public var codeLength: Int?
  /// The length of a time step of an app's codes, in seconds; nil if the row has none.
  public var codePeriod: Int?

  /// Creates a factor of the specified kind.
  public init(_ kind: Kind, id: String? = nil) {
    self.kind = kind
    self.id = id
  }
}

/// A row of an import: a user, or why the row is rejected.
public typealias ImportRow = Result<ImportedUser, ImportFault>

/// How an import handles existing accounts and what it records.
public struct ImportOptions: Sendable {
  /// How an import handles a row whose uid belongs to an existing account.
  public enum Existing: Sendable {
    /// Rejects the row.
    case refuse
    /// Keeps the account as it is and reports the row as existing.
    case keep
    /// Replaces the account with the row.
    case replace
  }

  /// What an import records in the audit log.
  public enum Record: Sendable {
    /// One entry for the call.
    case call
    /// An entry for the start of an import with this name;
    /// ``Imports/recordEnd(_:of:name:isComplete:by:)`` records its end.
    case beginning(String)
    /// Nothing; the call is part of an import whose start is already recorded.
    case nothing
  }

  /// How the import handles a row whose uid belongs to an existing account.
  public var existing: Existing
  /// Whether duplicate emails and identities in the list reject the whole import.
  public var sanityCheck = false
  /// What the import records in the audit log.
  public var record = Record.call

  /// Creates options.
  public init(existing: Existing) { self.existing = existing }
}

/// The result of an import.
public struct ImportOutcome: Sendable {
  /// A rejected row.
  public struct Refusal: Sendable {
    /// The row's index in the list, starting at 0.
    public let index: Int
    /// Why the row was rejected.
    public let fault: ImportFault
  }

  /// The number of accounts created.
  public var created = 0
  /// The number of accounts replaced.
  public var replaced = 0
  /// The number of existing accounts that were kept unchanged.
  public var kept = 0
  /// The rejected rows, in order.
  public var refusals: [Refusal] = []

  /// Creates an empty outcome.
  public init() {}

  /// Adds the outcome of another part, whose first row has the index `offset`.
  public mutating func add(_ part: ImportOutcome, offset: Int = 0) {
    created += part.created
    replaced += part.replaced
    kept += part.kept
    refusals += part.refusals.map { Refusal(index: $0.index + offset, fault: $0.fault) }
  }
}
