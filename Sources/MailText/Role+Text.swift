public import Identity
public import Localization

public struct RoleText: Sendable {
  /// The name within a line: “policy admin”.
  public let name: Message
  /// The name at the start of a line: “Policy admin”.
  public let title: Message
  public let summary: Message

  public static func of(_ role: Role) -> RoleText {
    switch role {
    case .owner: owner
    case .policy: policy
    case .support: support
    case .auditor: auditor
    }
  }

  private static let owner = RoleText(
    name: Message("owner"),
    title: Message("Owner"),
    summary: Message("full access"))
  private static let policy = RoleText(
    name: Message("policy admin"),
    title: Message("Policy admin"),
    summary: Message("projects, tenants, MFA policies, and keys"))
  private static let support = RoleText(
    name: Message("support"),
    title: Message("Support"),
    summary: Message("users, their factors, and sessions"))
  private static let auditor = RoleText(
    name: Message("auditor"),
    title: Message("Auditor"),
    summary: Message("read-only access to everything, and sign-off of policy reviews"))
}

extension Role {
  public var name: Message { RoleText.of(self).name }
}

extension Grant {
  /// The scope of the role: `the instance`, `acme-retail`, `acme-retail / eu-shop-1a2b3`.
  public var placeText: Message {
    guard let project else { return Message("the instance") }
    guard let tenant else { return .verbatim(project.text) }
    return .verbatim("\(project.text) / \(tenant.text)")
  }
}
