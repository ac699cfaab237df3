public import Crypto
import Database

/// A user of an application.
public struct Account: Sendable {
  /// The uid (`localId` in the API).
  public let id: ID<Account>
  /// The primary key in the database, which never appears in URLs or API responses.
  package let key: Int64
  var poolKey: Int64 { Pool.key(ofAccount: key) }
  /// The email address, in lowercase.
  public let email: String?
  public let emailVerified: Bool
  public let displayName: String?
  public let photoURL: String?
  /// The phone number in E.164 format.
  public let phoneNumber: String?
  public let disabled: Bool
  /// Custom claims as JSON text.
  public let customAttributes: String?
  /// The time of the last session revocation, in seconds since 1970; SDKs compare it with a token's
  /// sign-in time.
  ///
  /// It's never in the future, so it can't tell apart sessions that began and ended within the same
  /// second. The server compares ``generation`` instead.
  public let validSince: Int64
  /// The number of times all sessions were revoked; sessions and tokens of an earlier generation
  /// are invalid.
  let generation: Int64
  public let createdAt: Instant
  /// The time of the last sign-in; with MFA, the time the second factor was accepted.
  public internal(set) var lastLoginAt: Instant?
  public internal(set) var lastRefreshAt: Instant?
  public let passwordUpdatedAt: Instant?
  public let hasPassword: Bool
  /// True if the user has signed in with an email link.
  public let signsInByLink: Bool
  /// The original email address if the user has changed it since; nil if it was never changed.
  public let initialEmail: String?
  /// Whether the original address was verified while it was the account's.
  let initialEmailVerified: Bool
  /// True if the account has no credentials.
  public let isAnonymous: Bool
  /// True if the account was created by a custom token.
  public let isCustomAuth: Bool
  /// The number of consecutive incorrect codes.
  public let wrongCodes: Int
  /// The time until which codes are rejected without being checked; nil or in the past if they're
  /// checked.
  ///
  /// ``codeLock(at:)`` indicates whether the lock expires automatically.
  public let codesBlockedUntil: Instant?
  /// The time of the last code attempt, where the chain of the account's attempts begins.
  let lastCodeAttemptAt: Int64?
  /// The last days on which the account's codes were at least each distance from the current
  /// interval.
  let reach: CodeReach
  /// True if the last codes showed that the device's clock is off; see ``CodeAttemptRecorder``.
  let isClockOff: Bool
  /// True if only owners can perform support actions on the account.
  public let isProtected: Bool
  /// When the remote was asked for what's stored; nil for a hosted account.
  public let askedAt: Instant?
  /// Since when the user is gone at the remote; nil for those who are there, and for hosted accounts.
  public internal(set) var goneAt: Instant?
  /// Nil unless the user reported a change.
  public let lock: AccountLock?
  /// The optional fields that were explicitly set, even to false or an empty string.
  public let givenFields: GivenFields
  /// The second factors, in order of enrollment.
  public internal(set) var factors: [Factor]
  public internal(set) var providers: [ProviderLink] = []
  /// True if the account has linked identities; they're read only then.
  let hasProviders: Bool
  /// The previous email addresses, in the folded form of ``Mailbox``.
  var formerAddresses: [String] = []
  /// True if the account has previous addresses; they're read only then.
  let hasFormerAddresses: Bool

  /// The maximum length of a display name, in UTF-16 code units.
  public static let longestName = 256
  /// The maximum length of a uid, in bytes.
  public static let longestID = 512

  static let columns: SQL = """
    a.uid, a.account_key, a.email, a.email_verified, a.display_name, a.photo_url, a.phone,
      a.disabled, a.custom_attributes, a.valid_since_s, a.created_at, a.last_login_at,
      a.last_refresh_at, a.password_updated_at, a.password_hash IS NOT NULL, a.anonymous,
      a.custom_auth, a.wrong_codes, a.codes_blocked_until, a.has_providers, a.email_link,
      a.initial_email, a.last_code_attempt_at, a.protected, a.changes_locked_at, a.sign_in_lock,
      a.reported_mailbox, a.generation, a.has_former_addresses, a.given_fields, a.reach,
      a.initial_email_verified, a.clock_off, a.asked_at, a.gone_at
    """

