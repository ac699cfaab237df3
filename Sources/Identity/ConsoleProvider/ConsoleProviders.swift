public import Crypto
import Database
import OpenIDConnect
import Text

/// Sets up the provider of OpenID Connect with which administrators sign in, and signs them in.
public struct ConsoleProviders: Sendable {
  let store: Store
  let sealer: Sealer
  let tickets: Sealer
  let administrators: Administrators
  let sessions: ConsoleSessions
  let directory: ProviderDirectory

  /// The associated data of the sealed secret.
  static let placeName = "console"
  static let place = Array(placeName.utf8)

  /// Creates the sealer of the client's secret.
  static func sealer(_ keys: KeyRing, random: RandomSource) throws(CryptoError) -> Sealer {
    try Sealer(keys, purpose: "sign-in provider", random: random)
  }

  /// Reads the provider; nil if there's none.
  ///
  /// - Throws: ``ConsoleProviderError/unavailable(_:)``.
  public func find() async throws(ConsoleProviderError) -> ConsoleProvider? {
    try await store.read(ConsoleProviderError.self) { try ConsoleProvider.find($0) }
  }

  /// Reads the name of the provider; nil if there's none.
  ///
  /// - Throws: ``ConsoleProviderError/unavailable(_:)``.
  public func name() async throws(ConsoleProviderError) -> String? {
    try await store.read(ConsoleProviderError.self) { try ConsoleProvider.name($0) }
  }

  /// Returns the problems of a provider that someone entered, and of the provider itself.
  ///
  /// - Throws: ``ConsoleProviderError/unavailable(_:)``.
  public func faults(
    of provider: ConsoleProvider
  ) async throws(ConsoleProviderError) -> [ConsoleProviderFault] {
    var faults = provider.faults()
    faults += try await missingPlaces(of: provider)
    guard !faults.contains(.invalidIssuer) else { return faults }
    do { _ = try await directory.fetch(provider.issuer, at: store.clock.now()) } catch {
      faults.append(error.fault)
    }
    return faults
  }

  /// Sets the provider up, or changes it.
  ///
  /// Roles of linked administrators change at once, in the same transaction.
  ///
  /// - Parameters:
  ///   - provider: The provider.
  ///   - secret: The new client secret; nil keeps the stored one.
  ///   - version: The version of the provider when editing began, that of a new ``ConsoleProvider``
  ///     if there was none.
  ///   - confirmed: The digest of the changes of administrators' roles that were shown and confirmed;
  ///     empty for none.
  ///   - request: The administrator and their input.
  /// - Returns: False if nothing changes.
  /// - Throws: ``ActionError`` with ``ConsoleProviderError``.
  public func save(
    _ provider: ConsoleProvider, secret: Secret?, expecting version: SettingsVersion,
    confirming confirmed: String, _ request: ActionRequest
  ) async throws(ActionError<ConsoleProviderError>) -> ActionOutcome<Bool> {
    let faults: [ConsoleProviderFault]
    do { faults = try await self.faults(of: provider) } catch { throw .failed(error) }
    guard faults.isEmpty else { throw .failed(.invalid(faults)) }
    let sealed: [UInt8]?
    do {
      sealed = try secret.map { try sealer.seal($0.revealedBytes, with: Self.place) }
    } catch { throw .failed(.unavailable(Failure(error))) }
    return try await store.perform(
      .changeSignInProvider, request, in: .instance, ConsoleProviderError.self
    ) { context, connection in
      let old = try ConsoleProvider.find(connection)
      var new = provider
      // A secret belongs to its issuer and client, and mustn't be sent to another.
      let isSame = old.map { $0.issuer == new.issuer && $0.clientID == new.clientID } ?? false
      new.sealedSecret = sealed ?? (isSame ? old?.sealedSecret : nil)
      var entry = AuditEntry(.instanceChangeSignInProvider, of: nil)
      entry.compare(old?.auditFields(), new.auditFields(isNewSecret: sealed != nil))
      guard !entry.changes.isEmpty else { return false }
      guard (old ?? ConsoleProvider()).version == version else {
        throw ConsoleProviderError.changedMeanwhile(old)
      }
      let missing = try new.missingPlaces(connection)
      guard missing.isEmpty else { throw ConsoleProviderError.invalid(missing) }
      let changes = try Self.changes(by: new, connection)
      guard changes.isEmpty || changes.digest.isSameBytes(as: confirmed) else {
        throw ConsoleProviderError.unconfirmed(changes)
      }
      if let old, old.issuer != new.issuer {
        try Self.endSessions(of: old.issuer, at: context.now, connection)
      }
      try new.write(at: context.now, connection)
      try context.record(entry, connection)
      for change in changes {
        try ProviderRoles.align(
          change.administrator, to: Self.wanted(of: change.administrator, by: new, connection),
          provider: new.name, context.outbox, by: context.author, at: context.now, connection)
      }
      // Links with another issuer are of no use to sign in.
      if let old, old.issuer != new.issuer,
        try !Administrators.hasOwnerWithOwnSignIn(connection)
      {
        throw ConsoleProviderError.noOwnSignIn
      }
      return true
    }
  }

