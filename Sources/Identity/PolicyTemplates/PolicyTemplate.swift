import Database

/// A named policy that can be applied to tenants of a project.
public struct PolicyTemplate: Sendable, Equatable {
  /// What identifies a template within its project.
  public enum Kind: Hashable, Sendable {
    /// The built-in template with TOTP mandatory, one adjacent interval, and mandatory enrollment.
    case strict
    /// The built-in template with TOTP enabled and the default intervals.
    case standard
    /// A template of the project, by its number.
    case own(Int64)
  }

  /// What identifies the template.
  public let kind: Kind
  /// The name; nil for a built-in template.
  public let name: String?
  /// The policy.
  public let edit: PolicyEdit

  /// The maximum length of a name, in characters.
  public static let longestName = 60

  /// The built-in templates.
  static let builtIn = [
    PolicyTemplate(
      kind: .strict, name: nil,
      edit: PolicyEdit(
        configuration: MFAConfiguration(
          state: .enabled, totp: TOTPConfiguration(state: .mandatory, adjacentIntervals: 1)),
        pattern: .mandatory)),
    PolicyTemplate(
      kind: .standard, name: nil,
      edit: PolicyEdit(
        configuration: MFAConfiguration(
          state: .enabled, totp: TOTPConfiguration(state: .enabled, adjacentIntervals: nil)),
        pattern: nil)),
  ]

  /// Returns a template of a project; nil if it doesn't exist.
  static func find(
    _ kind: Kind, of project: ID<Project>, _ connection: borrowing Connection
  ) throws -> PolicyTemplate? {
    guard case .own(let number) = kind else { return builtIn.first { $0.kind == kind } }
    return try connection.first(
      """
      SELECT t.template_id, t.name, \(PolicyEdit.columns("t")) FROM policy_template t
      WHERE t.template_id = \(number) AND t.project_id = \(project.text)
      """
    ) { try PolicyTemplate($0) }
  }

  /// Returns the templates of a project, the built-in ones first.
  static func all(
    of project: ID<Project>, _ connection: borrowing Connection
  ) throws -> [PolicyTemplate] {
    builtIn
      + (try connection.all(
        """
        SELECT t.template_id, t.name, \(PolicyEdit.columns("t")) FROM policy_template t
        WHERE t.project_id = \(project.text) ORDER BY t.name
        """
      ) { try PolicyTemplate($0) })
  }

  /// Records that a pool got a template.
  static func recordUse(
    of kind: Kind, in scope: Scope, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO policy_template_use (scope_key, template, applied_at)
      VALUES (\(scope.key), \(kind.text), \(now.microseconds))
      ON CONFLICT (scope_key) DO UPDATE SET template = excluded.template,
        applied_at = excluded.applied_at
      """)
  }
}

extension PolicyTemplate {
  private init(_ row: borrowing Row) throws {
    self.init(
      kind: .own(try row.value(0)), name: try row.value(1), edit: try PolicyEdit(row, from: 2))
  }
}

extension PolicyTemplate.Kind {
  /// The kind as in addresses and in the database: `strict`, `default`, or a number.
  public var text: String {
    switch self {
    case .strict: "strict"
    case .standard: "default"
    case .own(let number): String(number)
    }
  }

  /// Parses a kind; nil if the text isn't one.
  public init?(_ text: String) {
    switch text {
    case "strict": self = .strict
    case "default": self = .standard
    default:
      guard let number = Int64(text), number > 0, String(number) == text else { return nil }
      self = .own(number)
    }
  }
}

/// A tenant, and the template that it got last.
public struct TemplatedTenant: Sendable {
  /// The tenant's policy.
  public let policy: Policy
  /// The template; nil if it got none, or if the template was deleted.
  public let template: PolicyTemplate?
  /// When it got the template; nil if it got none.
  public let appliedAt: Instant?

  /// Whether the policy no longer matches the template.
  public var hasDrifted: Bool { template.map { $0.edit != policy.edit } ?? false }
}

/// What applying a template changes in a tenant.
public struct TemplateChange: Sendable {
  /// The tenant's policy.
  public let policy: Policy
  /// The fields that change; empty if the policy already matches.
  public let changes: [PolicyChange]
  /// How the policy becomes weaker; empty if it doesn't.
  public let weakenings: [PolicyWeakening]
  /// Whether a second administrator has to approve the change.
  public let needsApproval: Bool
  /// The number of users who would sign in without a second factor.
  public let losingSecondFactor: Int
  /// Whether the change turns off TOTP.
  public let switchesOff: Bool
  /// When a scheduled change would take effect, which this change outdates; nil if there's none.
  public let outdatesScheduledAt: Instant?

  /// The number of users that a weaker policy affects.
  public var affectedUsers: Int { policy.users(affectedBy: weakenings) }
}

/// The result of applying a template.
public struct TemplateOutcome: Sendable {
  /// The number of tenants whose policy changed.
  public internal(set) var changed = 0
  /// The number of tenants whose policy already matched.
  public internal(set) var unchanged = 0
  /// The number of tenants whose change waits for a second administrator.
  public internal(set) var waiting = 0
}

/// Why a template can't be created or applied.
public enum PolicyTemplateError: Error, Sendable {
  /// The template or its project doesn't exist.
  case notFound
  /// A tenant doesn't exist, such as one that was deleted since the preview; its ID.
  case tenantNotFound(ID<Tenant>)
  /// The name is empty, longer than ``PolicyTemplate/longestName``, or has more than one line.
  case invalidName
  /// The project has a template with this name.
  case nameTaken
  /// No tenant is given, or more than ``PolicyTemplates/mostTenants``.
  case wrongNumberOfTenants
  /// A policy has changed since the preview; the tenant's name.
  case changedMeanwhile(String)
  /// The template refuses sign-ins, and the server sends no emails with enrollment links; the name
  /// of a tenant whose users weren't refused before.
  case refusalNeedsEmail(String)
  /// A change of a tenant already waits for approval; the tenant's name.
  case approvalPending(String)
  /// The database is unavailable.
  case unavailable(Failure)
}

extension PolicyTemplateError: UseCaseError {}
