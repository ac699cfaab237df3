import Database
package import IdentityToolkitClient
import Text

/// Reads the configuration and the tenants of a connected project, and stores what differs: policies,
/// and tenants that are new, renamed, disabled, gone, or back.
struct RemotePolicies {
  let store: Store
  let known: ProjectConnection
  let client: ToolkitClient

  /// A pool as the remote has it; a nil value stays as it is here.
  private struct Listed: Sendable {
    let tenant: ID<Tenant>?
    var state = MirroredPool.State.present
    var name: String?
    var configuration: MFAConfiguration?

    /// Whether it's otherwise here, and can be changed.
    func differs(from old: MirroredPool?, at now: Instant) -> Bool {
      guard let old else { return true }
      if old.isDeleted { return !old.isBusy && state != .gone }
      return state != old.state || state == .gone && old.isExpired(at: now)
        || name.map { !$0.isSameBytes(as: old.pool.name) } ?? false
        || configuration.map { !old.configuration.isSaid(as: $0) } ?? false
    }
  }

  /// - Throws: ``RemoteFault``, ``WalkEnding/superseded``, and database errors.
  func read() async throws {
    let asked = store.clock.now()
    let config = try await client.config(for: .walk)
    var listed = [Listed(tenant: nil, configuration: MFAConfiguration(config.mfa))]
    var absent = MirroredPool.State.gone
    do throws(RemoteFault) {
      for tenant in try await client.tenants(for: .walk) where Self.isStorable(tenant.id) {
        listed.append(
          Listed(
            tenant: ID(tenant.id), state: tenant.isDisabled ? .disabled : .present,
            name: MirroredUser.kept(tenant.displayName.isEmpty ? tenant.id : tenant.displayName),
            configuration: MFAConfiguration(tenant.mfa)))
      }
    } catch {
      guard error.cause == .tenantsOff else { throw error }
      // They aren't gone, but no one can read them.
      absent = .disabled
    }
    let stored = try await store.read { try MirroredPool.all(of: known.project, "1 = 1", $0) }
    let (tenants, pools) = (
      Set(listed.map(\.tenant)),
      Dictionary(stored.map { ($0.pool.tenant, $0) }, uniquingKeysWith: { $1 })
    )
    for old in stored where !old.isDeleted && !tenants.contains(old.pool.tenant) {
      guard absent == .gone || old.state == .present else { continue }
      listed.append(Listed(tenant: old.pool.tenant, state: absent))
    }
    var changes = listed.filter { $0.differs(from: pools[$0.tenant], at: asked) }[...]
    try await store.pacer.run {
      let new = changes.popFirst()
      try await store.write { [self] now, connection in
        let present = try ProjectConnection.find(known.project, connection)
        guard present.isRead, present.credentialAt == known.credentialAt,
          present.policiesAt.map({ $0.isOlder(than: asked, at: now) }) ?? true
        else { throw WalkEnding.superseded }
        let context = store.context(known.author, at: now)
        if let new { return try apply(new, askedAt: asked, context, connection) }
        try connection.run(
          "UPDATE connection SET policies_at = \(asked) WHERE project_id = \(known.project)")
      }
      return new != nil
    }
  }

  /// Whether a tenant's ID can be one here; Google's and Countersign's always can.
  private static func isStorable(_ id: String) -> Bool {
    (try? AccountRules.checkUID(id, longest: 128)) != nil
  }

  /// Stores what the remote has of a pool, unless something newer is stored.
  private func apply(
    _ new: Listed, askedAt asked: Instant, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws {
    let tenant = new.tenant?.text ?? ""
    let found = try MirroredPool.all(of: known.project, "s.tenant_id = \(tenant)", connection).first
    let now = context.now
    guard found?.policyAt.map({ $0.isOlder(than: asked, at: now) }) ?? true,
      new.differs(from: found, at: now),
      try found.map({ try !Intent.isUnderWay(of: "", in: $0.pool.key, connection) }) ?? true
    else { return }
    guard let old = found else { return try insert(new, askedAt: asked, context, connection) }
    if new.state == .gone, old.state == .gone { return try delete(old.pool, context, connection) }
    if old.isDeleted { try old.revive(connection) }
    let isChanged = new.configuration.map { !old.configuration.isSaid(as: $0) } ?? false
    let goneAt = new.state == .gone ? context.now : nil
    try connection.run(
      """
      UPDATE mirror SET state = \(new.state), gone_at = \(goneAt), policy_at = \(asked),
        changed_at = coalesce(\(isChanged ? context.now : nil), changed_at)
      WHERE scope_key = \(old.pool.key)
      """)
    let settings = try Pools.settings(known.project, new.tenant, connection)
    var edit = settings.edit
    (edit.displayName, edit.disableAuth) = (new.name ?? edit.displayName, new.state != .present)
    if isChanged { edit.configuration = new.configuration ?? edit.configuration }
    try Pools(store: store).store(
      Pools.Change(settings: settings, new: edit), nil, in: known.project, new.tenant, context,
      connection)
    guard goneAt != old.goneAt else { return }
    var entry = AuditEntry(.tenantGone, .tenant, tenant, name: old.pool.name, in: old.pool)
    entry.add(.goneSince, from: .optional(old.goneAt), to: .optional(goneAt))
    try context.record(entry, connection)
  }

  private func insert(
    _ new: Listed, askedAt asked: Instant, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws {
    guard let tenant = new.tenant, let configuration = new.configuration else { return }
    var edit = PoolEdit.newTenant(named: new.name ?? tenant.text)
    (edit.disableAuth, edit.configuration) = (new.state != .present, configuration)
    let settings = try Pools(store: store).insert(
      edit, in: known.project, tenant, isMirrored: true, context, connection)
    guard let settings else { return }
    try MirroredPool.insert(settings.pool, new.state, askedAt: asked, connection)
  }

  /// Deletes a tenant that has been gone for 30 days, with its users; it can return under its ID.
  private func delete(
    _ pool: Pool, _ context: ActionContext, _ connection: borrowing Connection
  ) throws {
    var entry = AuditEntry(.tenantDelete, .tenant, pool.objectID, name: pool.name, in: pool)
    entry.add(.users, lost: .number(try Accounts.counts(pool, connection).users))
    try context.record(entry, connection)
    try Deletion.mark(pool, context, connection)
  }
}

extension MFAConfiguration {
  /// A remote doesn't tell 0 intervals from the default.
  package init(_ remote: RemoteMFA) {
    func state(_ state: RemoteMFA.State) -> MFAState? {
      MFAState(code: state.rawValue.lowercased())
    }
    self.init(
      state: remote.state.flatMap(state), smsEnabled: remote.hasSMS,
      totp: remote.totp.map { totp in
        TOTPConfiguration(
          state: totp.state.flatMap(state) ?? .unspecified,
          intervals: totp.adjacentIntervals.map { .number($0) } ?? .unsaid)
      })
  }
}
