public import Crypto
import Database

public struct PasswordPolicy: Equatable, Sendable {
  public enum CharacterClass: Int, CaseIterable, Sendable {
    /// Lowercase A to Z.
    case lowercase = 1
    /// Uppercase A to Z.
    case uppercase = 2
    /// Digits 0 to 9.
    case digit = 4
    /// One of ``PasswordPolicy/symbols``.
    case symbol = 8
  }

  /// Whether passwords that violate the policy are rejected.
  public var isEnforced: Bool
  /// Whether a password that violates the policy is rejected at sign-in (force upgrade on sign-in).
  public var forcesUpgrade: Bool
  /// The minimum password length, 6 to 30 characters; nil for 6.
  public var shortest: Int?
  /// The maximum password length, from the minimum up to 4,096 characters; nil for 4,096.
  public var longest: Int?
  public var classes: Set<CharacterClass>
  /// Whether ``CommonPasswords`` are rejected; the API doesn't show it, and changes it only by removing
  /// the whole policy.
  public var refusesCommon: Bool

  public static let symbols = "^$*.[]{}()?\"!@#%&/\\,><':;|_~`-"
  /// The valid range of the minimum length, in characters.
  public static let shortestRange = 6...30

  public init(
    isEnforced: Bool = false, forcesUpgrade: Bool = false, shortest: Int? = nil,
    longest: Int? = nil, classes: Set<CharacterClass> = [], refusesCommon: Bool = false
  ) {
    self.isEnforced = isEnforced
    self.forcesUpgrade = forcesUpgrade
    self.shortest = shortest
    self.longest = longest
    self.classes = classes
    self.refusesCommon = refusesCommon
  }

  /// What pools start with that are made in the console, except in the emulator profile (NIST SP
  /// 800-63B-4, section 3.1.1.2).
  static let initial = PasswordPolicy(isEnforced: true, shortest: 8, refusesCommon: true)

  public var shortestInForce: Int { shortest ?? AccountRules.shortestPassword }
  public var longestInForce: Int { longest ?? AccountRules.longestPassword }

  /// Every password has at least six characters; the rest applies only if the policy is enforced.
  public var requirements: [PasswordRequirement] {
    isEnforced
      ? requirements(longest: longest) : [.atLeast(AccountRules.shortestPassword)]
  }

  /// Returns the requirements that a password doesn't meet; empty if the policy isn't enforced.
  public func missing(in password: Secret) -> [PasswordRequirement] {
    guard isEnforced else { return [] }
    let text = password.revealedText
    return requirements(longest: longestInForce).filter { !$0.isMet(by: text) }
  }

  private func requirements(longest: Int?) -> [PasswordRequirement] {
    [.atLeast(shortestInForce)] + [longest.map(PasswordRequirement.atMost)].compactMap { $0 }
      + CharacterClass.allCases.filter(classes.contains).map(PasswordRequirement.character)
      + (refusesCommon ? [.uncommon] : [])
  }

  func check() throws(PoolError) {
    guard shortest.map(Self.shortestRange.contains) ?? true else {
      throw .shortestPasswordOutOfRange
    }
    guard let longest else { return }
    guard longest >= shortestInForce else { throw .longestPasswordOutOfRange }
    guard longest <= AccountRules.longestPassword else { throw .longestPasswordTooLong }
  }
}

public enum PasswordRequirement: Equatable, Sendable {
  case atLeast(Int)
  case atMost(Int)
  case character(PasswordPolicy.CharacterClass)
  /// Not one of ``CommonPasswords``.
  case uncommon

  fileprivate func isMet(by text: String) -> Bool {
    switch self {
    case .atLeast(let count): text.utf16.count >= count
    case .atMost(let count): text.utf16.count <= count
    case .character(let kind): text.utf8.contains(where: kind.contains)
    case .uncommon: !CommonPasswords.contain(text)
    }
  }
}

extension PasswordPolicy.CharacterClass {
  private static let symbolBytes = Set(PasswordPolicy.symbols.utf8)

  fileprivate func contains(_ byte: UInt8) -> Bool {
    switch self {
    case .lowercase: (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    case .uppercase: (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    case .digit: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    case .symbol: Self.symbolBytes.contains(byte)
    }
  }

  /// The stable identifier in the audit log.
  var code: String {
    switch self {
    case .lowercase: "lowercase"
    case .uppercase: "uppercase"
    case .digit: "digit"
    case .symbol: "symbol"
    }
  }
}

extension PasswordPolicy {
  static let columns: SQL = """
    s.password_changed_at, s.password_enforced, s.password_upgrade, s.password_shortest,
      s.password_longest, s.password_classes, s.password_common_refused
    """

  /// The policy of a row, and when it was set; nil if it was never set.
  static func read(_ row: inout Row) throws -> (policy: PasswordPolicy, setAt: Instant?) {
    let setAt: Instant? = try row.next()
    var policy = PasswordPolicy(
      isEnforced: try row.next(), forcesUpgrade: try row.next(), shortest: try row.next(),
      longest: try row.next())
    let bits: Int = try row.next()
    policy.classes = Set(CharacterClass.allCases.filter { bits & $0.rawValue != 0 })
    policy.refusesCommon = try row.next()
    return (policy, setAt)
  }

  static func find(_ pool: Int64, _ connection: borrowing Connection) throws -> PasswordPolicy {
    try connection.first(
      "SELECT \(columns) FROM scope s WHERE s.scope_key = \(pool)"
    ) { try read(&$0).policy } ?? PasswordPolicy()
  }

  /// Stores a policy; nil resets it to unset.
  static func store(
    _ decided: PasswordPolicy?, in pool: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let policy = decided ?? PasswordPolicy()
    try connection.run(
      """
      UPDATE scope SET password_enforced = \(policy.isEnforced),
        password_upgrade = \(policy.forcesUpgrade), password_shortest = \(policy.shortest),
        password_longest = \(policy.longest),
        password_classes = \(policy.classes.reduce(0) { $0 | $1.rawValue }),
        password_common_refused = \(policy.refusesCommon),
        password_changed_at = \(decided == nil ? nil : now)
      WHERE scope_key = \(pool)
      """)
  }

  /// The fields of a policy, for comparison in the audit log; an explicit length differs from an
  /// unset one, even if both have the same effect.
  ///
  /// `policy` is nil if it was never set. The fields have the order of the audit log.
  static func auditFields(of policy: PasswordPolicy?) -> [AuditField] {
    [
      AuditField(.passwordEnforced, policy.map { .flag($0.isEnforced) } ?? .absent),
      AuditField(.passwordShortest, .optional(policy?.shortest)),
      AuditField(.passwordLongest, .optional(policy?.longest)),
      AuditField(
        .passwordClasses,
        .optional(
          CharacterClass.allCases.filter { policy?.classes.contains($0) ?? false }.map(\.code))),
      AuditField(.passwordUpgrade, policy.map { .flag($0.forcesUpgrade) } ?? .absent),
      AuditField(.passwordCommonRefused, policy.map { .flag($0.refusesCommon) } ?? .absent),
    ]
  }
}
