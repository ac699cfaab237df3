import Crypto
import OTP
import Text

/// An import row after all processing that doesn't require the database.
enum PreparedRow: Sendable {
  case refused(ImportFault)
  case user(PreparedUser)
}

struct PreparedUser: Sendable {
  let user: ImportedUser
  let email: String?
  let hash: String?
  let factors: [NewFactor]
  let text: SearchText
  let beginnings: Set<UntrustedText>

  init(_ user: ImportedUser, email: String?, hash: String? = nil, factors: [NewFactor]) {
    (self.user, self.email, self.hash, self.factors) = (user, email, hash, factors)
    text = SearchText(
      fields: [email, user.displayName, user.phoneNumber, user.localID],
      providers: user.providers, factors: factors.map { ($0.id.text, $0.phoneNumber) })
    beginnings = text.beginnings
  }

  var hasTOTP: Bool { factors.contains { $0.kind == .totp } }
  var hasPhone: Bool { factors.contains { $0.kind == .phone } }
  /// Whether the address is verified; never without one.
  var emailVerified: Bool { user.emailVerified && email != nil }

  func passwordUpdatedAt(by now: Instant) -> Instant? {
    hash == nil ? nil : Self.past(user.passwordUpdatedAt, now) ?? now
  }

  func createdAt(by now: Instant) -> Instant { Self.past(user.createdAt, now) ?? now }

  func lastLoginAt(by now: Instant) -> Instant? { Self.past(user.lastLoginAt, now) }

  /// A time in a row, or the current time if that's earlier: enforcement begins with `createdAt`, and
  /// links to reset a password from before its last change are refused.
  private static func past(_ time: Instant?, _ now: Instant) -> Instant? {
    time.map { min($0, now) }
  }
}

extension Imports {
  /// The valid lengths of a TOTP secret, in bytes.
  private static let secretLengths = 10...64

  func prepare(
    _ row: ImportRow, in pool: Pool, at now: Instant
  ) async throws -> PreparedRow {
    let user: ImportedUser
    switch row {
    case .failure(let fault): return .refused(fault)
    case .success(let read): user = read
    }
    do throws(ImportFault) { try Self.check(user, in: pool) } catch { return .refused(error) }
    let hash: PasswordHash?
    switch user.password {
    case nil: hash = nil
    case .hash(let given): hash = given
    case .emulatorText(let text):
      guard store.profile == .emulator else { return .refused(.emulatorHash) }
      guard let stored = PasswordHash(emulatorText: text, random: store.random) else {
        return .refused(.hash(.malformed))
      }
      hash = stored
    case .plain(let password):
      do { try AccountRules.checkPassword(password) } catch {
        if case .passwordTooLong = error { return .refused(.passwordTooLong) }
        return .refused(.weakPassword)
      }
      hash = try await hasher.hash(password, for: pool.hashing)
    }
    let factors: [NewFactor]
    do {
      factors = try prepareFactors(of: user, in: pool, at: now)
    } catch let fault as ImportFault {
      return .refused(fault)
    }
    let email = user.email.map { AccountRules.folded(email: $0) }
    return .user(PreparedUser(user, email: email, hash: hash?.encoded, factors: factors))
  }

  private static func check(_ user: ImportedUser, in pool: Pool) throws(ImportFault) {
    guard !user.localID.isEmpty else { throw .missingLocalID }
    do { try AccountRules.checkUID(user.localID) } catch { throw .invalidLocalID }
    if let tenant = user.tenant, tenant != pool.tenant { throw .otherTenant }
    var providers: Set<UntrustedText> = []
    for link in user.providers {
      do throws(AccountError) { try link.check() } catch {
        if case .invalidRawID = error { throw .missingRawID }
        throw .invalidProvider
      }
      guard providers.insert(UntrustedText(link.provider)).inserted else {
        throw .duplicateProvider
      }
    }
    if let phone = user.phoneNumber {
      do { try AccountRules.checkPhone(phone) } catch { throw .invalidPhone }
    }
    if let email = user.email {
      do { try AccountRules.checkEmail(email) } catch { throw .invalidEmail }
    }
    if let name = user.displayName {
      do { try AccountRules.checkName(name) } catch { throw .nameTooLong }
    }
    if let photo = user.photoURL {
      do { try AccountRules.checkPhoto(photo) } catch { throw .photoTooLong }
    }
    guard !user.factors.isEmpty else { return }
    guard user.email != nil else { throw .factorNeedsEmail }
    guard user.emailVerified else { throw .factorNeedsVerifiedEmail }
    try check(user.factors)
  }

  private static func check(_ factors: [ImportedFactor]) throws(ImportFault) {
    var ids: Set<UntrustedText> = []
    var phones: Set<UntrustedText> = []
    var apps = 0
    for factor in factors {
      if let id = factor.id {
        guard ids.insert(UntrustedText(id)).inserted else { throw .duplicateFactorID }
        do { try AccountRules.checkUID(id, longest: Factor.longestID) } catch {
          throw .invalidFactorID
        }
      }
      guard !Factor.isTooLong(factor.displayName ?? "") else { throw .factorNameTooLong }
      switch factor.kind {
      case .phone(let number):
        do { try AccountRules.checkPhone(number) } catch { throw .invalidFactorPhone }
        guard phones.insert(UntrustedText(number)).inserted else { throw .duplicateFactorPhone }
      case .totp(nil): throw .totpNotAllowed
      case .totp(let secret?):
        guard secretLengths.contains(secret.count) else { throw .invalidTOTPSecret }
        if let other = factor.codeParameters.first(where: { !$0.isOfThisServer }) {
          throw .unsupportedTOTPParameter(other.name)
        }
        apps += 1
      case .unknown: throw .unsupportedFactor
      }
    }
    guard apps <= 1 else { throw .tooManyTOTP }
    guard phones.count <= Enrollments.mostPhones else { throw .tooManyFactors }
  }

  private func prepareFactors(
    of user: ImportedUser, in pool: Pool, at now: Instant
  ) throws -> [NewFactor] {
    guard !user.factors.isEmpty else { return [] }
    var result: [NewFactor] = []
    for factor in user.factors {
      let id = ID<Factor>(factor.id ?? store.random.uuid())
      let at = Factor.enrollmentTime(factor.enrolledAt, at: now)
      let name = Factor.storedName(factor.displayName)
      switch factor.kind {
      case .phone(let number):
        result.append(
          NewFactor(
            id: id, kind: .phone, displayName: name, enrolledAt: at, phoneNumber: number))
      case .totp(let secret?):
        let sealed = try totp.sealed(secret, for: id, of: ID(user.localID), in: pool)
        result.append(
          NewFactor(
            id: id, kind: .totp, displayName: name, enrolledAt: at, sealedSecret: sealed))
      case .totp(nil), .unknown: throw ImportFault.unsupportedFactor
      }
    }
    return result
  }
}
