import Identity
import Localization

/// A group of actions that the audit log is filtered by; the raw value is the query's.
///
/// ``AuditText/entry(_:)`` has the group of each action. The stored names of a group's actions
/// begin alike, so that an index finds them.
enum AuditGroup: String, CaseIterable {
  case policy
  case enrollment
  case removal
  case backupCode = "backup-code"
  /// Other changes of second factors.
  case factor
  case account
  case session
  /// Support rules and agents.
  case support
  case approval
  case bulkRemoval = "bulk"
  case message
  case project
  case tenant
  case guidance
  case apiKey = "api-key"
  case serviceToken = "service-token"
  case provider
  case trustedTokenKey = "signer"
  case secret
  case administrator
  case signingKey = "key"
  case masterKey = "master-key"
  case instance
  case audit

  /// In the order of the menu.
  var actions: [AuditAction] { Self.actions[self] ?? [] }

  private static let actions = Dictionary(grouping: AuditAction.allCases) {
    AuditText.entry($0).group
  }

  /// Whether the group's actions belong to no project.
  var isOfInstance: Bool {
    switch self {
    case .administrator, .signingKey, .masterKey, .instance: true
    default: false
    }
  }

  var name: Message {
    switch self {
    case .policy: Message("MFA policy")
    case .enrollment: Message("Enrollments")
    case .removal: Message("Factor removals")
    case .backupCode: Message("Recovery and temporary codes")
    case .factor: Message("Other second factor changes")
    case .account: Message("Users")
    case .session: Message("Sessions")
    case .support: Message("Support")
    case .approval: Message("Approvals")
    case .bulkRemoval: Message("Bulk removals")
    case .message: Message("Messages to users")
    case .project: Message("Projects")
    case .tenant: Message("Tenants")
    case .guidance: Message("Support playbook")
    case .apiKey: Message("API keys")
    case .serviceToken: Message("Service tokens")
    case .provider: Message("Identity providers")
    case .trustedTokenKey: Message("Custom token signing keys")
    case .secret: Message("Stored secrets")
    case .administrator: Message("Administrators")
    case .signingKey: Message("Signing keys")
    case .masterKey: Message("Master keys")
    case .instance: Message("Instance")
    case .audit: Message("Audit log")
    }
  }
}
