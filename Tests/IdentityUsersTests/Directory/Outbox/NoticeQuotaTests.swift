import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// How many emails changes of one account send within an hour, by any author.
struct NoticeQuotaTests {
  private static let quotas: [OwnChange] = [.notice, .programNotice, .supportNotice]

  /// Notices of changes that are refused beyond a quota or happen once: they're sent whatever else was.
  private static let others: Set<UserNotice.Kind> = [
    .factorEnrolled, .factorEnrolledByLink, .factorReverted, .recoveryCodesMade,
    .recoveryCodeUsed, .providerLinked, .accountDeleted, .ownAccountDeleted,
  ]

  /// Uses up the quotas of all accounts, and sends what stands for the rest of the hour.
  private func useUp(_ instance: Instance, withLast: Bool) async throws {
    let now = instance.now
    try await instance.database.write { connection in
      let accounts = try connection.all("SELECT /* test */ account_key FROM account") {
        try $0.next() as Int64
      }
      for account in accounts {
        for quota in Self.quotas {
          while try quota.take(of: account, at: now, connection) == nil {}
          if withLast { _ = try quota.room(of: account, at: now, connection) }
        }
      }
    }
  }

  /// Returns the notices that are counted, by recipient and purpose.
  private func notices(_ instance: Instance) async throws -> [String: Int] {
    let mails = try await instance.mails().filter { mail in
      UserNotice.Kind(rawValue: mail.purpose).map { !Self.others.contains($0) } ?? false
    }
    return Dictionary(mails.map { ("\($0.recipient) \($0.purpose)", 1) }, uniquingKeysWith: +)
  }

  @Test(arguments: UseCase.all, [false, true])
  func `beyond the quota, whatever is called sends one summary to each address, then nothing`(
    useCase: UseCase, withLast: Bool
  ) async throws {
    try await withInstance { instance in
      let act = try await useCase.prepare(instance)
      try await useUp(instance, withLast: withLast)
      let now = instance.now
      let before = try await notices(instance)
      await expect(useCase.ending, act)
      guard instance.now == now else { return }
      for (mail, count) in try await notices(instance) where count > before[mail] ?? 0 {
        #expect(!withLast && mail.hasSuffix(" notice-many-changes") && count == 1, "\(mail)")
      }
    }
  }

  @Test(arguments: [(true, 5), (false, 20)])
  func `new passwords by a program or an administrator send so many emails, and then a summary`(
    isProgram: Bool, most: Int
  ) async throws {
    try await withInstance { instance in
      let purpose = "notice-password-changed"
      let author = try await isProgram ? instance.program() : Instance.boss
      let alice = try await instance.account(.alice)
      func change(times: Int) async throws {
        for number in 0..<times {
          var change = AccountChange()
          change.password = .set(Secret("password number \(number)"))
          try await instance.identity.accounts.update(
            instance.acme, alice.id, change, by: author)
        }
      }
      try await change(times: most + 3)
      #expect(try await instance.mails(purpose).count == most)
      let summaries = try await instance.mails("notice-many-changes")
      #expect(summaries.count == 1)
      #expect(summaries.first?.body.contains("/not-me?code=") == true)
      #expect(summaries.first?.body.contains("was changed again") == true)
      instance.clock.advance(3_600)
      try await change(times: 1)
      #expect(try await instance.mails(purpose).count == most + 1)
    }
  }

  @Test func `neither a user's changes nor a program's use up the notices of the others`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for quota in [OwnChange.notice, .programNotice] {
        try await useUp(quota, of: alice, instance)
      }
      var change = AccountChange()
      change.password = .set(Secret("another password"))
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      #expect(try await instance.mails("notice-password-changed").count == 1)
    }
  }

  private func useUp(_ quota: OwnChange, of account: Account, _ instance: Instance) async throws {
    let now = instance.now
    try await instance.database.write { connection in
      while try quota.take(of: account.key, at: now, connection) == nil {}
    }
  }
}
