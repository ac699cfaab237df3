import Crypto
import Database
import Text

extension Accounts {
  /// The maximum number of entries: all phones an account can have, plus its authenticator app.
  public static let mostEntries = Enrollments.mostPhones + 1

  /// Validates the parts of second factors that don't depend on the account.
  static func check(_ entries: [FactorEntry]) throws(AccountError) {
    let phones = entries.count { $0.phoneNumber != nil }
    guard phones <= Enrollments.mostPhones, entries.count <= mostEntries else {
      throw .tooManyFactors
    }
    var (ids, numbers) = (Set<UntrustedText>(), Set<UntrustedText>())
    for entry in entries {
      if let id = entry.id {
        guard ids.insert(UntrustedText(id)).inserted else { throw .duplicateEnrollment }
        do { try AccountRules.checkUID(id, longest: Factor.longestID) } catch {
          throw .invalidEnrollment
        }
      }
      if let number = entry.phoneNumber {
        try AccountRules.checkPhone(number)
        guard numbers.insert(UntrustedText(number)).inserted else { throw .phoneFactorExists }
      }
      guard !Factor.isTooLong(entry.displayName ?? "") else { throw .factorNameTooLong }
    }
  }

  /// - Returns: The removed factors, including those whose phone number changed.
  static func changeFactors(
    _ change: FactorsChange, of account: Account, in pool: Pool, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws -> [Factor] {
    if case .keep = change { return [] }
    guard account.changesLockedAt == nil else {
      throw AccountError.changesLocked
    }
    switch change {
    case .keep: return []
    case .clear:
      guard !account.factors.isEmpty else { return [] }
      try FactorRecord.delete(account.factors, of: account, in: pool, connection)
      return account.factors
    case .replace(let entries, let isComplete):
      var (listed, kept) = ([FactorEntry](), Set<String>())
      for entry in entries {
        let known = account.factors.first { factor in
          entry.id.map { factor.id.text.isSameBytes(as: $0) } ?? false
        }
        if let known, known.kind == .totp {
          guard entry.phoneNumber == nil else { throw AccountError.duplicateEnrollment }
          kept.insert(known.id.text)
          try update(known, to: entry, of: account, at: now, connection)
          continue
        }
        var entry = entry
        if entry.phoneNumber == nil { entry.phoneNumber = known?.phoneNumber }
        guard entry.phoneNumber != nil else { throw AccountError.unsupportedSecondFactor }
        if let known, known.phoneNumber == entry.phoneNumber {
          kept.insert(known.id.text)
          try update(known, to: entry, of: account, at: now, connection)
        } else {
          listed.append(entry)
        }
      }
      let numbers = account.factors.filter { kept.contains($0.id.text) }.compactMap(\.phoneNumber)
      guard numbers.count + listed.count <= Enrollments.mostPhones else {
        throw AccountError.tooManyFactors
      }
      let gone = account.factors.filter { factor in
        !kept.contains(factor.id.text) && (isComplete || factor.kind == .phone)
      }
      if !gone.isEmpty { try FactorRecord.delete(gone, of: account, in: pool, connection) }
      guard !listed.contains(where: { numbers.contains($0.phoneNumber ?? "") }) else {
        throw AccountError.phoneFactorExists
      }
      try insert(listed, for: account, in: pool, at: now, random: random, connection)
      return gone
    }
  }

  /// Adds phones to an account as second factors, which requires a verified email address.
  static func insert(
    _ phones: [FactorEntry], for account: Account, in pool: Pool, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws {
    guard !phones.isEmpty else { return }
    let isVerified = try connection.first(
      """
      SELECT 1 FROM account
      WHERE account_key = \(account.key) AND email IS NOT NULL AND email_verified = 1
      """
    ) { _ in true }
    guard isVerified == true else { throw AccountError.unverifiedEmail }
    for phone in phones {
      guard let number = phone.phoneNumber else { throw AccountError.unsupportedSecondFactor }
      try PhoneFactor.insert(
        ID(phone.id ?? random.uuid()), displayName: phone.name, phoneNumber: number,
        enrolledAt: Factor.enrollmentTime(phone.enrolledAt, at: now), for: account, in: pool,
        connection)
    }
  }

  private static func update(
    _ known: Factor, to entry: FactorEntry, of account: Account, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    // A name that a lookup returned may be one that this method wouldn't store.
    if let name = entry.name,
      entry.displayName?.isSameBytes(as: known.displayName ?? "") != true
    {
      try connection.run(
        """
        UPDATE factor SET display_name = \(name)
        WHERE account_key = \(account.key) AND enrollment_id = \(known.id)
        """)
    }
    let enrolledAt = known.enrollmentTime(changedTo: entry.enrolledAt, at: now)
    if known.kind == .phone, enrolledAt != known.enrolledAt {
      try connection.run(
        """
        UPDATE factor SET enrolled_at = \(enrolledAt)
        WHERE account_key = \(account.key) AND enrollment_id = \(known.id)
        """)
    }
  }
}

extension FactorEntry {
  fileprivate var name: String? { Factor.storedName(displayName) }
}

extension Factor {
  /// Returns the enrollment time of a new factor, of which a caller may have specified an earlier
  /// one.
  ///
  /// A time in the future would make the factor the newest, whatever the user enrolls afterward. It's
  /// in milliseconds, like the times in API calls.
  static func enrollmentTime(_ given: Instant?, at now: Instant) -> Instant {
    let latest = Instant(milliseconds: now.milliseconds)
    return given.map { min($0, latest) } ?? latest
  }

  /// Returns the enrollment time after a change.
  ///
  /// A caller who writes back what a lookup returned keeps the stored time, also without its
  /// fraction of a second, as the Node SDK does.
  fileprivate func enrollmentTime(changedTo given: Instant?, at now: Instant) -> Instant {
    guard let given, given != enrolledAt, given != Instant(seconds: enrolledAt.seconds),
      given != Instant(milliseconds: enrolledAt.milliseconds)
    else { return enrolledAt }
    return Factor.enrollmentTime(given, at: now)
  }
}
