import Database

/// Whether administrators who manage others must sign in with a passkey.
enum PasskeyRequirement {
  static let setting = InstanceValue("passkeys_required")

  static func isOn(_ connection: borrowing Connection) throws -> Bool {
    try setting.read(connection) != nil
  }

  static func applies(
    to administrator: Administrator, _ connection: borrowing Connection
  ) throws -> Bool {
    try administrator.managesOthers && isOn(connection)
  }
}

extension Administrator {
  /// Whether the passkey requirement can apply to the administrator.
  var managesOthers: Bool { maySomewhere(.manageAdministrators) }
}

extension Passkeys {
  public func isRequired() async throws -> Bool {
    try await store.read { try PasskeyRequirement.isOn($0) }
  }

  /// Requires passkeys, or no longer requires them.
  ///
  /// Sessions without a passkey can then only use or add one, at once. The administrator who turns
  /// it on has used a passkey in this session, so it can't lock out everyone.
  ///
  /// - Returns: False if nothing changes.
  public func setRequired(
    _ isRequired: Bool, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    let session = request.agent
    return try await store.perform(
      .changePasskeyRequirement, request, in: .instance
    ) { context, connection in
      if isRequired {
        // By administrator: the session's token was renewed if this request had a code.
        let used = try connection.first(
          """
          SELECT 1 FROM console_session
          WHERE administrator_id = \(session.administrator.id)
            AND csrf_token = \(session.csrfToken) AND passkey_at IS NOT NULL
          """
        ) { _ in true }
        let has = try !PasskeyRecord.all(of: session.administrator.id, connection).isEmpty
        guard used != nil, has else { throw InstanceSettingError.passkeyNotUsed }
      }
      return try Self.set(isRequired, context, connection)
    }
  }

  /// Stops requiring passkeys, for operators with access to the data folder.
  ///
  /// - Returns: False if they weren't required.
  public func stopRequiring(by author: Author) async throws -> Bool {
    try await store.perform(by: author) { context, connection in
      try Self.set(false, context, connection)
    }
  }

  private static func set(
    _ isRequired: Bool, _ context: ActionContext, _ connection: borrowing Connection
  ) throws -> Bool {
    let old = try PasskeyRequirement.isOn(connection)
    guard old != isRequired else { return false }
    try PasskeyRequirement.setting.store(isRequired ? "1" : nil, connection)
    var entry = AuditEntry(.instancePasskeyRequirement, of: nil)
    entry.add(.passkeyRequired, from: .flag(old), to: .flag(isRequired))
    try context.record(entry, connection)
    return true
  }
}
