import Crypto
import Database

/// What the passwords of a user pool must be.
public struct PasswordPolicy: Equatable, Sendable {
  /// A kind of character that a password must have.
  public enum CharacterClass: Int, CaseIterable, Sendable {
    /// A to Z in lower case.
    case lowercase = 1
    /// A to Z in capitals.
    case uppercase = 2
    /// 0 to 9.
    case digit = 4
    /// One of ``PasswordPolicy/symbols``.
    case symbol = 8
  }

  /// Whether passwords that break it are refused.
  public var isEnforced: Bool
  /// Whether a password that breaks it no longer signs in.
  public var forcesUpgrade: Bool
  /// The fewest characters, 6 to 30; nil for 6.
  public var shortest: Int?
  /// The most characters, no fewer than the fewest and no more than 4096; nil for 4096.
  public var longest: Int?
  /// Of which kinds there must be a character.
  public var classes: Set<CharacterClass>

  /// The characters that count as ``CharacterClass/symbol``.
  public static let symbols = "^$*.[]{}()?\"!@#%&/\\,><':;|_~`-"
  /// What the fewest characters may be.
  public static let shortestRange = 6...30

  /// Makes a policy; without anything said, one that enforces nothing.
  public init(
    isEnforced: Bool = false, forcesUpgrade: Bool = false, shortest: Int? = nil,
    longest: Int? = nil, classes: Set<CharacterClass> = []
  ) {
    self.isEnforced = isEnforced
    self.forcesUpgrade = forcesUpgrade
    self.shortest = shortest
    self.longest = longest
    self.classes = classes
  }

  /// The fewest characters in force.
  public var shortestInForce: Int { shortest ?? AccountRules.shortestPassword }
  /// The most characters in force.
  public var longestInForce: Int { longest ?? AccountRules.longestPassword }

  /// What a password lacks; nothing when the policy is not enforced.
  public func missing(in password: Secret) -> [PasswordRequirement] {
    guard isEnforced else { return [] }
    let text = password.revealedText
    var missing: [PasswordRequirement] = []
    let length = text.utf16.count
    if length < shortestInForce { missing.append(.atLeast(shortestInForce)) }
    if length > longestInForce { missing.append(.atMost(longestInForce)) }
    for kind in CharacterClass.allCases where classes.contains(kind) {
      if !text.utf8.contains(where: kind.contains) { missing.append(.character(kind)) }
    }
    return missing
  }

  func check() throws(PasswordPolicyError) {
    guard shortest.map(Self.shortestRange.contains) ?? true else { throw .shortestOutOfRange }
    guard let longest else { return }
    guard longest >= shortestInForce else { throw .longestOutOfRange }
    guard longest <= AccountRules.longestPassword else { throw .longestTooLong }
  }
}

/// Something that a password lacks.
public enum PasswordRequirement: Equatable, Sendable {
  /// That many characters or more.
  case atLeast(Int)
  /// That many characters or fewer.
  case atMost(Int)
  /// A character of a kind.
  case character(PasswordPolicy.CharacterClass)
}

/// Why something cannot be a password policy.
public enum PasswordPolicyError: Error, Sendable {
  /// The fewest characters are not 6 to 30.
  case shortestOutOfRange
  /// The most characters are fewer than the fewest.
  case longestOutOfRange
  /// The most characters are more than 4096.
  case longestTooLong
  /// A policy has no version, or several.
  case versionCount
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

  /// The kind in words, for the audit log.
  var words: String {
    switch self {
    case .lowercase: "a lower case letter"
    case .uppercase: "an upper case letter"
    case .digit: "a digit"
    case .symbol: "a symbol"
    }
  }
}

extension PasswordPolicy {
  static let columns: SQL = """
    s.password_changed_at, s.password_enforced, s.password_upgrade, s.password_shortest,
      s.password_longest, s.password_classes
    """
  static let columnCount = 6

  /// The policy of a row and when it was decided; nothing where nobody has.
  static func decided(
    _ row: borrowing Row, from column: Int
  ) throws -> (policy: PasswordPolicy, at: Instant)? {
    guard let at: Int64 = try row.value(column) else { return nil }
    return (try PasswordPolicy(row, from: column), Instant(microseconds: at))
  }

  init(_ row: borrowing Row, from column: Int) throws {
    let bits: Int = try row.value(column + 5)
    self.init(
      isEnforced: try row.value(column + 1), forcesUpgrade: try row.value(column + 2),
      shortest: try row.value(column + 3), longest: try row.value(column + 4),
      classes: Set(CharacterClass.allCases.filter { bits & $0.rawValue != 0 }))
  }

  /// The policy of a pool.
  static func find(_ scope: Int64, _ connection: borrowing Connection) throws -> PasswordPolicy {
    try connection.first(
      "SELECT \(columns) FROM scope s WHERE s.scope_key = \(scope)"
    ) { try PasswordPolicy($0, from: 0) } ?? PasswordPolicy()
  }

  /// Keeps a policy; nil forgets that anybody has decided one.
  static func store(
    _ decided: PasswordPolicy?, in scope: Int64, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let policy = decided ?? PasswordPolicy()
    try connection.run(
      """
      UPDATE scope SET password_enforced = \(policy.isEnforced),
        password_upgrade = \(policy.forcesUpgrade), password_shortest = \(policy.shortest),
        password_longest = \(policy.longest),
        password_classes = \(policy.classes.reduce(0) { $0 | $1.rawValue }),
        password_changed_at = \(decided == nil ? nil : now.microseconds)
      WHERE scope_key = \(scope)
      """)
  }

  /// All that it says, by which two policies are compared: a length that is given is another one than
  /// the length that counts when none is.
  var values: [String?] {
    [
      String(isEnforced), String(forcesUpgrade), shortest.map(String.init),
      longest.map(String.init),
    ]
      + CharacterClass.allCases.filter(classes.contains).map(\.words)
  }

  /// The policy in words, for the audit log.
  var words: String {
    var words = [isEnforced ? "enforced" : "not enforced", "\(shortestInForce) characters or more"]
    if let longest { words.append("\(longest) at most") }
    words += CharacterClass.allCases.filter(classes.contains).map(\.words)
    if forcesUpgrade { words.append("also at sign-in") }
    return words.joined(separator: ", ")
  }
}
