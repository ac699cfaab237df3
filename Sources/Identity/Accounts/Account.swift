public import Crypto
import Database
import Text

/// A person who signs in to an application.
public struct Account: Sendable {
  /// The uid, `localId` on the wire.
  public let id: ID<Account>
  /// The database's key; it stands in no address and no answer.
  let key: Int64
  /// The email address, in lower case.
  public let email: String?
  /// True when the address is known to be the user's.
  public let emailVerified: Bool
  /// The name for people.
  public let displayName: String?
  /// The address of a picture.
  public let photoURL: String?
  /// The phone number in E.164 form.
  public let phoneNumber: String?
  /// True when an account may not sign in.
  public let disabled: Bool
  /// Custom claims as JSON text.
  public let customAttributes: String?
  /// When its sessions were last ended, in seconds since 1970, as SDKs compare it with a token's
  /// time of sign-in.
  ///
  /// It is never later than now, so within its second it can't tell an old session from a new one:
  /// this server goes by ``generation``.
  public let validSince: Int64
  /// How often its sessions were ended; what was issued before the last time doesn't count.
  let generation: Int64
  /// When it was made.
  public let createdAt: Instant
  /// When it last signed in; with a second factor, when that had passed.
  public internal(set) var lastLoginAt: Instant?
  /// When tokens were last refreshed.
  public internal(set) var lastRefreshAt: Instant?
  /// When the password was set.
  public let passwordUpdatedAt: Instant?
  /// True when there is a password.
  public let hasPassword: Bool
  /// True when the user has signed in by a link in a mail.
  public let signsInByLink: Bool
  /// The first address of an account whose user changed it since; nil when it was not changed.
  public let initialEmail: String?
  /// True for an account without any credential.
  public let isAnonymous: Bool
  /// True when it was made by a custom token.
  public let isCustomAuth: Bool
  /// The wrong codes in a row.
  public let wrongCodes: Int
  /// Until when codes are not even looked at; nil or past when they are.
  ///
  /// ``codeLock(at:)`` says whether that ends by itself.
  public let codesBlockedUntil: Instant?
  /// Where the chain of its verdicts begins: when the last one was.
  let lastCodeAttemptAt: Int64?
  /// True when only owners act on it.
  public let isProtected: Bool
  /// Since when nobody changes its second factors, because the user said that a change was none of
  /// theirs; nil when they are changed as usual.
  public let changesLockedAt: Instant?
  /// Which optional fields were given a value, even if it's false or empty.
  public let givenFields: GivenFields
  /// The second factors, in the order of their enrollment.
  public internal(set) var factors: [Factor]
  /// The identities at other providers, by provider.
  public internal(set) var providers: [ProviderLink] = []
  /// True when there are such identities, so that they are asked for only then.
  let hasProviders: Bool
  /// The addresses that it had before, in the form of ``Mailbox``.
  var formerAddresses: [String] = []
  /// True when there are such addresses, so that they are read only then.
  let hasFormerAddresses: Bool

  /// The longest name, in UTF-16 units.
  public static let longestName = 256
  /// The longest uid, in bytes.
  public static let longestID = 512

  static let columns: SQL = """
    a.uid, a.account_key, a.email, a.email_verified, a.display_name, a.photo_url, a.phone,
      a.disabled, a.custom_attributes, a.valid_since_s, a.created_at, a.last_login_at,
      a.last_refresh_at, a.password_updated_at, a.password_hash IS NOT NULL, a.anonymous,
      a.custom_auth, a.wrong_codes, a.codes_blocked_until, a.has_providers, a.email_link,
      a.initial_email, a.last_code_attempt_at, a.protected, a.changes_locked_at, a.generation,
      a.has_former_addresses, a.given_fields
    """

  /// How many columns these are.
  static let columnCount = 28

  init(_ row: borrowing Row, factors: [Factor]) throws {
    func instant(_ column: Int) throws -> Instant? {
      (try row.value(column) as Int64?).map(Instant.init(microseconds:))
    }
    id = ID(try row.value(0))
    key = try row.value(1)
    email = try row.value(2)
    emailVerified = try row.value(3)
    displayName = try row.value(4)
    photoURL = try row.value(5)
    phoneNumber = try row.value(6)
    disabled = try row.value(7)
    customAttributes = try row.value(8)
    validSince = try row.value(9)
    createdAt = Instant(microseconds: try row.value(10))
    lastLoginAt = try instant(11)
    lastRefreshAt = try instant(12)
    passwordUpdatedAt = try instant(13)
    hasPassword = try row.value(14)
    isAnonymous = try row.value(15)
    isCustomAuth = try row.value(16)
    wrongCodes = try row.value(17)
    codesBlockedUntil = try instant(18)
    hasProviders = try row.value(19)
    signsInByLink = try row.value(20)
    initialEmail = try row.value(21)
    lastCodeAttemptAt = try row.value(22)
    isProtected = try row.value(23)
    changesLockedAt = try instant(24)
    generation = try row.value(25)
    hasFormerAddresses = try row.value(26)
    givenFields = GivenFields(rawValue: try row.value(27))
    self.factors = factors
  }

