public enum ReportSubject: Hashable, Sendable {
  case pool(Pool)
  /// A project with its tenants; the pool is that of the project's own users.
  case project(Pool)
  /// All pools whose report the reader can read.
  case instance

  /// The pool, or that of the project's own users; nil for the instance.
  public var basePool: Pool? {
    switch self {
    case .pool(let pool), .project(let pool): pool
    case .instance: nil
    }
  }
}

extension Report {
  /// Whether there's a report about a project with its tenants.
  public var coversTenants: Bool {
    switch self {
    case .enrollment, .removals, .exemptions: true
    case .locked, .factors: false
    }
  }

  /// Whether there's a report about all projects.
  public var coversProjects: Bool { self == .removals || self == .exemptions }
}

extension Administrator {
  public func may(read report: Report, about subject: ReportSubject) -> Bool {
    switch subject {
    case .pool(let pool): may(report.permission, in: pool)
    case .project(let pool):
      report.coversTenants && pool.tenant == nil && may(report.permission, in: pool)
    case .instance: report.coversProjects && maySomewhere(report.permission)
    }
  }
}
