public import Crypto
public import Database

/// Sets up the provider of OpenID Connect with which administrators sign in, and signs them in.
public struct ConsoleProviders: Sendable {
  let store: Store
  let sealer: Sealer
  let tickets: Sealer
  let sessions: ConsoleSessions
  let directory: ProviderDirectory

  /// The associated data of the sealed secret.
  static let place = Array("console".utf8)

  static func sealer(_ keys: KeyRing, random: RandomSource) throws(CryptoError) -> Sealer {
    try Sealer(keys, purpose: "sign-in provider", random: random)
  }

  public func find() async throws -> ConsoleProvider? {
    try await store.read { try ConsoleProvider.find($0) }
  }

  public func name() async throws -> String? {
    try await store.read { try ConsoleProvider.name($0) }
  }

  /// Returns the problems of a provider that someone entered, and of the provider itself.
  func faults(
    of provider: ConsoleProvider
  ) async throws -> [ConsoleProviderFault] {
    var faults = provider.faults()
    faults += try await store.read { try provider.missingPlaces($0) }
    guard !faults.contains(.invalidIssuer) else { return faults }
    do { _ = try await directory.fetch(provider.issuer, at: store.clock.now()) } catch {
      faults.append(error.fault)
    }
    return faults
  }

  /// Sets the provider up, or changes it, and turns password sign-in off or on.
  ///
  /// Roles of linked administrators change at once, in the same transaction. Open sessions stay
  /// open, except those of another issuer. Without a new secret, the stored one is kept. If there
  /// was no provider, the version is that of a new ``ConsoleProvider``.
  ///
  /// - Returns: False if nothing changes.
  public func save(
    _ provider: ConsoleProvider, secret: Secret?, expecting version: SettingsVersion,
    _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    let faults = try await self.faults(of: provider)
    guard faults.isEmpty else { throw ConsoleProviderError.invalid(faults) }
    let sealed = try secret.map { try sealer.seal($0.revealedBytes, with: Self.place) }
    let agent = request.agent
    return try await store.run(.changeSignInProvider, by: .console(request), in: .instance) {
      context, connection in
      let old = try ConsoleProvider.find(connection)
      try FormerMFAValues.mark.store(nil, connection)
      var new = provider
      // A secret belongs to its issuer and client, and mustn't be sent to another.
      let isSame = old.map { $0.issuer == new.issuer && $0.clientID == new.clientID } ?? false
      new.sealedSecret = sealed ?? (isSame ? old?.sealedSecret : nil)
      var entry = AuditEntry(.instanceChangeSignInProvider, of: nil)
      entry.compare(old?.auditFields(), new.auditFields(isNewSecret: sealed != nil))
      guard !entry.changes.isEmpty || new.breakGlassAccount != old?.breakGlassAccount else {
        return false
      }
      guard (old ?? ConsoleProvider()).version == version else {
        throw ConsoleProviderError.changedMeanwhile(old)
      }
      var faults = try new.missingPlaces(connection)
      if let account = new.breakGlassAccount, account != old?.breakGlassAccount {
        if !isSame || !agent.provider.isProved { faults.append(.notProved) }
        if try !PasswordSignIn.suits(account, connection) {
          faults.append(.invalidBreakGlassAccount)
        }
      }
      guard faults.isEmpty else { throw ConsoleProviderError.invalid(faults) }
      if !entry.changes.isEmpty {
        try Self.replace(old, with: new, context, connection)
        try context.record(entry, connection)
      }
      try PasswordSignIn.set(new.breakGlassAccount, context, connection)
      return true
    }
  }