  /// True when it has a second factor of a kind.
  public func has(_ kind: Factor.Kind) -> Bool { factors.contains { $0.kind == kind } }

  /// The account's own address, its first one and what providers know, as they were given.
  var onFile: [String] { ([email, initialEmail] + providers.map(\.email)).compactMap { $0 } }

  /// True when an address is the account's own, ever was, or is or was what a provider knows.
  ///
  /// Spellings of one mailbox are the same.
  public func hasOnFile(_ address: String) -> Bool {
    let folded = Mailbox.folded(address)
    return (onFile.map(Mailbox.folded) + formerAddresses).contains { $0.isSameBytes(as: folded) }
  }

  /// The name that people know it by: email, else name, else phone, else uid.
  public var label: String { email ?? displayName ?? phoneNumber ?? id.text }
}

/// What an account is made with.
///
/// What is nil is left out.
public struct NewAccount: Sendable {
  /// The uid; one is made when nil.
  public var localID: String?
  /// The email address.
  public var email: String?
  /// The password, at least six characters.
  public var password: Secret?
  /// The name for people.
  public var displayName: String?
  /// The address of a picture.
  public var photoURL: String?
  /// The phone number in E.164 form.
  public var phoneNumber: String?
  /// True when the address is known to be the user's.
  public var emailVerified = false
  /// True when the account may not sign in.
  public var disabled = false
  /// The identities at other providers.
  public var providers: [ProviderLink] = []
  /// The phones that are its second factors.
  public var phones: [FactorEntry] = []
  /// Which optional fields were given.
  var givenFields: GivenFields = []

  /// Makes an empty one.
  public init() {}
}

/// What happens to a field.
public enum Change<Value: Sendable>: Sendable {
  /// It stays.
  case keep
  /// It becomes this.
  case set(Value)
  /// It becomes empty.
  case clear
}

/// A change of an account.
///
/// Everything stays unless said otherwise.
public struct AccountChange: Sendable {
  /// The email address.
  ///
  /// A new one is not verified unless `emailVerified` or `keepsEmailVerified` says so.
  public var email: Change<String> = .keep
  /// The password; clearing it ends password sign-in.
  public var password: Change<Secret> = .keep
  /// The name for people.
  public var displayName: Change<String> = .keep
  /// The address of a picture.
  public var photoURL: Change<String> = .keep
  /// The phone number in E.164 form.
  public var phoneNumber: Change<String> = .keep
  /// Custom claims as JSON text, at most 1000 characters.
  public var customAttributes: Change<String> = .keep
  /// Whether the address is known to be the user's.
  public var emailVerified: Bool?
  /// Whether a new address counts as verified if the one before did, as in a call by a back end.
  public var keepsEmailVerified = false
  /// Whether the account may not sign in.
  public var disabled: Bool?
  /// Sessions whose sign-in is older, in seconds since 1970, are ended.
  ///
  /// A time near now or later means now, and ends all of them. What was ended stays ended.
  public var validSince: Int64?
  /// When it was made.
  public var createdAt: Instant?
  /// When it last signed in.
  public var lastLoginAt: Instant?
  /// The second factors.
  public var factors: FactorsChange = .keep
  /// An identity at another provider that is linked, in place of another one of that provider.
  public var link: ProviderLink?
  /// The providers whose identities are taken away.
  public var unlinked: [String] = []
  /// Whether the identities at all providers are taken away.
  public var unlinksAll = false

  /// Makes a change of nothing.
  public init() {}
}

/// A change of an account's second factors by an administrator's call.
public enum FactorsChange: Sendable {
  /// They stay.
  case keep
  /// All go.
  case clear
  /// The phones become these, and an authenticator app stays, whether it is named or not.
  case replace([FactorEntry])
}

/// A second factor in a list that an administrator's call gives.
public struct FactorEntry: Sendable {
  /// The enrollment id; nil for a new factor.
  public var id: String?
  /// The name; nil for one that stays, or for none.
  public var displayName: String?
  /// The number of a phone, in E.164 form; nil for an authenticator app.
  public var phoneNumber: String?
  /// When it was enrolled; nil for now, or as it was.
  public var enrolledAt: Instant?

  /// Makes an entry.
  public init(
    id: String? = nil, displayName: String? = nil, phoneNumber: String? = nil,
    enrolledAt: Instant? = nil
  ) {
    self.id = id
    self.displayName = displayName
    self.phoneNumber = phoneNumber
    self.enrolledAt = enrolledAt
  }
}
