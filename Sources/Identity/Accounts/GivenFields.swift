/// Optional fields of an account that somebody gave a value, even if it's false or empty.
///
/// Google's service shows `disabled: false` for users that an administrator created or imported, and
/// leaves the field out for users that signed up; the same goes for the others.
public struct GivenFields: OptionSet, Sendable {
  /// The bits, as they're stored.
  public let rawValue: Int

  /// Takes stored bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// `disabled` was given, by creating, importing, disabling, or enabling the account.
  public static let disabled = GivenFields(rawValue: 1)
  /// `emailVerified` is known, even where there's no address (any more).
  public static let emailVerified = GivenFields(rawValue: 2)
  /// `emailVerified` was true when the address was removed, or was imported as true without one.
  ///
  /// It vouches for no later address.
  public static let verifiedWithoutEmail = GivenFields(rawValue: 4)
  /// The display name was set to an empty text.
  public static let emptyName = GivenFields(rawValue: 8)
  /// The address of a picture was set to an empty text.
  public static let emptyPhoto = GivenFields(rawValue: 16)
}

extension GivenFields {
  /// What an import gives.
  init(imported user: ImportedUser) {
    self = [.disabled, .emailVerified]
    if user.email == nil, user.emailVerified { insert(.verifiedWithoutEmail) }
  }

  /// What is given after a change of an account.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - old: The account before it.
  ///   - email: The address after it.
  init(after change: AccountChange, of old: Account, email: String?) {
    self = old.givenFields
    if change.disabled != nil { insert(.disabled) }
    if change.emailVerified != nil || email == nil && old.email != nil { insert(.emailVerified) }
    let wasVerified = old.emailVerified || contains(.verifiedWithoutEmail)
    let isVerified = email == nil && (change.emailVerified ?? wasVerified)
    set(.verifiedWithoutEmail, to: isVerified)
    set(.emptyName, to: change.displayName.isEmptyText(emptyBefore: contains(.emptyName)))
    set(.emptyPhoto, to: change.photoURL.isEmptyText(emptyBefore: contains(.emptyPhoto)))
  }

  private mutating func set(_ field: GivenFields, to isGiven: Bool) {
    if isGiven { insert(field) } else { remove(field) }
  }
}

extension Change<String> {
  /// Whether the text is empty, and not absent, after the change.
  fileprivate func isEmptyText(emptyBefore: Bool) -> Bool {
    switch self {
    case .keep: emptyBefore
    case .set(let text): text.isEmpty
    case .clear: false
    }
  }

  /// The same change, with an empty text stored as none; ``GivenFields`` remembers it.
  var withoutEmptyText: Change<String> {
    if case .set(let text) = self, text.isEmpty { return .clear }
    return self
  }
}

extension Account {
  /// Whether answers show `validSince`: not for accounts that never had a password or an address, were
  /// not made by an administrator, and whose sessions were never ended.
  public var showsValidSince: Bool {
    givenFields.contains(.disabled) || email != nil || passwordUpdatedAt != nil
      || validSince > createdAt.seconds
  }
}