  init(_ row: inout Row, factors: [Factor]) throws {
    id = try row.next()
    key = try row.next()
    email = try row.next()
    emailVerified = try row.next()
    displayName = try row.next()
    photoURL = try row.next()
    phoneNumber = try row.next()
    disabled = try row.next()
    customAttributes = try row.next()
    validSince = try row.next()
    createdAt = try row.next()
    lastLoginAt = try row.next()
    lastRefreshAt = try row.next()
    passwordUpdatedAt = try row.next()
    hasPassword = try row.next()
    isAnonymous = try row.next()
    isCustomAuth = try row.next()
    wrongCodes = try row.next()
    codesBlockedUntil = try row.next()
    hasProviders = try row.next()
    signsInByLink = try row.next()
    initialEmail = try row.next()
    lastCodeAttemptAt = try row.next()
    isProtected = try row.next()
    lock = try AccountLock(&row)
    generation = try row.next()
    hasFormerAddresses = try row.next()
    givenFields = try row.next()
    reach = CodeReach(try row.next())
    initialEmailVerified = try row.next()
    isClockOff = try row.next()
    askedAt = try row.next()
    goneAt = try row.next()
    self.factors = factors
  }

  public func has(_ kind: Factor.Kind) -> Bool { factors.contains { $0.kind == kind } }

  func without(_ removed: [Factor]) -> Account {
    let removed = Set(removed.map(\.id))
    var rest = self
    rest.factors.removeAll { removed.contains($0.id) }
    return rest
  }

  /// The current and original email addresses and the providers' addresses, as entered.
  var onFile: [String] { ([email, initialEmail] + providers.map(\.email)).compactMap { $0 } }

  /// True if the address is or was the account's own or a linked provider's.
  ///
  /// Addresses are compared in the folded form of ``Mailbox``, so different spellings of one
  /// mailbox match.
  public func hasOnFile(_ address: String) -> Bool {
    func isSame(_ other: String?) -> Bool { other.map { Mailbox.isSame($0, address) } ?? false }
    if isSame(email) || isSame(initialEmail) || providers.contains(where: { isSame($0.email) }) {
      return true
    }
    // Earlier versions stored them in another folded form.
    return formerAddresses.contains { Mailbox.isSame($0, address) }
  }

  public var visibleName: String? { displayName?.ifVisible }

  /// The name to show: email, otherwise display name, otherwise phone number, otherwise uid.
  public var label: String {
    Self.label(email: email, name: displayName, phone: phoneNumber, id: id.text)
  }

  static let labelColumns: SQL = "a.email, a.display_name, a.phone, a.uid"

  /// Reads `labelColumns`.
  static func labeled(_ row: inout Row) throws -> (id: ID<Account>, label: String) {
    let (email, name, phone): (String?, String?, String?)
    (email, name, phone) = (try row.next(), try row.next(), try row.next())
    let id: ID<Account> = try row.next()
    return (id, label(email: email, name: name, phone: phone, id: id.text))
  }

  static func label(email: String?, name: String?, phone: String?, id: String) -> String {
    email ?? name?.ifVisible ?? phone ?? id
  }
}

extension String {
  var ifVisible: String? { isInvisible ? nil : self }

  /// Whether it has only characters that aren't shown, such as spaces, direction marks, and combining
  /// marks without a letter.
  private var isInvisible: Bool {
    unicodeScalars.allSatisfy { scalar in
      if scalar.isASCII { return scalar.value <= 32 || scalar.value == 127 }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: return true
      // The blank Braille pattern is a symbol.
      default:
        return scalar.properties.isWhitespace || scalar.value == 0x2800
          || SearchText.isInvisible(scalar)
      }
    }
  }
}

/// Fields that are nil are left unset.
public struct NewAccount: Sendable {
  /// The uid; generated if nil.
  public var localID: String?
  public var email: String?
  /// The password, at least six characters.
  public var password: Secret?
  public var displayName: String?
  public var photoURL: String?
  /// The phone number in E.164 format.
  public var phoneNumber: String?
  public var emailVerified = false
  public var disabled = false
  public var providers: [ProviderLink] = []
  /// The phones to enroll as second factors.
  public var phones: [FactorEntry] = []
  var givenFields: GivenFields = []

  public init() {}
}

public enum Change<Value: Sendable>: Sendable {
  case keep
  case set(Value)
  case clear
}