  /// Removes the provider: roles that come from its groups are revoked, its links are deleted, and
  /// its sessions end.
  ///
  /// - Throws: ``ActionError`` with ``ConsoleProviderError``.
  public func remove(
    _ request: ActionRequest
  ) async throws(ActionError<ConsoleProviderError>) -> ActionOutcome<Void> {
    try await store.perform(
      .removeSignInProvider, request, in: .instance, ConsoleProviderError.self
    ) { context, connection in
      guard let old = try ConsoleProvider.find(connection) else {
        throw ConsoleProviderError.notFound
      }
      guard try PasswordSignIn.find(connection) == nil else {
        throw ConsoleProviderError.passwordSignInOff
      }
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
      try Self.endSessions(of: old.issuer, at: context.now, connection)
      try connection.run("DELETE FROM sign_in_provider_role WHERE group_name > ''")
      try connection.run("DELETE FROM sign_in_provider WHERE provider_id = 1")
      guard try Administrators.hasOwnerWithOwnSignIn(connection) else {
        throw ConsoleProviderError.noOwnSignIn
      }
      var entry = AuditEntry(.instanceRemoveSignInProvider, of: nil)
      entry.add(.signInProvider, lost: .text(old.name))
      entry.add(.issuer, lost: .text(old.issuer))
      try context.record(entry, connection)
    }
  }

  /// Returns the changes of roles that a provider would make, for the preview.
  ///
  /// - Throws: ``ConsoleProviderError/unavailable(_:)``.
  public func changes(
    by provider: ConsoleProvider
  ) async throws(ConsoleProviderError) -> [ProviderRoleChange] {
    try await store.read(ConsoleProviderError.self) { try Self.changes(by: provider, $0) }
  }

  /// Returns the roles of groups whose project or tenant doesn't exist, for the preview.
  ///
  /// - Throws: ``ConsoleProviderError/unavailable(_:)``.
  public func missingPlaces(
    of provider: ConsoleProvider
  ) async throws(ConsoleProviderError) -> [ConsoleProviderFault] {
    try await store.read(ConsoleProviderError.self) { try provider.missingPlaces($0) }
  }

  /// Returns the roles of someone with these groups, for the preview.
  ///
  /// - Throws: ``ConsoleProviderError/unavailable(_:)``.
  public func grants(
    of groups: [String], by provider: ConsoleProvider
  ) async throws(ConsoleProviderError) -> Set<Grant> {
    let wanted = provider.grants(of: ProviderGroups(groups))
    return try await store.read(ConsoleProviderError.self) {
      try ProviderRoles.existing(wanted, $0)
    }
  }

  /// Returns what a provider would change for a linked administrator with the groups of their last
  /// sign-in, for the preview; nil if no one is linked with the subject.
  ///
  /// - Throws: ``ConsoleProviderError/unavailable(_:)``.
  public func change(
    of subject: String, by provider: ConsoleProvider
  ) async throws(ConsoleProviderError) -> ProviderRoleChange? {
    try await store.read(ConsoleProviderError.self) { connection in
      let link = try AdministratorProviderLink.find(
        issuer: provider.issuer, subject: subject, connection)
      guard let id = link?.administrator else { return nil }
      return try Self.changes(by: provider, connection).first { $0.administrator == id }
        ?? Self.unchanged(id, connection)
    }
  }

  private static func changes(
    by provider: ConsoleProvider, _ connection: borrowing Connection
  ) throws -> [ProviderRoleChange] {
    let changes = try AdministratorProviderLink.all(connection).map { link in
      try change(of: link.administrator, by: provider, connection)
    }
    return try ProviderRoles.keepingLastOwner(changes, connection).filter {
      !$0.granted.isEmpty || !$0.revoked.isEmpty
    }
  }

  private static func unchanged(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> ProviderRoleChange {
    ProviderRoleChange(
      administrator: id, name: try name(of: id, connection), granted: [], revoked: [])
  }

  private static func name(
    of id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> String {
    try connection.first(
      "SELECT display_name FROM administrator WHERE administrator_id = \(id.text)"
    ) { try $0.value(0) } ?? ""
  }

  private static func change(
    of id: ID<Administrator>, by provider: ConsoleProvider, _ connection: borrowing Connection
  ) throws -> ProviderRoleChange {
    try ProviderRoles.change(
      of: id, named: name(of: id, connection), to: wanted(of: id, by: provider, connection),
      connection)
  }

  /// Returns the roles that an administrator has because of their groups: none if they're linked
  /// with another issuer.
  static func wanted(
    of id: ID<Administrator>, by provider: ConsoleProvider, _ connection: borrowing Connection
  ) throws -> Set<Grant> {
    guard let link = try AdministratorProviderLink.find(id, connection),
      link.issuer == provider.issuer
    else { return [] }
    return try ProviderRoles.existing(provider.grants(of: link.groups), connection)
  }

  /// Ends the sessions that began with an issuer.
  private static func endSessions(
    of issuer: String, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run("DELETE FROM console_session WHERE provider_issuer = \(issuer)")
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
    ) { try $0.value(0) as [UInt8]? }
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
