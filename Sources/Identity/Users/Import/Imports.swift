public import Crypto
import Database
import Text

public struct Imports: Sendable {
  let store: Store
  let hasher: PasswordHasher
  let totp: TOTPFactor

  /// The maximum number of rows in one call.
  public static let mostRows = 1_000

  /// Stores a list of users in one transaction.
  ///
  /// A row that can't be stored is rejected individually; the other rows are stored. Replacing an
  /// account ends its sessions. Its second factors are kept if the row has none of the same kind,
  /// so that a list that can't carry TOTP secrets doesn't remove them. If an error is thrown,
  /// nothing was stored, such as in a pool that isn't hosted here.
  public func run(
    _ pool: Pool, _ rows: [ImportRow], _ options: ImportOptions, by author: Author
  ) async throws -> ImportOutcome {
    try pool.check(.hosting)
    guard !rows.isEmpty else { throw ImportError.empty }
    guard rows.count <= Self.mostRows else { throw ImportError.tooMany }
    try Self.check(rows, options)
    let now = store.clock.now()
    var prepared: [PreparedRow] = []
    prepared.reserveCapacity(rows.count)
    for row in rows { prepared.append(try await prepare(row, in: pool, at: now)) }
    let (list, outbox, totp) = (prepared, store.outbox, totp)
    return try await store.write(by: author) { connection in
      var batch = try ImportBatch(
        pool, options, outbox: outbox, totp: totp, by: author, at: now, connection)
      for (index, row) in list.enumerated() { try batch.add(row, at: index, connection) }
      return try batch.finish(connection)
    }
  }

  /// Records the total result of an import that was made in several parts.
  ///
  /// The name is the same as at the start.
  public func recordEnd(
    _ outcome: ImportOutcome, of pool: Pool, name: String, isComplete: Bool, by author: Author
  ) async throws {
    let now = store.clock.now()
    try await store.write(by: author) { connection in
      try outcome.record(
        (name, isComplete ? .complete : .interrupted), in: pool, by: author, at: now, connection)
    }
  }

  /// Checks a list for the duplicates that reject the whole import.
  private static func check(
    _ rows: [ImportRow], _ options: ImportOptions
  ) throws(ImportError) {
    guard options.sanityCheck || options.existing == .refuse else { return }
    var ids: Set<UntrustedText> = []
    var emails: Set<UntrustedText> = []
    var identities: Set<[UntrustedText]> = []
    for case .success(let user) in rows {
      if options.existing == .refuse, !user.localID.isEmpty {
        guard ids.insert(UntrustedText(user.localID)).inserted else {
          throw .duplicateLocalID(user.localID)
        }
      }
      guard options.sanityCheck else { continue }
      if let email = user.email {
        let folded = UntrustedText(AccountRules.folded(email: email))
        guard emails.insert(folded).inserted else {
          throw .duplicateEmail(email)
        }
      }
      for link in user.providers {
        let identity = [UntrustedText(link.provider), UntrustedText(link.rawID)]
        guard identities.insert(identity).inserted else {
          throw .duplicateProvider(provider: link.provider, rawID: link.rawID)
        }
      }
    }
  }
}

extension ImportOutcome {
  /// Writes the audit entry of an import, which contains counts but no names of users.
  ///
  /// `end` has the name of an import that was made in several parts, and how it ended.
  func record(
    _ end: (name: String, part: ImportPart)?, in pool: Pool, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry(
      .accountImport, .pool, pool.objectID, name: pool.name, in: pool)
    entry.add(.usersCreated, .number(created))
    if replaced > 0 { entry.add(.usersReplaced, .number(replaced)) }
    if kept > 0 { entry.add(.usersKept, .number(kept)) }
    if !refusals.isEmpty { entry.add(.usersRefused, .number(refusals.count)) }
    if let end {
      entry.add(.fileName, .text(end.name))
      entry.add(.importPart, .code(end.part.rawValue))
    }
    try entry.record(by: author, at: now, connection)
  }
}

