import Crypto
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// What a user's report of a change forbids until an owner decides.
struct AccountLockTests {
  /// The address that Alice's account had first.
  static let former = "first@example.com"

  /// A way to change how Alice signs in, or something else of her account.
  enum Change: String, CaseIterable {
    case ownPassword, ownPasswordRemoved, ownAddress, ownPhoneRemoved, ownUnlinking
    case passwordLinked, phoneLinked, emailLinkLinked, providerLinked
    case emailLinkSignIn, providerMerged
    case changeRequested, changeLinkCreated, resetLinkCreated, earlierResetLink
    case tokenAddress, tokenAddressRemoved, tokenPassword, tokenPasswordRemoved, tokenPhone,
      tokenLink, tokenUnlinking, administratorAddress, emulatorPassword, commandLinePassword
    case imported, importedOnCommandLine
    case ownDeletion, tokenDeletion, administratorDeletion
    case name, claims, disabled, passwordReset

    /// The refusal while Alice's account is locked; nil if it isn't of how she signs in.
    var refusal: String? {
      switch self {
      case .name, .claims, .disabled, .passwordReset: nil
      case .emailLinkSignIn, .emailLinkLinked: "account.changesLocked"
      case .earlierResetLink: "invalidCode"
      default: "changesLocked"
      }
    }
  }

  @Test(arguments: Change.allCases)
  func `an account's sign-in can be changed in every way, and in none while it's locked`(
    change: Change
  ) async throws {
    for isLocked in [false, true] {
      try await withInstance { instance in
        let alice = try await alice(instance)
        let earlier = try await resetLink(instance)
        if isLocked {
          try await instance.reportChange(of: alice.id)
          if change != .earlierResetLink { try await instance.reset(.alice) }
        }
        let result = await outcome {
          if change == .earlierResetLink {
            try await instance.identity.outOfBandCodes.resetPassword(
              earlier, to: Secret("another password"), by: Instance.visitor)
          } else {
            let session = try await instance.session(.alice).session
            try await make(change, alice, session, instance)
          }
        }
        #expect(result == (isLocked ? change.refusal ?? "done" : "done"), "\(isLocked)")
        let now = try await instance.identity.accounts.find(instance.acme, alice.id)
        guard isLocked else { return }
        let after = try #require(now)
        #expect(after.email == alice.email && after.phoneNumber == alice.phoneNumber)
        #expect(after.hasPassword && after.providers == alice.providers && !after.signsInByLink)
      }
    }
  }

  /// Creates a link to reset Alice's password, as a program does.
  private func resetLink(_ instance: Instance) async throws -> String {
    try await instance.identity.outOfBandCodes.link(
      OutOfBandRequest(.passwordReset, for: .email(Person.alice.email)), in: instance.acme,
      by: try await instance.program()
    ).code
  }

  /// Creates Alice's account, with a phone number and a linked identity.
  private func alice(_ instance: Instance) async throws -> Account {
    try await instance.allowPhones()
    _ = try await instance.identity.pools.update(
      project: instance.acme.project, by: .program(Instance.boss)
    ) { $0.signIn.emailLink = true }
    try await instance.configureProvider()
    let alice = try await instance.account(.alice)
    var change = AccountChange()
    change.phoneNumber = .set(Instance.otherNumber)
    change.link = ProviderLink(provider: "google.com", rawID: "1")
    return try await instance.identity.accounts.update(
      instance.acme, alice.id, change, by: Instance.boss)
  }

