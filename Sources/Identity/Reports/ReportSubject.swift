public enum ReportSubject: Hashable, Sendable {
  case pool(Scope)
  /// A project with its tenants; the scope is that of the project's own users.
  case project(Scope)
  /// All pools whose report the reader can read.
  case instance

  /// The user pool, or that of the project's own users; nil for the instance.
  public var scope: Scope? {
    switch self {
    case .pool(let scope), .project(let scope): scope
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
    case .pool(let scope): may(report.permission, in: scope)
    case .project(let scope):
      report.coversTenants && scope.tenant == nil && may(report.permission, in: scope)
    case .instance: report.coversProjects && maySomewhere(report.permission)
    }
  }
}
