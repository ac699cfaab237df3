import HTTP
import Identity
import Templating

/// A user's line in a list.
final class UserRow: ViewModel {
  /// What a line is drawn from, and nothing else.
  struct Source: Hashable {
    let project: ID<Project>
    let tenant: ID<Tenant>?
    let uid: String
    let label: String
    let email: String?
    let displayName: String?
    let hasTOTP: Bool
    let hasPhone: Bool
    let isDisabled: Bool
    let isVerified: Bool
    let lock: CodeLock
    let lastLoginAt: Instant?
    let createdAt: Instant
    let times: Times

    init(_ account: Account, in scope: Scope, at now: Instant, times: Times) {
      project = scope.project
      tenant = scope.tenant
      uid = account.id.text
      label = account.label
      email = account.email
      displayName = account.displayName
      hasTOTP = account.has(.totp)
      hasPhone = account.has(.phone)
      isDisabled = account.disabled
      isVerified = account.emailVerified
      lock = account.codeLock(at: now)
      lastLoginAt = account.lastLoginAt
      createdAt = account.createdAt
      self.times = times
    }

    /// Hashes the uid, by which nearly all users differ already.
    func hash(into hasher: inout Hasher) { hasher.combine(uid) }
  }

  private let user: Source

  init(_ user: Source) { self.user = user }

  private var href: String {
    guard let tenant = user.tenant else {
      return ConsolePaths.user.ofProject(user.project.text, user.uid)
    }
    return ConsolePaths.user.ofTenant(user.project.text, tenant.text, user.uid)
  }

  static let keys: Keys<UserRow> = [
    .text("href") { $0.href },
    .text("name") { $0.user.label },
    .text("alias") {
      $0.user.email == nil ? nil : $0.user.displayName.map { Words.short($0, 60) }
    },
    .text("uid") { $0.user.uid },
    .markup("factor") { AccountChips.listed(totp: $0.user.hasTOTP, phone: $0.user.hasPhone) },
    .markup("state") {
      AccountChips.state(
        isDisabled: $0.user.isDisabled, lock: $0.user.lock, hasEmail: $0.user.email != nil,
        isVerified: $0.user.isVerified)
    },
    .markup("lastSignIn") { $0.user.lastLoginAt.map($0.user.times.past) ?? AccountChips.never },
    .markup("created") { $0.user.times.day($0.user.createdAt) },
  ]
}
