public enum DownloadedUsers: Sendable {
  public struct PoolCount: Sendable {
    let project: ID<Project>
    let tenant: ID<Tenant>?
    let name: String
    let count: Int

    public init(_ pool: Pool, count: Int) {
      (project, tenant, name) = (pool.project, pool.tenant, pool.name)
      self.count = count
    }

    fileprivate init(_ exemption: Exemption, count: Int) {
      (project, tenant, name) = (exemption.project, exemption.tenant, exemption.poolName)
      self.count = count
    }

    var entry: AuditEntry {
      var entry = AuditEntry(.accountDownload, .pool, tenant?.text ?? project.text, name: name)
      entry.project = project.text
      entry.tenant = tenant?.text ?? ""
      entry.add(.users, .number(count))
      return entry
    }
  }

  case pools([PoolCount])
  case user(Account, in: Pool)

  public init(of exemptions: [Exemption]) {
    let pools = Dictionary(grouping: exemptions) { [$0.project.text, $0.tenant?.text ?? ""] }
    self = .pools(
      pools.sorted { $0.key.lexicographicallyPrecedes($1.key) }.compactMap { _, exemptions in
        exemptions.first.map { PoolCount($0, count: Set(exemptions.map(\.account)).count) }
      })
  }

  var target: ActionTarget {
    switch self {
    case .pools(let pools): ActionTarget(pools: pools.map { ($0.project, $0.tenant) })
    case .user(_, let pool): ActionTarget(pool)
    }
  }

  var entries: [AuditEntry] {
    switch self {
    case .pools(let pools): return pools.map(\.entry)
    case .user(let account, let pool):
      return [AuditEntry(.accountDownload, of: account, in: pool)]
    }
  }
}
