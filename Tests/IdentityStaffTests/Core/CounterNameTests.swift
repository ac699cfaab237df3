import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Who can choose the parts of a counter's name.
struct CounterNameTests {
  /// Who vouches for a counter's name.
  private enum Vouching {
    /// Anyone chooses the name, so the pool that is called is a part of it.
    case pool
    /// The network of an address that was seen on the connection; the pool for a forwarded one.
    case connection
    /// The database chose it: the key of an account, or the number of an administrator or token.
    case database
    /// It's counted for the console, which has no pools and no forwarded addresses.
    case console
  }

  private struct Sample {
    let vouching: Vouching
    let name: @Sendable (_ pool: Int64, _ client: ClientAddress) -> CounterName
  }

  private static let phone = "+4915799999999"
  private static let email = "alice@example.com"
  private static let administrator = ID<Administrator>("ada")

  /// Every counter: one that isn't here fails the test below.
  private static func sample(of kind: CounterName.Kind) -> Sample {
    switch kind {
    case .passwordsFromNetwork:
      Sample(vouching: .connection) { .passwords(from: $1, in: $0) }
    case .passwordsOfEmail:
      Sample(vouching: .pool) { pool, _ in .passwords(of: TypedEmail(email), in: pool) }
    case .signUpsFromNetwork:
      Sample(vouching: .pool) { .signUps(from: $1, in: $0) }
    case .phoneSignInCodes:
      Sample(vouching: .pool) { pool, _ in .phoneSignInCodes(of: phone, in: pool) }
    case .requestedMessagesToNumber:
      Sample(vouching: .pool) { pool, _ in .requestedMessages(to: phone, in: pool) }
    case .requestedMessagesFromNetwork:
      Sample(vouching: .connection) { .requestedMessages(from: $1, in: $0) }
    case .enrollmentMessagesToNumber:
      Sample(vouching: .pool) { pool, _ in .enrollmentMessages(to: phone, in: pool) }
    case .enrollmentMessagesFromNetwork:
      Sample(vouching: .connection) { .enrollmentMessages(from: $1, in: $0) }
    case .secondFactorMessagesToNumber:
      Sample(vouching: .database) { _, _ in .secondFactorMessages(to: phone, of: 5) }
    case .messagesOfAccount: Sample(vouching: .database) { _, _ in .messages(of: 5) }
    case .openMessages:
      Sample(vouching: .pool) { pool, _ in .openMessages(to: "DE", in: pool) }
    case .openMessagesFromNetwork:
      Sample(vouching: .pool) { .openMessages(to: "DE", from: $1, in: $0) }
    case .requestedMailsForAddress:
      Sample(vouching: .pool) { pool, _ in .requestedMails(for: email, in: pool) }
    case .requestedMailsToAddress:
      Sample(vouching: .pool) { pool, _ in .requestedMails(to: email, in: pool) }
    case .requestedMailsFromNetwork:
      Sample(vouching: .connection) { .requestedMails(from: $1, in: $0) }
    case .warningsToAddress:
      Sample(vouching: .pool) { pool, _ in .warnings(to: email, in: pool) }
    case .enrollmentLinksToAddress:
      Sample(vouching: .pool) { pool, _ in .enrollmentLinks(to: email, in: pool) }
    case .enrollmentLinksOfPool:
      Sample(vouching: .pool) { pool, _ in .enrollmentLinks(in: pool) }
    case .callerCodesToUser: Sample(vouching: .database) { _, _ in .callerCodes(to: 5) }
    case .callerCodesOfAgent:
      Sample(vouching: .database) { _, _ in .callerCodes(of: administrator) }
    case .linkCodesToUser: Sample(vouching: .database) { _, _ in .linkCodes(to: 5) }
    case .factorChangesOfToken:
      Sample(vouching: .pool) { pool, _ in .factorChanges(of: ID("token"), in: pool) }
    case .ownChanges: Sample(vouching: .database) { _, _ in .ownChanges(.profile, of: 5) }
    case .setupCodes: Sample(vouching: .console) { .setupCodes(from: $1) }
    case .consolePasswordsFromNetwork:
      Sample(vouching: .console) { .consolePasswords(from: $1) }
    case .consolePasskeysFromNetwork:
      Sample(vouching: .console) { .consolePasskeys(from: $1) }
    case .consoleProviderFromNetwork:
      Sample(vouching: .console) { .consoleProvider(from: $1) }
    case .consolePasswordsOfEmail:
      Sample(vouching: .console) { _, _ in .consolePasswords(of: TypedEmail(email)) }
    case .consolePasswordsFromDevice:
      Sample(vouching: .console) { _, _ in .consolePasswords(fromDevice: "device") }
    case .administratorPasswords:
      Sample(vouching: .database) { _, _ in .passwords(of: administrator) }
    case .administratorCodes: Sample(vouching: .database) { _, _ in .codes(of: administrator) }
    case .shownUsers:
      Sample(vouching: .database) { _, _ in
        .shownUsers(to: administrator, inHour: 500_000, of: ID("acme"), nil)
      }
    case .administratorPasskeys:
      Sample(vouching: .database) { _, _ in .passkeys(of: administrator) }
    }
  }

  @Test(arguments: CounterName.Kind.allCases)
  func `what a pool can choose is counted for that pool`(kind: CounterName.Kind) {
    let sample = Self.sample(of: kind)
    let forwarded = ClientAddress(forwarded: "203.0.113.5")
    let isSeparate = sample.name(1, forwarded) != sample.name(2, forwarded)
    let isSeparateIfSeen = sample.name(1, "203.0.113.5") != sample.name(2, "203.0.113.5")
    #expect(sample.name(1, forwarded).kind == kind)
    switch sample.vouching {
    case .pool: #expect(isSeparate && isSeparateIfSeen)
    case .connection: #expect(isSeparate && !isSeparateIfSeen)
    case .database, .console: #expect(!isSeparate && !isSeparateIfSeen)
    }
  }

  @Test func `no counter has the name of another`() {
    let names = CounterName.Kind.allCases.map { Self.sample(of: $0).name(1, "203.0.113.5").text }
    #expect(Set(names).count == CounterName.Kind.allCases.count)
  }

  @Test func `anyone's requests leave the messages of a second factor`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      let alice = try await instance.account(.alice)
      var change = AccountChange()
      change.factors = .replace([
        FactorEntry(id: "mobile", displayName: nil, phoneNumber: Self.phone)
      ])
      try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let pending = try await instance.pending(.alice)
      for pool in [instance.acme, instance.globex] {
        for _ in 0..<5 {
          _ = try await instance.identity.signIns.sendCode(pool, instance.request(Self.phone))
        }
        await expect("quotaExceeded") {
          try await instance.identity.signIns.sendCode(pool, instance.request(Self.phone))
        }
      }
      _ = try await instance.identity.signIns.startPhone(
        project: instance.acme.project, tenant: nil, pendingCredential: pending,
        enrollment: "mobile", language: "en", address: "203.0.113.5")
      let sent = try await instance.messages().filter { $0.hasPrefix("sms sms-second-factor") }
      #expect(sent.count == 1)
    }
  }
}