  /// Stores a provider, and brings sessions and roles in line with it.
  private static func replace(
    _ old: ConsoleProvider?, with new: ConsoleProvider, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws {
    try new.write(connection)
    for link in try AdministratorProviderLink.all(connection) {
      try ProviderRoles.align(
        link.administrator,
        to: ProviderRoles.wanted(of: link.administrator, by: new, connection),
        provider: new.name, context.outbox, by: context.author, at: context.now, connection)
    }
    guard let old, old.issuer != new.issuer else { return }
    try endSessions(of: old.issuer, connection)
    guard try Administrators.hasOwnerWithOwnSignIn(connection) else {
      throw ConsoleProviderError.invalid([.noOwnSignIn])
    }
  }

  /// Removes the provider: roles that come from its groups are revoked, its links are deleted, and
  /// its sessions end.
  public func remove(
    _ request: ActionRequest
  ) async throws -> ActionOutcome<Void> {
    try await store.run(.removeSignInProvider, by: .console(request), in: .instance) {
      context, connection in
      guard let old = try ConsoleProvider.find(connection) else {
        throw ConsoleProviderError.notFound
      }
      guard old.breakGlassAccount == nil else { throw ConsoleProviderError.passwordSignInOff }
      for link in try AdministratorProviderLink.all(connection) {
        if link.issuer == old.issuer {
          // Before the roles end: its pool is one of them.
          let record = try Administrators.record(link.administrator, at: context.now, connection)
          try context.outbox.notify(
            record.administrator, .providerRemoved(name: old.name), by: context.author.actor,
            at: context.now, connection)
        }
        try ProviderRoles.align(
          link.administrator, to: [], provider: old.name, context.outbox, by: context.author,
          at: context.now, connection)
        try AdministratorProviderLink.delete(link.administrator, connection)
      }
      try Self.endSessions(of: old.issuer, connection)
      try connection.run("DELETE FROM sign_in_provider_role WHERE group_name > ''")
      try connection.run("DELETE FROM sign_in_provider WHERE provider_id = 1")
      try FormerMFAValues.mark.store(nil, connection)
      guard try Administrators.hasOwnerWithOwnSignIn(connection) else {
        throw ConsoleProviderError.noOwnSignIn
      }
      var entry = AuditEntry(.instanceRemoveSignInProvider, of: nil)
      entry.add(.signInProvider, lost: .text(old.name))
      entry.add(.issuer, lost: .text(old.issuer))
      try context.record(entry, connection)
    }
  }

  private static func endSessions(of issuer: String, _ connection: borrowing Connection) throws {
    try connection.run("DELETE FROM console_session WHERE provider_issuer = \(issuer)")
  }
}

/// The former default of ``ConsoleProvider/mfaValues``, which a migration replaced: it had methods that
/// are one factor each.
enum FormerMFAValues {
  private static let list = ["mfa", "hwk", "otp"]
  /// Exists from the migration until an owner saves or removes the provider.
  static let mark = InstanceValue("former_mfa_values")
  private static let new = "new"
  private static let reported = "reported"

  /// Records the change in the audit log, and emails the owners; does nothing afterward.
  static func report(_ store: Store) async throws {
    guard try await store.read({ try mark.read($0) }) == new else { return }
    let (now, outbox) = (store.clock.now(), store.outbox)
    try await store.write { connection in
      guard try mark.read(connection) == new, let provider = try ConsoleProvider.find(connection)
      else { return }
      try mark.store(reported, connection)
      var former = provider
      former.mfaValues = list
      var entry = AuditEntry(.instanceChangeSignInProvider, of: nil)
      entry.compare(former.auditFields(), provider.auditFields())
      try entry.record(by: Author(actor: .server), at: now, connection)
      try outbox.notifyOwners(.providerNeedsMFA(name: provider.name), at: now, connection)
    }
  }
}

extension Identity {
  /// Returns whether the upgrade replaced the former default of the values that indicate MFA at the
  /// sign-in provider, and no owner has saved the provider since.
  public static func replacedMFAValues(in database: any Database) async throws -> Bool {
    try await database.read { try FormerMFAValues.mark.read($0) != nil }
  }
}

extension ConsoleProviders: ReencryptableStore {
  static let name = "sign_in_provider"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    var part = ResealedPart()
    guard position.isEmpty else { return part }
    let sealed: [UInt8]?? = try connection.first(
      "SELECT sealed_secret FROM sign_in_provider WHERE provider_id = 1"
    ) { try $0.next() as [UInt8]? }
    guard let sealed else { return part }
    part.read("1")
    guard let sealed,
      let box = try StoredSecret.consoleProvider.opening({
        try sealer.resealed(sealed, with: Self.place)
      })
    else { return part }
    try connection.run(
      "UPDATE sign_in_provider SET sealed_secret = \(box) WHERE provider_id = 1")
    part.changed += 1
    return part
  }
}
