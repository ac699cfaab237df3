public import Crypto

/// A user as an import brings it, read and not yet checked.
public struct ImportedUser: Sendable {
  /// The uid; it must be there.
  public var localID = ""
  /// The email address.
  public var email: String?
  /// True when the address is known to be the user's.
  public var emailVerified = false
  /// The name for people.
  public var displayName: String?
  /// The address of a picture.
  public var photoURL: String?
  /// The phone number in E.164 form.
  public var phoneNumber: String?
  /// The password.
  public var password: ImportedPassword?
  /// When the password was set; the time of the import when nil.
  public var passwordUpdatedAt: Instant?
  /// True when the account may not sign in.
  public var disabled = false
  /// True when it was made by a custom token.
  public var isCustomAuth = false
  /// Custom claims as JSON text, already checked.
  public var customAttributes: String?
  /// Sessions whose sign-in is older, in seconds since 1970, are over; the time of the import when
  /// nil.
  public var validSince: Int64?
  /// When it was made; the time of the import when nil.
  public var createdAt: Instant?
  /// When it last signed in.
  public var lastLoginAt: Instant?
  /// The tenant that it says it is of, which must be the one of the call; nil when it says nothing.
  public var tenant: ID<Tenant>?
  /// The identities at other providers.
  public var providers: [ProviderLink] = []
  /// The second factors, in their order.
  public var factors: [ImportedFactor] = []

  /// Makes an empty one.
  public init() {}
}

/// A password as an import brings it.
public enum ImportedPassword: Sendable {
  /// Its hash, which is kept until the user signs in.
  case hash(PasswordHash)
  /// The text that Google's emulator exports in place of a hash; for the emulator profile alone.
  case emulatorText(String)
  /// The password itself, which is hashed at once.
  case plain(Secret)
}

/// A second factor as an import brings it.
public struct ImportedFactor: Sendable {
  /// What it is, with what its codes hang on.
  public enum Kind: Sendable {
    /// A phone, by its number in E.164 form.
    case phone(String)
    /// An authenticator app, by its secret; nil where none was given.
    case totp(Secret?)
    /// None of these.
    case unknown
  }

  /// The enrollment id; one is made when nil.
  public var id: String?
  /// The name that the user gave it.
  public var displayName: String?
  /// When it was enrolled; the time of the import when nil.
  public var enrolledAt: Instant?
  /// What it is.
  public var kind: Kind

  /// Makes a factor of a kind.
  public init(_ kind: Kind, id: String? = nil) {
    self.kind = kind
    self.id = id
  }
}

/// A row of an import: a user, or why it is none.
public typealias ImportRow = Result<ImportedUser, ImportFault>

/// How an import goes about what it finds.
public struct ImportOptions: Sendable {
  /// What happens to a row whose uid belongs to an account.
  public enum Existing: Sendable {
    /// The row is refused.
    case refuse
    /// The account stays as it is, and the row counts as there already.
    case keep
    /// The account becomes what the row says.
    case replace
  }

  /// What the audit log is told.
  public enum Record: Sendable {
    /// One row about the call.
    case call
    /// That an import of this name has begun; the rest comes with ``Imports/recordEnd(_:of:name:by:)``.
    case beginning(String)
    /// Nothing, since it is a part of an import that was recorded with its beginning.
    case nothing
  }

  /// What happens to a row whose uid belongs to an account.
  public var existing: Existing
  /// True when addresses and identities that stand twice in the list stop all of it.
  public var sanityCheck = false
  /// What the audit log is told.
  public var record = Record.call

  /// Makes options.
  public init(existing: Existing) { self.existing = existing }
}

/// What an import has done.
public struct ImportOutcome: Sendable {
  /// A row that was refused, by its place in the list.
  public struct Refusal: Sendable {
    /// The row's place, from 0.
    public let index: Int
    /// Why.
    public let fault: ImportFault
  }

  /// How many accounts were made.
  public var made = 0
  /// How many accounts were replaced.
  public var replaced = 0
  /// How many were there already, and stayed.
  public var kept = 0
  /// The rows that were refused, in their order.
  public var refusals: [Refusal] = []

  /// Makes an outcome of nothing.
  public init() {}

  /// Adds what another part has done; `offset` is the place of its first row.
  public mutating func add(_ part: ImportOutcome, offset: Int = 0) {
    made += part.made
    replaced += part.replaced
    kept += part.kept
    refusals += part.refusals.map { Refusal(index: $0.index + offset, fault: $0.fault) }
  }
}
