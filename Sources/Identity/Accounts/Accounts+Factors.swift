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

  /// Changes an account's second factors.
  ///
  /// - Returns: The removed factors, including those whose phone number changed.
  static func changeFactors(
    _ change: FactorsChange, of account: Account, in scope: Scope, at now: Instant,
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
      try FactorRecord.delete(account.factors, of: account, in: scope, connection)
      return account.factors
    case .replace(let entries):
      let phones = account.factors.filter { $0.kind == .phone }
      var (listed, kept) = ([FactorEntry](), Set<String>())
      for entry in entries {
        let known = account.factors.first { factor in
          entry.id.map { factor.id.text.isSameBytes(as: $0) } ?? false
        }
        if known?.kind == .totp {
          guard entry.phoneNumber == nil else { throw AccountError.duplicateEnrollment }
          try rename(entry, of: account, connection)
          continue
        }
        var entry = entry
        if entry.phoneNumber == nil { entry.phoneNumber = known?.phoneNumber }
        guard entry.phoneNumber != nil else { throw AccountError.unsupportedSecondFactor }
        if let known, known.phoneNumber == entry.phoneNumber {
          kept.insert(known.id.text)
          try rename(entry, of: account, connection)
        } else {
          listed.append(entry)
        }
      }
      guard kept.count + listed.count <= Enrollments.mostPhones else {
        throw AccountError.tooManyFactors
      }
      let gone = phones.filter { !kept.contains($0.id.text) }
      if !gone.isEmpty { try FactorRecord.delete(gone, of: account, in: scope, connection) }
      let numbers = phones.filter { kept.contains($0.id.text) }.compactMap(\.phoneNumber)
      guard !listed.contains(where: { numbers.contains($0.phoneNumber ?? "") }) else {
        throw AccountError.phoneFactorExists
      }
      try insert(listed, for: account, in: scope, at: now, random: random, connection)
      return gone
    }
  }

  /// Adds phones to an account as second factors.
  static func insert(
    _ phones: [FactorEntry], for account: Account, in scope: Scope, at now: Instant,
    random: RandomSource, _ connection: borrowing Connection
  ) throws {
    // API calls specify times in milliseconds.
    let moment = Instant(milliseconds: now.milliseconds)
    for phone in phones {
      guard let number = phone.phoneNumber else { throw AccountError.unsupportedSecondFactor }
      let name = phone.displayName ?? ""
      try PhoneFactor.insert(
        ID(phone.id ?? random.uuid()), displayName: name.isEmpty ? nil : name, phoneNumber: number,
        enrolledAt: phone.enrolledAt ?? moment, for: account, in: scope, connection)
    }
  }

  /// Updates the name and enrollment time of a kept factor, if the entry has them.
  private static func rename(
    _ entry: FactorEntry, of account: Account, _ connection: borrowing Connection
  ) throws {
    if let name = entry.displayName, !name.isEmpty {
      try connection.run(
        """
        UPDATE factor SET display_name = \(name)
        WHERE account_key = \(account.key) AND enrollment_id = \(entry.id)
        """)
    }
    if let enrolledAt = entry.enrolledAt {
      try connection.run(
        """
        UPDATE factor SET enrolled_at = \(enrolledAt.microseconds)
        WHERE account_key = \(account.key) AND enrollment_id = \(entry.id) AND kind = 'phone'
        """)
    }
  }
}
