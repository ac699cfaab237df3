import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// What each account has a quota for, also when an attacker has the session, password, or mailbox.
struct OwnQuotaTests {
  /// What a use case counts, and how it ends when that's used up.
  struct Use: Sendable {
    /// The audit rows and code attempts.
    var rows = 0
    /// The ending without room for another row; nil if it ends as usual.
    var withoutRows: String?
    /// The changes that the user is alerted of.
    var alerts = 0
    /// The ending without room for another alert; nil if it ends as usual.
    var withoutAlerts: String?

    func counts(_ change: OwnChange) -> Int { change == .row ? rows : alerts }
    func ending(without change: OwnChange) -> String? {
      change == .row ? withoutRows : withoutAlerts
    }
  }

  private static let quotas: [OwnChange] = [.row, .alert]

  /// Every use case of a user that counts, or that would if nothing else limited it.
  private static let uses: [String: Use] = [
    // Rescue, which is bounded in other ways and never refused.
    "change one's own password": Use(), "withdraw a factor": Use(),
    // A code attempt and an audit row.
    "finish an enrollment": Use(
      rows: 2, withoutRows: "quotaExceeded", alerts: 1, withoutAlerts: "quotaExceeded"),
    "enroll a phone": Use(
      rows: 2, withoutRows: "quotaExceeded", alerts: 1, withoutAlerts: "quotaExceeded"),
    "generate recovery codes": Use(
      rows: 1, withoutRows: "tooManyChanges", alerts: 1,
      withoutAlerts: "tooManyChanges"),
    "link an account by its verified email": Use(
      rows: 1, withoutRows: "tooManyChanges", alerts: 1,
      withoutAlerts: "tooManyChanges"),
    // An address in place of none: there's nobody to alert.
    "add an email address to an account": Use(rows: 1, withoutRows: "tooManyChanges"),
    // Its code attempt isn't recorded without room for it, but the link works.
    "enroll through a link": Use(rows: 1, alerts: 1, withoutAlerts: "refused"),
    // Links in emails.
    "reset a password": Use(), "verify an email address": Use(),
    "change an email address with a code": Use(alerts: 1, withoutAlerts: "tooManyMails"),
    "restore an email address": Use(),
    "revert an enrollment": Use(), "report an unrecognized change": Use(),
    "sign in with an email link for the first time": Use(),
    "add sign-in by email link to a verified account": Use(),
    // Right codes.
    "sign in with a code": Use(), "sign in with a phone as the second factor": Use(),
    "sign in with a temporary code": Use(), "sign in with a recovery code": Use(),
    // Once for each account.
    "sign up": Use(), "sign up with a phone number": Use(), "sign up with an email link": Use(),
    "sign up through an identity provider": Use(),
  ]

  /// Every use case that removes a factor, changes a password, or reports a change.
  private static let rescues = [
    "change one's own password", "reset a password", "end sign-in by email link",
    "change an account", "withdraw a factor", "revert an enrollment", "remove a factor",
    "remove all factors", "clear the factors of an account", "set a user's phone factors",
    "approve a removal", "run a bulk removal", "replace a user by import",
    "report an unrecognized change", "delete an account", "delete a user in the console",
  ]

  /// Every use case in which all sessions end by a link in an email, by a report, or by support: the
  /// user's quotas begin anew.
  private static let renewals: Set<String> = [
    "reset a password", "restore an email address", "revert an enrollment",
    "sign in with an email link for the first time",
    "report an unrecognized change",
    "end a user's sessions in the console", "disable a user in the console",
    "re-authenticate with an action", "remove a factor", "remove all factors",
    "restore a removed factor", "approve a removal", "run a bulk removal",
    "finish the undo of a bulk removal",
  ]

