import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// What ends codes before they expire.
struct CodeEndTests {
  /// What ends the codes of each kind; `CodeEnd` and the kinds are enumerated.
  private static let table: [OutOfBandCode.Kind: Set<CodeEnd>] = [
    .passwordReset: [.newerCode, .password, .email, .state],
    .signIn: [.newerCode, .password, .email, .state],
    .changeEmail: [.newerCode, .password, .email, .state, .sessions],
    .verifyEmail: [.email, .state],
    .recoverEmail: [],
    .revertFactor: [],
  ]

  private static let former = "alice-before@example.com"

  /// Emails Alice a code of a kind.
  private func code(_ kind: OutOfBandCode.Kind, _ instance: Instance) async throws -> String {
    let store = instance.identity.store
    let (acme, now) = (instance.acme, instance.now)
    switch kind {
    case .passwordReset, .signIn, .verifyEmail: return try await instance.code(kind)
    case .changeEmail: return try await instance.code(kind, newEmail: "new@example.com")
    case .recoverEmail:
      let alice = try #require(
        try await instance.identity.accounts.lookup(acme, emails: [Person.alice.email]).first)
      try await change(instance, alice) {
        // An address that was never verified gets one notice, and not a second one.
        ($0.email, $0.emailVerified) = (.set(Self.former), true)
      }
      let before = try await instance.reload(alice)
      try await change(instance, alice) { $0.email = .set(Person.alice.email) }
      try await instance.database.write { connection in
        try store.offerRecovery(
          of: before, now: Person.alice.email, in: acme, at: now, connection)
      }
    case .revertFactor:
      try await instance.database.write { connection in
        let account = try #require(
          try AccountRecord.find(acme, email: Person.alice.email, connection))
        let factor = try #require(account.factors.first)
        try store.offerReversal(of: factor.id, by: account, in: acme, at: now, connection)
      }
    }
    return try #require(try await instance.mails(kind.purpose.rawValue).last).code
  }

  private func change(
    _ instance: Instance, _ account: Account, _ edit: (inout AccountChange) -> Void
  ) async throws {
    var change = AccountChange()
    edit(&change)
    try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Instance.boss)
  }

  /// Lets something happen to Alice after which her account looks as before.
  private func happen(
    _ end: CodeEnd, to alice: Account, _ kind: OutOfBandCode.Kind, _ instance: Instance
  ) async throws {
    switch end {
    case .newerCode: _ = try await code(kind, instance)
    case .password: try await change(instance, alice) { $0.password = .set(Person.alice.password) }
    case .email:
      try await change(instance, alice) { $0.email = .set("elsewhere@example.com") }
      try await change(instance, alice) { $0.email = .set(Person.alice.email) }
    case .state:
      try await change(instance, alice) { $0.disabled = true }
      try await change(instance, alice) { $0.disabled = false }
    case .sessions:
      try await instance.identity.sessions.endAll(instance.acme, alice.id, by: Instance.boss)
    }
  }

  @Test(arguments: OutOfBandCode.Kind.allCases, CodeEnd.allCases)
  func `a code ends with what the table says, and with nothing else`(
    kind: OutOfBandCode.Kind, end: CodeEnd
  ) async throws {
    let isEnded = try #require(Self.table[kind]).contains(end)
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      try await instance.allow(emailLink: true)
      let alice = try await instance.enrolled(.alice).account
      let seen = try await code(kind, instance)
      await expect("done") { try await codes.look(at: seen) }
      // The clock stands: what ends a code doesn't depend on times.
      try await happen(end, to: alice, kind, instance)
      await expect(isEnded ? "invalidCode" : "done") { try await codes.look(at: seen) }
      if kind == .signIn, isEnded {
        await expect("invalidCode") {
          try await instance.identity.signIns.emailLink(
            instance.acme, email: Person.alice.email, code: seen, by: Instance.visitor)
        }
      }
    }
  }

  @Test func `a reset by link, a sign-in by link, and deletion end the other codes`() async throws {
    try await withInstance { instance in
      let (identity, acme) = (instance.identity, instance.acme)
      let codes = identity.outOfBandCodes
      try await instance.allow(emailLink: true)
      let alice = try await instance.account(.alice, isVerified: false)
      let signIn = try await instance.code(.signIn)
      try await codes.resetPassword(
        try await instance.code(.passwordReset), to: Secret("a new password"),
        by: Instance.visitor)
      await expect("invalidCode") { try await codes.look(at: signIn) }
      try await change(instance, alice) { $0.emailVerified = false }
      // The link verifies the address, so the password of its creator is removed.
      let reset = try await instance.code(.passwordReset)
      _ = try await identity.signIns.emailLink(
        acme, email: Person.alice.email, code: instance.code(.signIn), by: Instance.visitor)
      await expect("invalidCode") { try await codes.look(at: reset) }
      let last = try await instance.code(.signIn)
      let other = try await instance.code(.signIn, .bob)
      try await identity.accounts.delete(acme, alice.id, by: Instance.boss)
      await expect("invalidCode") {
        try await identity.signIns.emailLink(
          acme, email: Person.alice.email, code: last, by: Instance.visitor)
      }
      await expect("done") { try await codes.look(at: other) }
    }
  }

  @Test func `a disabled user's code says so, whatever ended it`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let code = try await instance.code(.passwordReset)
      try await change(instance, alice) { $0.disabled = true }
      await expect("userDisabled") { try await instance.identity.outOfBandCodes.look(at: code) }
    }
  }

  @Test func `only a code that is sent ends earlier ones`() async throws {
    try await withInstance { instance in
      let codes = instance.identity.outOfBandCodes
      let alice = try await instance.account(.alice)
      _ = try await instance.account(.bob)
      for _ in 1..<MailQuota.perAddress { _ = try await instance.code(.passwordReset) }
      let last = try await instance.code(.passwordReset)
      await expect("tooManyMails") { try await instance.code(.passwordReset) }
      await expect("done") { try await codes.look(at: last) }
      // The address is taken, which isn't said, so nothing is sent.
      let change = try await instance.code(.changeEmail, newEmail: "new@example.com")
      let session = try await instance.session(.alice).session
      var request = OutOfBandRequest(.changeEmail, for: .session(session))
      request.newEmail = Person.bob.email
      _ = try await codes.send(request, in: instance.acme, hidingUsers: true, from: nil)
      await expect("done") { try await codes.look(at: change) }
      // A link that a server sends itself ends those that were emailed.
      request = OutOfBandRequest(.passwordReset, for: .email(Person.alice.email))
      let link = try await codes.link(request, in: instance.acme, by: Instance.boss)
      await expect("invalidCode") { try await codes.look(at: last) }
      await expect("done") { try await codes.look(at: link.code) }
      #expect(try await instance.reload(alice).email == Person.alice.email)
    }
  }
}
