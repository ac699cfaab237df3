import Database

/// Who can still sign in without the provider while password sign-in is off.
public struct PasswordSignInOff: Sendable {
  /// The break-glass account.
  public let breakGlassAccount: ID<Administrator>
  /// The name of the break-glass account.
  public let name: String
}

/// Why password sign-in can't be turned off or on.
public enum PasswordSignInError: Error, Sendable {
  /// There's no provider.
  case noProvider
  /// The acting owner isn't linked with the provider or has never signed in with it.
  case providerNotUsed
  /// The break-glass account isn't an owner of the instance without an end date.
  case notOwner
  /// The break-glass account has neither a password nor a passkey.
  case noOwnSignIn
  /// The database is unavailable.
  case unavailable(Failure)
}

extension PasswordSignInError: UseCaseError {}

/// Whether administrators can sign in without the provider.
enum PasswordSignIn {
  static let setting = InstanceValue("break_glass_account")

  /// Returns the break-glass account if password sign-in is off; nil if it's on.
  static func find(_ connection: borrowing Connection) throws -> ID<Administrator>? {
    try setting.read(connection).map { ID($0) }
  }

  /// Returns whether an administrator can sign in with a password or passkey.
  static func admits(
    _ id: ID<Administrator>?, _ connection: borrowing Connection
  ) throws -> Bool {
    admits(id, breakGlass: try find(connection))
  }

  /// Returns whether an administrator can sign in with a password or passkey, given the break-glass
  /// account, which is nil if password sign-in is on.
  static func admits(_ id: ID<Administrator>?, breakGlass: ID<Administrator>?) -> Bool {
    breakGlass == nil || breakGlass == id
  }

  static func set(
    _ owner: ID<Administrator>?, _ context: ActionContext, _ connection: borrowing Connection
  ) throws -> Bool {
    let old = try find(connection)
    guard old != owner else { return false }
    try setting.store(owner?.text, connection)
    func name(_ id: ID<Administrator>?) throws -> AuditValue {
      guard let id else { return .absent }
      return .text(
        try Administrators.present(id, at: context.now, connection)?.email ?? id.text)
    }
    var entry = AuditEntry(.instancePasswordSignIn, of: nil)
    entry.add(.administratorPasswordSignIn, from: .flag(old == nil), to: .flag(owner == nil))
    entry.add(.breakGlassAccount, from: try name(old), to: try name(owner))
    try context.record(entry, connection)
    return true
  }
}

extension ConsoleProviders {
  /// Returns who can sign in without the provider if password sign-in is off; nil if it's on.
  ///
  /// - Throws: ``PasswordSignInError/unavailable(_:)``.
  public func passwordSignInOff() async throws(PasswordSignInError) -> PasswordSignInOff? {
    let now = store.clock.now()
    return try await store.read(PasswordSignInError.self) { connection in
      guard let id = try PasswordSignIn.find(connection) else { return nil }
      let name = try Administrators.present(id, at: now, connection)?.displayName
      return PasswordSignInOff(breakGlassAccount: id, name: name ?? "")
    }
  }

  /// Turns password sign-in off for everyone except the break-glass account, or on.
  ///
  /// Open sessions stay open.
  ///
  /// - Parameters:
  ///   - owner: The break-glass account; nil turns password sign-in on.
  ///   - request: The administrator and their input.
  /// - Returns: False if nothing changes.
  /// - Throws: ``ActionError`` with ``PasswordSignInError``.
  public func setBreakGlassAccount(
    _ owner: ID<Administrator>?, _ request: ActionRequest
  ) async throws(ActionError<PasswordSignInError>) -> ActionOutcome<Bool> {
    let agent = request.agent.administrator.id
    return try await store.perform(
      .changePasswordSignIn, request, in: .instance, PasswordSignInError.self
    ) { context, connection in
      if let owner {
        guard let provider = try ConsoleProvider.find(connection) else {
          throw PasswordSignInError.noProvider
        }
        let link = try AdministratorProviderLink.find(agent, connection)
        guard let link, link.issuer == provider.issuer, link.lastSignInAt != nil else {
          throw PasswordSignInError.providerNotUsed
        }
        guard try Administrators.isPermanentOwner(owner, connection) else {
          throw PasswordSignInError.notOwner
        }
        guard try Administrators.hasOwnSignIn(owner, connection) else {
          throw PasswordSignInError.noOwnSignIn
        }
      }
      return try PasswordSignIn.set(owner, context, connection)
    }
  }

  /// Turns password sign-in on, for operators with access to the data folder.
  ///
  /// - Returns: False if it was on.
  /// - Throws: ``PasswordSignInError/unavailable(_:)``.
  public func turnOnPasswordSignIn(by author: Author) async throws(PasswordSignInError) -> Bool {
    try await store.perform(by: author, PasswordSignInError.self) { context, connection in
      try PasswordSignIn.set(nil, context, connection)
    }
  }
}

extension Administrators {
  /// Returns whether an administrator manages administrators on the instance, without an end date,
  /// and not only because of a group.
  static func isPermanentOwner(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM administrator_grant
      WHERE administrator_id = \(id.text) AND \(isLastingOwner) AND is_from_provider = 0
      """
    ) { _ in true } ?? false
  }

  /// Returns whether an administrator has a password or a passkey.
  static func hasOwnSignIn(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Bool {
    try SignInWays.find(id, connection)?.hasOwn ?? false
  }

  /// Checks that an owner without an end date can sign in, and that the break-glass account can if
  /// password sign-in is off, after an administrator lost roles or a way to sign in.
  ///
  /// Without a role of theirs that the check is about, it's omitted: the change couldn't make a
  /// difference, and has to be possible when no owner can sign in, too.
  ///
  /// - Parameters:
  ///   - record: The administrator, with the ends that their roles had before the change.
  ///   - grants: The roles that they lost, or all of their roles if they lost a way to sign in.
  ///   - connection: The transaction of the change.
  /// - Throws: ``ManagementError/lastOwner``, ``ManagementError/breakGlassAccount``, or database errors.
  static func requireOwners(
    after record: AdministratorRecord, losing grants: [Grant], _ connection: borrowing Connection
  ) throws {
    let isOwner = grants.contains { $0.managesAdministrators && record.grantEnds[$0] == nil }
    guard isOwner else { return }
    guard try lastingOwners(connection).contains(where: { try canSignIn($0.id, connection) }) else {
      throw ManagementError.lastOwner
    }
    guard try hasBreakGlassAccount(connection) else { throw ManagementError.breakGlassAccount }
  }

  /// Returns whether an owner without an end date, whose role isn't only from a group, can sign in
  /// without the provider.
  ///
  /// A role that's from a group would go with the provider, or at the next sign-in with another one.
  static func hasOwnerWithOwnSignIn(_ connection: borrowing Connection) throws -> Bool {
    try lastingOwners(connection).contains {
      try isPermanentOwner($0.id, connection) && hasOwnSignIn($0.id, connection)
    }
  }

  /// Returns whether an administrator can sign in.
  static func canSignIn(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Bool {
    try SignInWays.find(id, connection)?.admit(id, breakGlass: PasswordSignIn.find(connection))
      ?? false
  }

  /// Returns whether the break-glass account can still sign in if password sign-in is off.
  static func hasBreakGlassAccount(_ connection: borrowing Connection) throws -> Bool {
    guard let breakGlass = try PasswordSignIn.find(connection) else { return true }
    return try isPermanentOwner(breakGlass, connection) && hasOwnSignIn(breakGlass, connection)
  }
}
