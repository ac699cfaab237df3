public import Crypto

/// A user from an import, parsed but not yet validated.
public struct ImportedUser: Sendable {
  /// The uid; required.
  public var localID = ""
  public var email: String?
  public var emailVerified = false
  public var displayName: String?
  public var photoURL: String?
  /// The phone number in E.164 format.
  public var phoneNumber: String?
  public var password: ImportedPassword?
  /// When the password was set; nil for the time of the import.
  public var passwordUpdatedAt: Instant?
  public var disabled = false
  public var isCustomAuth = false
  public var signsInByLink = false
  /// The custom claims as JSON text, already validated.
  public var customAttributes: String?
  /// Sessions that began earlier than this are invalid, in seconds since 1970; nil for the time of
  /// the import.
  public var validSince: Int64?
  /// When the account was created; nil for the time of the import.
  public var createdAt: Instant?
  public var lastLoginAt: Instant?
  /// The tenant that the row names, which must be the tenant of the call; nil if the row names
  /// none.
  public var tenant: ID<Tenant>?
  public var providers: [ProviderLink] = []
  public var factors: [ImportedFactor] = []

  public init() {}
}

public enum ImportedPassword: Sendable {
  /// A password hash, which is kept until the user signs in.
  case hash(PasswordHash)
  /// The text that Google's emulator exports in place of a hash; only for the emulator profile.
  case emulatorText(String)
  /// The plaintext password, which is hashed immediately.
  case plain(Secret)
}

public struct ImportedFactor: Sendable {
  /// The kind of factor, with what its codes depend on.
  public enum Kind: Sendable {
    /// A phone, by its number in E.164 format.
    case phone(String)
    /// An authenticator app, by its secret; nil if the row has no secret.
    case totp(Secret?)
    case unknown
  }

  /// The enrollment ID; nil to generate one.
  public var id: String?
  public var displayName: String?
  /// When the factor was enrolled; nil for the time of the import.
  public var enrolledAt: Instant?
  public var kind: Kind
  /// The name of the hash function of an app's codes, such as `SHA1`; nil if the row has none.
  public var codeAlgorithm: String?
  public var codeLength: Int?
  /// The length of a time step of an app's codes, in seconds; nil if the row has none.
  public var codePeriod: Int?

  public init(_ kind: Kind, id: String? = nil) {
    self.kind = kind
    self.id = id
  }
}

public typealias ImportRow = Result<ImportedUser, ImportFault>

public struct ImportOptions: Sendable {
  /// How an import handles a row whose uid belongs to an existing account.
  public enum Existing: Sendable {
    case refuse
    /// Keeps the account as it is and reports the row as existing.
    case keep
    case replace
  }

  public enum Record: Sendable {
    /// One entry for the call.
    case call
    /// An entry for the start of an import with this name;
    /// ``Imports/recordEnd(_:of:name:isComplete:by:)`` records its end.
    case beginning(String)
    /// Nothing; the call is part of an import whose start is already recorded.
    case nothing
  }

  public var existing: Existing
  /// Whether duplicate emails and identities in the list reject the whole import.
  public var sanityCheck = false
  public var record = Record.call

  public init(existing: Existing) { self.existing = existing }
}

public struct ImportOutcome: Sendable {
  public struct Refusal: Sendable {
    /// The row's index in the list, starting at 0.
    public let index: Int
    public let fault: ImportFault
  }

  public var created = 0
  public var replaced = 0
  public var kept = 0
  public var refusals: [Refusal] = []

  public init() {}

  /// Adds the outcome of another part, whose first row has the index `offset`.
  public mutating func add(_ part: ImportOutcome, offset: Int = 0) {
    created += part.created
    replaced += part.replaced
    kept += part.kept
    refusals += part.refusals.map { Refusal(index: $0.index + offset, fault: $0.fault) }
  }
}