/// Fields keep their values by default.
public struct AccountChange: Sendable {
  /// A new address is unverified unless `emailVerified` or `keepsEmailVerified` is set.
  public var email: Change<String> = .keep
  /// Clearing it disables password sign-in.
  public var password: Change<Secret> = .keep
  public var displayName: Change<String> = .keep
  public var photoURL: Change<String> = .keep
  /// The phone number in E.164 format.
  public var phoneNumber: Change<String> = .keep
  /// Custom claims as JSON text, up to 1,000 characters.
  public var customAttributes: Change<String> = .keep
  public var emailVerified: Bool?
  /// Whether a new address is verified if the previous one was, as in a backend call.
  public var keepsEmailVerified = false
  public var disabled: Bool?
  /// Ends sessions whose sign-in is before this time, in seconds since 1970.
  ///
  /// A time close to now or later means now and ends all sessions. Ended sessions can't be restored
  /// by an earlier value.
  public var validSince: Int64?
  public var createdAt: Instant?
  public var lastLoginAt: Instant?
  public var factors: FactorsChange = .keep
  /// An identity to link, replacing any other identity from the same provider.
  public var link: ProviderLink?
  public var unlinked: [String] = []
  public var unlinksAll = false
  /// Whether this is a sign-up with an ID token, which links a password to the account: users must be
  /// able to sign in with passwords, or the change is refused.
  public var linksPassword = false

  public init() {}
}

/// A change to an account's second factors, made by an administrative API call.
public enum FactorsChange: Sendable {
  case keep
  case clear
  /// Replaces the phones with this list; an authenticator app that it doesn't include is kept unless
  /// the list is complete.
  case replace([FactorEntry], isComplete: Bool = false)

  var isKept: Bool {
    if case .keep = self { true } else { false }
  }
}

/// A second factor in the list of an administrative API call.
public struct FactorEntry: Sendable {
  /// The enrollment ID; nil for a new factor.
  public var id: String?
  /// The name; nil or blank to keep the current one, or for no name.
  public var displayName: String?
  /// The phone number in E.164 format; nil for an authenticator app.
  public var phoneNumber: String?
  /// The enrollment time, now at the latest; nil to keep the current one, or for now.
  public var enrolledAt: Instant?

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

extension Account {
  /// Normalizes a phone number to E.164: removes spaces, hyphens, dots, parentheses, and slashes,
  /// and the trunk prefix in `+49 (0)170 …`, which is dialed only within a country, and converts three
  /// or more letters to keypad digits.
  ///
  /// - Parameter text: A number that begins with a plus sign.
  /// - Returns: The normalized number, or `text` unchanged if it isn't a phone number.
  public static func phoneNumber(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard bytes.first == UInt8(ascii: "+"), bytes.count <= longestWrittenNumber else { return text }
    var number = [UInt8(ascii: "+")]
    var letters = 0
    for byte in withoutTrunkPrefix(bytes).dropFirst() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number.append(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
        letters += 1
        number.append(keypad[Int(byte | 0x20) - 0x61])
      case _ where separators.contains(byte): break
      default: return text
      }
    }
    return letters == 0 || letters >= 3 ? String(decoding: number, as: UTF8.self) : text
  }

  /// Returns a number without a zero in parentheses after the calling code.
  private static func withoutTrunkPrefix(_ bytes: [UInt8]) -> [UInt8] {
    let prefix = Array("(0)".utf8)
    guard let range = bytes.firstRange(of: prefix) else { return bytes }
    let code = bytes[..<range.lowerBound].filter { !separators.contains($0) }.dropFirst()
    guard !code.isEmpty, !codesBeforeZero.contains(String(decoding: code, as: UTF8.self)) else {
      return bytes
    }
    return Array(bytes[..<range.lowerBound] + bytes[range.upperBound...])
  }

  /// The calling codes after which a zero can be part of a number (ITU-T E.164): Italy and its
  /// neighbors, the Ivory Coast, Gabon, and the Congo.
  private static let codesBeforeZero: Set = ["39", "378", "379", "225", "241", "242"]
  private static let longestWrittenNumber = 64
  private static let separators = Array(" -.()/".utf8)
  /// The keypad digits for A to Z (ITU-T E.161).
  private static let keypad = Array("22233344455566677778889999".utf8)
}
