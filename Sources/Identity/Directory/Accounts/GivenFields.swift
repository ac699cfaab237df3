public import Database

/// The optional account fields that were explicitly set, even to false or an empty string.
///
/// Google's service returns `disabled: false` for users that an administrator created or imported,
/// and omits the field for users who signed up; the other fields behave the same way.
public struct GivenFields: OptionSet, Sendable, SQLConvertible {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// `disabled` was set by creating, importing, disabling, or enabling the account.
  public static let disabled = GivenFields(rawValue: 1)
  /// `emailVerified` is known, even if the account has no email address (anymore).
  public static let emailVerified = GivenFields(rawValue: 2)
  // 4 was set by former releases.
  public static let emptyName = GivenFields(rawValue: 8)
  public static let emptyPhoto = GivenFields(rawValue: 16)
}

extension GivenFields {
  static let imported: GivenFields = [.disabled, .emailVerified]

  init(after change: AccountChange, of old: Account, email: String?) {
    self = old.givenFields
    if change.disabled != nil { insert(.disabled) }
    if change.emailVerified != nil || email == nil && old.email != nil { insert(.emailVerified) }
    set(.emptyName, to: change.displayName.isEmptyText(emptyBefore: contains(.emptyName)))
    set(.emptyPhoto, to: change.photoURL.isEmptyText(emptyBefore: contains(.emptyPhoto)))
  }

  private mutating func set(_ field: GivenFields, to isGiven: Bool) {
    if isGiven { insert(field) } else { remove(field) }
  }
}

extension Change<String> {
  /// Returns true if the text is empty rather than absent after the change.
  fileprivate func isEmptyText(emptyBefore: Bool) -> Bool {
    switch self {
    case .keep: emptyBefore
    case .set(let text): text.isEmpty
    case .clear: false
    }
  }

  /// The same change with an empty string stored as no value; ``GivenFields`` records the
  /// difference.
  var withoutEmptyText: Change<String> {
    if case .set(let text) = self, text.isEmpty { return .clear }
    return self
  }
}

extension Account {
  /// Whether responses include `validSince`: false for accounts that never had a password, an email
  /// address, or a custom token, weren't created by an administrator, and whose sessions were never
  /// revoked.
  public var showsValidSince: Bool {
    givenFields.contains(.disabled) || email != nil || passwordUpdatedAt != nil || isCustomAuth
      || validSince > createdAt.seconds
  }
}
