import Database
import Text

/// A change of how a user signs in, for which an open session isn't enough.
///
/// Linking another method, by a sign-up or a sign-in with an ID token, isn't one, because SDKs rely on
/// it.
enum SignInChange: CaseIterable {
  /// A password is set or removed.
  case password
  /// The email address is changed or removed, or a link to change it is requested.
  case address
  /// The phone number is changed or removed.
  case phone
  case deletion
  /// An identity at a provider is removed.
  case unlinking
  /// A second factor is unenrolled.
  case withdrawal
  case recoveryCodes

  /// Whether the sign-in must be at most ``Enrollments/freshSignIn`` seconds ago, as in production.
  private var needsRecentSignIn: Bool {
    switch self {
    case .password, .address, .deletion, .recoveryCodes: true
    case .phone, .unlinking, .withdrawal: false
    }
  }

  /// Checks in the transaction of changes that the session in which a user makes them is enough.
  ///
  /// `addsFirstMethod` says whether the account had no sign-in method before. The emulator profile
  /// checks nothing.
  ///
  /// - Throws: ``SessionError/secondFactorNeeded``, ``SessionError/signInTooOld``, database errors.
  static func check(
    _ changes: Set<SignInChange>, of account: Account, in session: UserSession,
    addsFirstMethod: Bool = false, at now: Instant, _ connection: borrowing Connection
  ) throws {
    guard !changes.isEmpty else { return }
    var refusal: SessionError?
    if try needsFactor(changes, of: account, in: session, connection) {
      refusal = .secondFactorNeeded
    } else if changes.contains(where: \.needsRecentSignIn), !account.isAnonymous, !addsFirstMethod,
      try !Sessions.isFresh(session, account, at: now, connection)
    {
      refusal = .signInTooOld
    }
    guard let refusal, try Profile.stored(connection) != .emulator else { return }
    throw refusal
  }

  /// Returns whether a session must pass a second factor before the changes, unless the pool's setting
  /// is off; recovery codes need one even then.
  ///
  /// If none of the account's factors is required at sign-in, no session could pass one.
  private static func needsFactor(
    _ changes: Set<SignInChange>, of account: Account, in session: UserSession,
    _ connection: borrowing Connection
  ) throws -> Bool {
    guard !account.factors.isEmpty, session.secondFactor(keptBy: account) == nil else {
      return false
    }
    let configuration = try Policies.stored(session.pool.key, connection).configuration
    guard !SignInForecast.factorsDue(of: account, configuration).isEmpty else { return false }
    guard !changes.contains(.recoveryCodes) else { return true }
    return try connection.first(
      "SELECT withdrawal_needs_factor FROM scope WHERE scope_key = \(session.pool.key)"
    ) { try $0.next() } ?? true
  }
}

extension AccountChange {
  /// Returns which changes of how a user signs in this is, if the user makes it.
  func signInChanges(of account: Account) -> Set<SignInChange> {
    var changes: Set<SignInChange> = []
    // A sign-up with an ID token replaces neither: it links a password to an account without one.
    let isLink = linksPassword && !account.hasPassword && !account.signsInByLink
    switch password {
    case .keep: break
    case .set: if !isLink { changes.insert(.password) }
    case .clear: if account.hasPassword || account.signsInByLink { changes.insert(.password) }
    }
    if changesEmail(of: account), !isLink { changes.insert(.address) }
    switch phoneNumber {
    case .keep: break
    case .set(let number): if number != account.phoneNumber { changes.insert(.phone) }
    case .clear: if account.phoneNumber != nil { changes.insert(.phone) }
    }
    let unlinks = account.providers.contains { link in
      unlinksAll || unlinked.contains { $0.isSameBytes(as: link.provider) }
    }
    if unlinks { changes.insert(.unlinking) }
    return changes
  }

  /// Returns whether the account has no sign-in method before the change, which replaces no address
  /// either.
  func addsFirstMethod(to account: Account) -> Bool {
    !account.hasPassword && !account.signsInByLink && account.phoneNumber == nil
      && account.providers.isEmpty && (account.email == nil || !changesEmail(of: account))
  }
}