  /// Returns the counters of a quota, by account.
  private func counters(_ change: OwnChange, _ instance: Instance) async throws -> [String: Int] {
    let prefix = "own \(change.rawValue) %"
    let rows = try await instance.database.read { connection in
      try connection.all(
        "SELECT /* test */ name, failures FROM throttle WHERE name LIKE \(prefix)"
      ) { (try $0.next() as String, try $0.next() as Int) }
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// Uses up what all accounts have left of a quota.
  private func useUp(_ change: OwnChange, _ instance: Instance) async throws {
    let now = instance.now
    try await instance.database.write { connection in
      let accounts = try connection.all("SELECT /* test */ account_key FROM account") {
        try $0.next() as Int64
      }
      for account in accounts {
        while try change.take(of: account, at: now, connection) == nil {}
      }
    }
  }

  private func attempts(_ instance: Instance) async throws -> Int {
    try await instance.database.read { connection in
      try connection.first("SELECT /* test */ count(*) FROM code_attempt") { try $0.next() } ?? 0
    }
  }

  @Test(arguments: UseCase.all)
  func `C15: a use case counts what it's listed with, and others count nothing`(useCase: UseCase)
    async throws
  {
    try await withInstance { instance in
      let act = try await useCase.prepare(instance)
      var before: [OwnChange: [String: Int]] = [:]
      for quota in Self.quotas { before[quota] = try await counters(quota, instance) }
      await expect(useCase.ending, act)
      let use = Self.uses[useCase.name] ?? Use()
      for quota in Self.quotas {
        let counted = try await counters(quota, instance).map { name, count in
          // Some use cases delete what has expired.
          max(0, count - (before[quota]?[name] ?? 0))
        }
        #expect(counted.reduce(0, +) == use.counts(quota), "\(quota)")
      }
    }
  }

  @Test(arguments: uses.keys.sorted(), quotas)
  func `without room, what counts is refused and records nothing, and others end as usual`(
    name: String, quota: OwnChange
  ) async throws {
    let useCase = try #require(UseCase.all.first { $0.name == name })
    try await withInstance { instance in
      let act = try await useCase.prepare(instance)
      try await useUp(quota, instance)
      let (rows, attempts) = (try await instance.wholeLog().count, try await attempts(instance))
      let refusal = Self.uses[name]?.ending(without: quota)
      await expect(refusal ?? useCase.ending, act)
      let added = try await instance.wholeLog().count - rows
      #expect(added == (refusal == nil ? useCase.auditActions.count : 0))
      if refusal != nil { #expect(try await self.attempts(instance) == attempts) }
    }
  }

  @Test(arguments: rescues)
  func `with all quotas used up, a rescue ends as usual and is recorded`(name: String) async throws
  {
    let useCase = try #require(UseCase.all.first { $0.name == name })
    try await withInstance { instance in
      let act = try await useCase.prepare(instance)
      for quota in OwnChange.allCases { try await useUp(quota, instance) }
      let rows = try await instance.wholeLog().count
      await expect(useCase.ending, act)
      let added = try await instance.wholeLog().count - rows
      #expect(added == useCase.auditActions.count)
    }
  }

  @Test(arguments: UseCase.all)
  func `quotas begin anew where the user takes the account back, and nowhere else`(
    useCase: UseCase
  ) async throws {
    let quotas: [OwnChange] = [.alert, .row, .notice, .mail, .password]
    try await withInstance { instance in
      let act = try await useCase.prepare(instance)
      for quota in quotas { try await useUp(quota, instance) }
      var used: [String] = []
      for quota in quotas { used += try await counters(quota, instance).keys }
      let (now, use) = (instance.now, Self.uses[useCase.name])
      await expect(use?.withoutAlerts ?? use?.withoutRows ?? useCase.ending, act)
      // Some use cases delete what has expired.
      guard instance.now == now || Self.renewals.contains(useCase.name) else { return }
      var left: Set<String> = []
      for quota in quotas { left.formUnion(try await counters(quota, instance).keys) }
      let isRenewed = !used.allSatisfy(left.contains)
      #expect(isRenewed == Self.renewals.contains(useCase.name))
    }
  }

  @Test func `beyond the quota, one entry stands for an hour of new passwords`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      var session = try await instance.session(.alice).session
      for number in 0..<35 {
        var change = AccountChange()
        change.password = .set(Secret("password number \(number)"))
        let update = try await instance.identity.accounts.update(
          instance.acme, alice.id, change, by: Author(actor: .user(alice.id)), in: session)
        session = try #require(update.grant).session
      }
      let rows = try await instance.wholeLog().filter { $0.action == .accountChange }
      #expect(rows.count == 31)
      let end = instance.now.advanced(bySeconds: 3_600)
      #expect(rows.compactMap { $0.new(.unrecordedUntil) } == [.instant(end)])
      #expect(try await instance.mails("notice-password-set").count == 5)
      #expect(try await instance.mails("notice-many-changes").count == 1)
    }
  }

  @Test
  func `without room for a row, wrong codes share one, and right ones sign in`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await useUp(.row, instance)
      let attempts = try await attempts(instance)
      let pending = try await instance.pending(.alice)
      await expect("quotaExceeded") {
        try await instance.finalize(device, pending, code: device.wrongCode(at: instance.now))
      }
      await expect("quotaExceeded") {
        try await instance.finalize(device, pending, code: "not a code")
      }
      #expect(try await self.attempts(instance) == attempts + 1)
      let wrong = try await instance.reload(device.account)
      #expect(wrong.wrongCodes == 2)
      let last = try await instance.identity.codeAttempts.list(wrong).items.first
      #expect(last?.result == .wrong)
      #expect(last?.times == 2)
      _ = try await instance.finalize(device, pending, code: device.code(at: instance.now))
      #expect(try await instance.reload(device.account).wrongCodes == 0)
      #expect(try await self.attempts(instance) == attempts + 2)
    }
  }

  @Test(arguments: [
    (OwnChange.row, 60), (.alert, 5), (.mail, 5), (.notice, 5), (.programNotice, 5),
    (.supportNotice, 20),
  ])
  func `an account has its quota each hour, and a larger one in the emulator profile`(
    quota: OwnChange, perHour: Int
  ) async throws {
    let now = Instant(seconds: 1_800_000_000)
    func room(_ database: any Database) async throws -> Int {
      try await database.write { connection in
        var room = 0
        while try quota.take(of: 5, at: now, connection) == nil { room += 1 }
        return room
      }
    }
    try await withInstance { instance in
      let room = try await room(instance.database)
      #expect(room == perHour)
    }
    try await withEmulator { identity in
      let room = try await room(identity.store.database)
      #expect(room == OwnChange.perHourInEmulator)
    }
  }
}