  private func update(
    _ instance: Instance, _ account: Account, by author: Author, in session: UserSession? = nil,
    _ set: (inout AccountChange) -> Void
  ) async throws {
    var change = AccountChange()
    set(&change)
    _ = try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: author, in: session)
  }

  private func proof(_ instance: Instance, of number: String) async throws -> PhoneProof {
    let info = try await instance.identity.signIns.sendCode(
      instance.acme, instance.request(number))
    return .code(sessionInfo: info, code: TypedCode(Instance.code))
  }

  private func assertion(
    _ instance: Instance, of email: String
  ) async throws -> ProviderAssertion {
    try await instance.assertion(
      TestTokenIssuer.back.token(
        Instance.claims(#""email":"\#(email)","email_verified":true"#)))
  }

  /// Imports a user, and throws why the row was refused.
  private func importUser(
    _ instance: Instance, by author: Author = Instance.boss, _ uid: String, _ email: String
  ) async throws {
    var user = ImportedUser()
    (user.localID, user.email, user.emailVerified) = (uid, email, true)
    let outcome = try await instance.identity.imports.run(
      instance.acme, [.success(user)], ImportOptions(existing: .replace), by: author)
    if let refusal = outcome.refusals.first { throw refusal.fault }
  }

  private func make(
    _ change: Change, _ alice: Account, _ session: UserSession, _ instance: Instance
  ) async throws {
    let (identity, pool) = (instance.identity, instance.acme)
    let (own, program) = (Author(actor: .user(alice.id)), try await instance.program())
    switch change {
    case .ownPassword:
      try await update(instance, alice, by: own, in: session) {
        $0.password = .set(Secret("another password"))
      }
    case .ownPasswordRemoved:
      try await update(instance, alice, by: own, in: session) { $0.password = .clear }
    case .ownAddress:
      try await update(instance, alice, by: own, in: session) { $0.email = .set("new@example.com") }
    case .ownPhoneRemoved:
      try await update(instance, alice, by: own, in: session) { $0.phoneNumber = .clear }
    case .ownUnlinking:
      try await update(instance, alice, by: own, in: session) { $0.unlinked = ["google.com"] }
    case .passwordLinked:
      try await update(instance, alice, by: own, in: session) {
        $0.password = .set(Secret("another password"))
        $0.linksPassword = true
      }
    case .phoneLinked:
      _ = try await identity.signIns.phone(
        pool,
        PhoneSignIn(
          proof: try await proof(instance, of: Instance.number), purpose: .link(session)),
        by: own)
    case .emailLinkLinked:
      _ = try await identity.signIns.emailLink(
        pool, email: Person.alice.email, code: try await instance.code(.signIn), linking: session,
        by: own)
    case .providerLinked:
      _ = try await identity.federation.link(
        session, try await assertion(instance, of: Person.alice.email), by: own)
    case .emailLinkSignIn:
      _ = try await identity.signIns.emailLink(
        pool, email: Person.alice.email, code: try await instance.code(.signIn),
        by: Instance.visitor)
    case .providerMerged:
      _ = try await identity.federation.signIn(
        pool, try await assertion(instance, of: Person.alice.email), mayCreate: true,
        by: Instance.visitor)
    case .changeRequested:
      var request = OutOfBandRequest(.changeEmail, for: .session(session))
      request.newEmail = "new@example.com"
      _ = try await identity.outOfBandCodes.send(
        request, in: pool, hidingUsers: true, from: "203.0.113.5")
      let code = try #require(try await instance.mails().last).code
      try await identity.outOfBandCodes.apply(code, by: Instance.visitor)
    case .changeLinkCreated:
      var request = OutOfBandRequest(.changeEmail, for: .email(Person.alice.email))
      request.newEmail = "new@example.com"
      _ = try await identity.outOfBandCodes.link(request, in: pool, by: program)
    case .tokenAddress:
      try await update(instance, alice, by: program) { $0.email = .set("new@example.com") }
    case .tokenAddressRemoved: try await update(instance, alice, by: program) { $0.email = .clear }
    case .tokenPassword:
      try await update(instance, alice, by: program) {
        $0.password = .set(Secret("another password"))
      }
    case .tokenPasswordRemoved:
      try await update(instance, alice, by: program) { $0.password = .clear }
    case .tokenPhone:
      try await update(instance, alice, by: program) { $0.phoneNumber = .set(Instance.number) }
    case .tokenLink:
      try await update(instance, alice, by: program) {
        $0.link = ProviderLink(provider: "google.com", rawID: "2")
      }
    case .tokenUnlinking: try await update(instance, alice, by: program) { $0.unlinksAll = true }
    case .administratorAddress:
      try await update(instance, alice, by: Instance.boss) { $0.email = .set("new@example.com") }
    case .emulatorPassword:
      try await update(instance, alice, by: Author(actor: .emulatorOwner)) {
        $0.password = .set(Secret("another password"))
      }
    case .commandLinePassword:
      try await update(instance, alice, by: Author(actor: .commandLine)) {
        $0.password = .set(Secret("another password"))
      }
    case .imported: try await importUser(instance, by: program, alice.id.text, "new@example.com")
    case .importedOnCommandLine:
      try await importUser(
        instance, by: Author(actor: .commandLine), alice.id.text, Person.alice.email)
    case .ownDeletion:
      try await identity.accounts.delete(pool, alice.id, by: own, in: session)
    case .tokenDeletion: try await identity.accounts.delete(pool, alice.id, by: program)
    case .administratorDeletion:
      try await identity.accounts.delete(pool, alice.id, by: Instance.boss)
    case .name:
      try await update(instance, alice, by: own, in: session) { $0.displayName = .set("A") }
    case .claims:
      try await update(instance, alice, by: program) { $0.customAttributes = .set("{}") }
    case .disabled: try await update(instance, alice, by: program) { $0.disabled = true }
    case .passwordReset: try await instance.reset(.alice)
    case .resetLinkCreated: _ = try await resetLink(instance)
    case .earlierResetLink: break
    }
  }

  /// A way to get an address for another account.
  enum Claim: CaseIterable {
    case signUp, created, updated, ownUpdate, changeRequest, changeLink, imported,
      importedOverAnother, provider, providerLinked, emailLink, emailLinkLinked

    /// The outcome for an address that a locked account has, if it isn't that of any address that's in
    /// use.
    var ofHolder: String? {
      switch self {
      case .provider, .emailLink, .emailLinkLinked: "userDisabled"
      default: nil
      }
    }
  }

  @Test(arguments: Claim.allCases)
  func `no other account gets the address of a locked account, or the one that reported`(
    claim: Claim
  ) async throws {
    for isLocked in [false, true] {
      for address in [Self.former, Person.alice.email] where isLocked || address == Self.former {
        try await withInstance { instance in
          let alice = try await alice(instance)
          try await instance.setInitialEmail(Self.former, of: alice)
          let bob = try await instance.account(.bob)
          let code = claim == .changeLink ? try await change(to: address, instance) : ""
          if isLocked { try await instance.reportChange(of: alice.id, from: Self.former) }
          let result = await outcome {
            try await make(claim, address, bob, code: code, instance)
          }
          let holder = address == Self.former ? nil : claim.ofHolder
          #expect(result == (isLocked ? holder ?? "emailExists" : "done"), "\(address)")
          guard isLocked, address == Self.former else { return }
          let owner = try await instance.agent("olga", role: .owner)
          _ = try await instance.identity.support.allowChanges(
            instance.acme, alice.id, owner.request(.mistake))
          let later = await outcome { try await signUp(address, instance) }
          #expect(later == "done", "free again")
        }
      }
    }
  }

  /// Has Bob request a link to change his address.
  private func change(to address: String, _ instance: Instance) async throws -> String {
    // The address of another account is refused at once.
    guard address == Self.former else { return "" }
    return try await instance.code(.changeEmail, .bob, newEmail: address)
  }

  private func signUp(_ address: String, _ instance: Instance) async throws {
    var new = NewAccount()
    (new.email, new.password) = (address, Secret("a good password"))
    _ = try await instance.identity.signIns.signUp(instance.acme, new, by: Instance.visitor)
  }

  private func make(
    _ claim: Claim, _ address: String, _ bob: Account, code: String, _ instance: Instance
  ) async throws {
    let (identity, pool) = (instance.identity, instance.acme)
    let session = try await instance.session(.bob).session
    switch claim {
    case .signUp: try await signUp(address, instance)
    case .created:
      var new = NewAccount()
      new.email = address.uppercased()
      _ = try await identity.accounts.create(pool, new, by: .program(try await instance.program()))
    case .updated:
      try await update(instance, bob, by: try await instance.program()) { $0.email = .set(address) }
    case .ownUpdate:
      try await update(instance, bob, by: Author(actor: .user(bob.id)), in: session) {
        $0.email = .set(address)
      }
    case .changeRequest: _ = try await instance.code(.changeEmail, .bob, newEmail: address)
    case .changeLink:
      guard !code.isEmpty else { throw AccountError.emailExists }
      try await identity.outOfBandCodes.apply(code, by: Instance.visitor)
    case .imported: try await importUser(instance, "carol", address)
    case .importedOverAnother: try await importUser(instance, bob.id.text, address)
    case .provider:
      _ = try await identity.federation.signIn(
        pool, try await assertion(instance, of: address), mayCreate: true, by: Instance.visitor)
    case .providerLinked:
      try await update(instance, bob, by: Instance.boss) { $0.email = .clear }
      _ = try await identity.federation.link(
        try await renewed(bob, instance), try await assertion(instance, of: address),
        by: Instance.visitor)
    case .emailLink, .emailLinkLinked:
      var request = OutOfBandRequest(.signIn, for: .email(address))
      request.continueURL = nil
      let code = try await identity.outOfBandCodes.link(request, in: pool, by: Instance.boss).code
      _ = try await identity.signIns.emailLink(
        pool, email: address, code: code, linking: claim == .emailLink ? nil : session,
        by: Instance.visitor)
    }
  }

  /// Signs Bob in by phone, since he has no address.
  private func renewed(_ bob: Account, _ instance: Instance) async throws -> UserSession {
    try await update(instance, bob, by: Instance.boss) { $0.phoneNumber = .set(Instance.number) }
    let outcome = try await instance.identity.signIns.phone(
      instance.acme,
      PhoneSignIn(proof: try await proof(instance, of: Instance.number), purpose: .signIn),
      by: Instance.visitor)
    guard case .signedIn(let grant, _) = outcome else { throw Unexpected("not signed in") }
    return grant.session
  }
}