/// Why a row of an import is rejected; other rows aren't affected.
public enum ImportFault: Error, Sendable {
  /// The row can't be parsed; the text describes the problem.
  case unreadable(String)
  case missingLocalID
  /// The uid is longer than ``Account/longestID`` bytes or contains a control character.
  case invalidLocalID
  case localIDExists
  case otherTenant
  case invalidEmail
  case emailExists
  /// The phone number isn't in E.164 format.
  case invalidPhone
  case phoneExists
  case nameTooLong
  case photoTooLong
  /// The password hash or salt isn't valid base64.
  case hashNotBase64
  /// The password hash can't be verified at sign-in.
  case hash(ImportedHashError)
  /// The password hash is in a format that only the emulator profile accepts.
  case emulatorHash
  /// The password is shorter than six characters.
  case weakPassword
  /// The password is longer than 4,096 characters.
  case passwordTooLong
  /// The custom claims aren't a JSON object.
  case invalidClaims
  /// The custom claims are longer than 1,000 characters.
  case claimsTooLarge
  case forbiddenClaim
  /// A provider identity has no provider or no ID.
  case missingRawID
  /// The provider ID is invalid, or the user's profile at the provider is longer than what is
  /// stored.
  case invalidProvider
  /// The provider identity belongs to another account in the pool.
  case providerExists
  /// The row has two identities of one provider; an account has at most one.
  case duplicateProvider
  /// Second factors require an email address.
  case factorNeedsEmail
  /// Second factors require a verified email address.
  case factorNeedsVerifiedEmail
  case duplicateFactorID
  /// An enrollment ID is longer than 128 bytes or contains a control character.
  case invalidFactorID
  case unsupportedFactor
  /// A TOTP factor has no secret.
  case totpNotAllowed
  /// The project doesn't allow the import of TOTP secrets.
  case totpImportOff
  /// A member says that the codes of a TOTP secret have another hash function, length, or period, or
  /// something unknown; its name.
  case unsupportedTOTPParameter(String)
  /// A TOTP secret isn't the base32 encoding of 10 to 64 bytes.
  case invalidTOTPSecret
  case invalidFactorPhone
  case duplicateFactorPhone
  /// The row has more than one authenticator app.
  case tooManyTOTP
  /// The row has more than five phones.
  case tooManyFactors
  /// The user reported a change as unauthorized, so the account is locked until an owner has decided.
  case changesLocked
  /// The pool doesn't allow service tokens to remove second factors.
  case factorRemovalByTokenOff
  /// The service token has changed the second factors of as many users within an hour as the pool
  /// allows.
  case tooManyFactorChanges
  case factorNameTooLong
}

/// Why an import is rejected as a whole.
public enum ImportError: Error, Sendable {
  case empty
  case tooMany
  case duplicateLocalID(String)
  case duplicateEmail(String)
  case duplicateProvider(provider: String, rawID: String)
}

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

  /// A member of a row that says how an app computes its codes.
  public struct CodeParameter: Sendable {
    public enum Value: Sendable {
      /// The name of the hash function, such as `SHA1`.
      case algorithm(String)
      case digits(Int)
      /// The length of a time step, in seconds.
      case period(Int)
      case unknown
    }

    let name: String
    let value: Value

    public init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }

    /// Whether all codes here are like that; others would never match.
    var isOfThisServer: Bool {
      switch value {
      case .algorithm(let name): ["SHA1", "SHA-1"].contains(UntrustedText(name.uppercased()))
      case .digits(let count): count == TOTPFactor.digits
      case .period(let seconds): seconds == TOTPFactor.period
      case .unknown: false
      }
    }
  }

  /// The enrollment ID; nil to generate one.
  public var id: String?
  public var displayName: String?
  /// When the factor was enrolled; nil for the time of the import.
  public var enrolledAt: Instant?
  public var kind: Kind
  /// What the row says about an app's codes.
  public var codeParameters: [CodeParameter] = []

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
}

/// The part of an import that an audit entry is about, with its stable code.
public enum ImportPart: String, CaseIterable, Sendable {
  case begin
  /// The end, after all rows.
  case complete
  /// The end, after the rows before an error in the file.
  case interrupted
}
